// Package bounds is the table of the memory that the two ends hold: every buffer, queue, table, cache and listing, its
// bound, and the behaviour at the bound. The files table_*.go have one area each. go generate writes docs/bounds.md
// from the table.
//
// Tests compare the table with the source: each name exists, each number equals the number in the source, and
// everything that may grow (a map, a buffer, a slice that is appended to, a channel that holds several values) has a
// row or, with a reason, an entry in exceptions.go. A change that adds a growing field adds its bound here. Only tests
// import this package.
package bounds

//go:generate go test . -run TestPageMatchesTheTable -update
