// Package inspector is an MCP server that shows an agent the state of clients and servers, and explains failed calls.
//
// Start with [New], which creates the server from [Sources]: this process ([Process]), the debug pages of other
// processes, and trace backends. Each tool call reads the sources again; tool calls run one at a time. source.go
// defines the sources, gather.go combines their answers. If a source fails, the call still succeeds, and its answer
// lists the source as missing.
//
// Three properties matter:
//
//   - The server excludes itself, and calls of its own tools, from its answers. It has no telemetry of its own unless
//     its options enable it.
//   - Answers consist of a text for the model, of at most 4 KiB, and the same data as structured content.
//   - Texts of peers are truncated and marked as untrusted, and their invisible characters are replaced. See package
//     explain.
package inspector
