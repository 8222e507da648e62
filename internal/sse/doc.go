// Package sse reads and writes event streams, the framing of text/event-stream: one event carries one frame.
// (HTML Living Standard, "Server-sent events"; MCP specification 2025-11-25, basic/transports, "Streamable HTTP")
//
// A [Reader] returns one event after the other and never holds more than the limit; [AppendEvent] and [AppendComment]
// write by appending to the caller's buffer. Neither knows JSON or MCP.
//
// What may surprise:
//
//   - Events without data, which a browser never sees, are returned if they carry an id or a retry time: MCP servers
//     prime a stream with them.
//   - An event is over at its empty line. What the end of the stream cuts off is dropped, and [io.ErrUnexpectedEOF]
//     tells.
//   - The limit counts the data only, but nothing else can grow either: a comment of any length takes no memory, and a
//     line of another field that is longer than 16 KiB is passed over.
package sse
