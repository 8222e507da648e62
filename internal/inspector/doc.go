// Package inspector is an MCP server that tells an agent the state of clients and servers, and why a call failed.
//
// Start with [New], which creates the server from [Sources]: this process ([Process]), the debug pages of other
// processes, and trace backends. Each tool call reads the sources again, one call at a time. source.go has the
// sources, gather.go combines their answers. A source that fails is listed as missing in the answer, and does not
// fail the call.
//
// Three properties matter:
//
//   - The server excludes itself, and calls of its own tools, from its answers. It has no telemetry of its own unless
//     its options enable it.
//   - Answers have a text for the model of at most 4 KiB, and the same data as structured content.
//   - Texts of peers are truncated, displayed with their invisible characters replaced, and marked as untrusted. See
//     package explain.
package inspector
