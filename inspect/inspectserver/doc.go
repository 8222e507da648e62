// Package inspectserver provides an MCP server that helps an agent find out why a tool call failed. Its tools describe
// the clients and servers of a process and explain the traces of their calls.
//
// Start with [New], and serve the result like any server, for example over HTTP beside the debug page:
//
//	server, err := inspectserver.New(nil)
//	mux.Handle("/debug/mcp/server", server.HTTPHandler(nil))
//
// The tools are list_clients, get_client, flight_recorder, recent_traces and explain; docs/guides/explain.md shows
// their output. For programs that do not mount the server, "mcpotel mcp" reads their debug pages, and traces from
// Jaeger.
//
// Four properties matter:
//
//   - The server is read-only, and has no message contents. But everyone who can reach it sees names, URIs, addresses
//     and error texts: mount it beside pprof, or behind your authentication.
//   - The server excludes itself, and calls of its tools, from its answers. It has no telemetry unless Options.Server
//     enables it.
//   - The process keeps no spans, so explanations use only the flight recorders. The error texts of other processes are
//     missing; "mcpotel mcp --jaeger" includes them.
//   - Texts of peers are marked as untrusted, and are safe to display. They are data: the server's instructions forbid
//     a model to follow them.
package inspectserver
