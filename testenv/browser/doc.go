// Package browser tests mcpotel's pages as a person sees them: in Chromium, while the demo runs.
//
// [Start] starts Chromium, [Browser.Open] opens a tab with a size and a colour scheme, and [Program] builds and runs
// the command. The tests are in this package; cmd/pictures makes the pictures of the documentation.
//
// The tests use the system's Chromium, or the program that the environment variable CHROMIUM names;
// testenv/browser/install installs Chromium on Debian and its derivatives.
package browser
