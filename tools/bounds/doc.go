// Package bounds says what the two ends hold in memory, how much of it at most, and what happens then: every buffer,
// queue, table, cache and listing. It is a table, in the files table_*.go, one for each area. docs/bounds.md is made of
// it by go generate.
//
// Its tests hold it against the source: each name is there, each number is that of the source, and whatever may grow (a
// map, a buffer, a slice that is appended to, a channel that holds several values) stands in a row or, with a reason,
// in exceptions.go. A change that adds a field that grows says here what bounds it. Only tests import this package.
package bounds

//go:generate go test . -run TestThePageIsThatOfTheTable -update
