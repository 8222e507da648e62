// Package specification is the table of what the specification demands: each statement of the two newest revisions that
// says MUST, MUST NOT or REQUIRED, on its pages and in its schema, and what the tasks extension demands, with the tests
// that hold it here, or the reason why there is none. docs/conformance.md is written from it.
//
// The statements are data: one file for each page of the specification, in directory statements. Tests find a test that
// is gone, and, beside a checkout of the specification, a statement that is missing or was reworded.
package specification

//go:generate go test -run ^TestThePageIsThatOfTheStatements$ . -update
