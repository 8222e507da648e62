// Package snippets copies tested Go code into README.md and docs/. A comment in front of a block of Go names its
// source, a file and a part:
//
//	<!-- go: examples/service/main.go#connect -->
//
// The part is in the file, between lines // docs:connect and // docs:end. go generate copies the parts. A test fails if
// a block differs from its part or has no source. Only the test imports this package.
package snippets

//go:generate go test . -run TestGoBlocksMatchTestedCode -update
