// Package messages has no code but tests: they provoke what goes wrong for users of the library, and keep what these
// are told on one page, testdata/messages.txt.
package messages
