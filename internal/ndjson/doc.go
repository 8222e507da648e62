// Package ndjson moves frames over byte streams, one frame a line: the framing of the stdio transport. (specification
// 2025-11-25, basic/transports, "stdio")
//
// A [Reader] returns lines one by one and never holds more than the limit. A [Writer] accepts frames from any number of
// goroutines and never makes them wait for the peer. Neither parses JSON: the Writer checks that a frame contains no
// newline, but not that it is JSON.
package ndjson
