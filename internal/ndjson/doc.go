// Package ndjson moves frames over byte streams, one frame a line: the framing of the stdio transport.
// (specification 2025-11-25, basic/transports, "stdio")
//
// A [Reader] returns one line after the other and never holds more than the limit; a [Writer] takes frames from any
// number of goroutines without ever making them wait for the peer. Neither knows JSON: that a frame has no newline of
// its own is checked, that it is JSON is not.
package ndjson
