// Package browser looks at mcpotel's pages as a person does: in Chromium, while the demo runs.
//
// Start with [Start], which starts Chromium, [Browser.Open], which opens a tab of a size and a colour scheme, and
// [Program], which builds and runs the command. The tests are in this package; cmd/pictures makes the pictures of the
// documentation.
//
// Chromium is the system's, or the one that the environment variable CHROMIUM names; testenv/browser/install installs
// it on Debian and its relatives.
package browser
