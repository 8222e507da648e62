// Package jsonrpc reads and writes the JSON-RPC 2.0 envelope of MCP messages.
//
// [Parse] finds the kind, the id and the method of a frame, and the position of the params, the result or the error.
// Parse does not read the bytes of that object, so parsing a frame of sixteen megabytes costs as much as parsing a
// frame of two hundred bytes. The unread part is [Message.Middle]. [Message.Consume] passes it to a decoder, once, and
// [Message.Check] validates it. Until Consume or Check has returned nil, the middle is unverified, and a frame with
// invalid JSON may still look like a message.
//
// Each Append function appends one message to the caller's buffer. [AppendParams] also writes the trace context and the
// constant members of the session into params._meta.
//
// Possible surprises:
//
//   - The envelope is strict, and stricter than JSON-RPC where MCP is: params, result and error are objects, an id is a
//     string or an integer that an int64 holds exactly, member names are compared byte by byte and must not repeat.
//     Members that the specification does not define are ignored.
//   - Every parse error is a [*Violation] with a [Reason] from a closed set. The names of the reasons are part of the
//     published telemetry schema.
//   - Parse rejects a batch, an array of messages in revision 2025-03-26, as a violation; [Batch] splits it.
package jsonrpc
