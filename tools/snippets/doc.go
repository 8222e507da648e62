// Package snippets keeps the Go code in README.md and docs/ the same as code that compiles and is tested. A block of Go
// there stands behind a comment that says where it comes from, a file and a part of it:
//
//	<!-- go: examples/service/main.go#connect -->
//
// and the part stands in the file between lines // docs:connect and // docs:end. go generate copies the parts; a test
// fails when a block is not what its part is, or comes from nowhere. Only the test imports this package.
package snippets

//go:generate go test . -run TestGoBlocksMatchTestedCode -update
