// Package jsonrpc reads and writes the JSON-RPC 2.0 envelope of MCP messages.
//
// [Parse] finds out what a frame is, its id and its method, and where its params, result or error lie, without looking
// at the bytes of these: a frame of sixteen megabytes costs what a frame of two hundred bytes costs. The part not
// looked at is [Message.Middle]; [Message.Consume] gives it to a decoder, once, and [Message.Check] has it validated.
// Until one of the two has returned nil, nothing is known about the middle, and a frame that is not valid JSON may
// still look like a message.
//
// The Append functions write one message each by appending to the caller's buffer; [AppendParams] puts the trace
// context and the session's constant members into params._meta on the way.
//
// What may surprise:
//
//   - The envelope is strict, stricter than JSON-RPC where MCP is: params, result and error are objects, ids are
//     strings or integers that an int64 holds exactly, member names are compared byte by byte and may not repeat.
//     Members the specification does not know are passed over.
//   - Every complaint is a [*Violation] with a [Reason] out of a closed set, whose words are part of the published
//     telemetry schema.
//   - A batch (an array of messages, revision 2025-03-26 only) is a violation to Parse; [Batch] takes it apart.
package jsonrpc
