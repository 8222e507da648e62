// Package inspector is an MCP server by which an agent asks what clients and servers are doing, and why a call failed.
//
// Start with [New], which makes the server from [Sources]: what this process does ([Process]), what another process
// shows on its debug page, and traces that are kept elsewhere. The tools read the sources anew for each call, one after
// the other; source.go has what they are, gather.go what is made of it. What a source does not give is said in the
// answer, and does not make the call fail.
//
// What may surprise:
//
//   - The server is left out of what it tells, and so are calls of its tools by a client that it tells of. It has no
//     telemetry of its own, unless options give it some.
//   - Answers have a text for the model, of 4 KiB at most, and the same as structured content.
//   - What peers wrote is cut, shown with its invisible characters replaced, and marked as theirs. See package explain.
package inspector
