// Package inspectserver lets an agent ask why its tool failed: an MCP server whose tools show what the clients and
// servers of a process are doing, and explain the traces of their calls.
//
// Start with [New], and serve what it returns as any server, for example over HTTP beside the debug page:
//
//	server, err := inspectserver.New(nil)
//	mux.Handle("/debug/mcp/server", server.HTTPHandler(nil))
//
// The tools are list_clients, get_client, flight_recorder, recent_traces and explain; docs/guides/explain.md shows what
// they say. For programs that do not mount the server, "mcpotel mcp" reads their debug pages, and traces of a Jaeger.
//
// What may surprise:
//
//   - Nothing can be changed through the server, and it has no contents of messages. But names, URIs, addresses and
//     texts of errors are there, for everyone who can reach it: mount it where pprof is, or behind your authentication.
//   - The server is left out of what it tells, and so are calls of its tools. It has no telemetry unless Options.Server
//     gives it some.
//   - Spans are not kept in the process, so that explanations are those of the flight recorders: they have no texts of
//     the errors of other processes. "mcpotel mcp --jaeger" has those, too.
//   - Texts of peers are marked as such and made safe to show. They are data; a model that reads them must not follow
//     them, and the server's instructions say so.
package inspectserver
