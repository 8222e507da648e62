// Package messages contains only tests: they provoke the errors that users of the library may meet, and keep the
// messages on one page, testdata/messages.txt.
package messages
