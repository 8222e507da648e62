// Package debugpage shows the MCP clients and servers of a process on a page like that of net/http/pprof, and as JSON
// for programs.
//
// Mount [Handler] beside pprof:
//
//	mux.Handle("/debug/mcp/", debugpage.Handler())
//
// For each client, the page shows its state and the time in that state; its calls in flight, with their ages and
// traces; the number, failures and durations of calls for each tool; and its last events. It shows the same for
// servers, and refreshes itself. docs/debugging.md explains each figure.
//
// What may surprise:
//
//   - Nothing needs registering: a client is on the page until it ends, a server while it serves a client or has an
//     HTTP handler that is not shut down.
//   - The page may be mounted under any path, with or without [http.StripPrefix]: its links are queries.
//   - The page is read-only, answers GET and HEAD only, and has no contents of messages. But it shows names, URIs,
//     addresses and texts of errors to everyone who can reach it: mount it beside pprof, or use [LocalOnly].
//   - The package imports neither mcpclient nor mcpserver, so programs link only the packages that they use.
package debugpage
