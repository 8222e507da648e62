// Package specification is the table of the specification's demands: each MUST, MUST NOT or REQUIRED of the two newest
// revisions, on their pages and in their schema, and the demands of the tasks extension, with their tests, or the
// reason why there is no test. docs/conformance.md is generated from it.
//
// The statements are data: one file for each page of the specification, in directory statements. Tests find removed
// tests and, beside a checkout of the specification, missing or reworded statements.
package specification

//go:generate go test -run ^TestPageMatchesTheStatements$ . -update
