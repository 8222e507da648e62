// Package sse reads and writes event streams, the framing of text/event-stream: one event carries one frame. (HTML
// Living Standard, "Server-sent events"; MCP specification 2025-11-25, basic/transports, "Streamable HTTP")
//
// A [Reader] returns one event after the other and never holds more than the limit; [AppendEvent] and [AppendComment]
// append to the caller's buffer. Neither parses JSON or MCP.
//
// Possible surprises:
//
//   - The reader also returns events without data, which a browser never reports, if they carry an id or a retry time:
//     MCP servers prime a stream with them.
//   - An empty line completes an event. The reader drops an event that the end of the stream cuts off and returns
//     [io.ErrUnexpectedEOF].
//   - The limit counts the data only, but nothing else can grow either: a comment of any length takes no memory, and
//     the reader ignores a line of another field that is longer than 16 KiB.
package sse
