// Package debugpage shows the MCP clients and servers of a process on a web page, like net/http/pprof, and as JSON for
// programs.
//
// Mount [Handler] beside pprof:
//
//	mux.Handle("/debug/mcp/", debugpage.Handler())
//
// For each client, the page shows its state and the time in that state; its calls in flight, with their ages and
// traces; the number, failures and durations of calls for each tool; and its last events. It shows the same for
// servers, and refreshes itself. docs/debugging.md explains each figure.
//
// Details that may surprise:
//
//   - Clients and servers register themselves. A client stays on the page until it ends; a server stays while it serves
//     a client or has an HTTP handler that is not shut down.
//   - The page may be mounted under any path, with or without [http.StripPrefix]: its links are queries.
//   - The page is read-only, accepts only GET and HEAD, and shows no message contents. But it shows names, URIs,
//     addresses and error texts to everyone who can reach it: mount it beside pprof, or use [LocalOnly].
//   - The package imports neither mcpclient nor mcpserver, so programs link only the packages that they use.
package debugpage
