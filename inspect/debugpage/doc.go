// Package debugpage shows what the MCP clients and servers of a process are doing: a page in the manner of
// net/http/pprof, for people and, as JSON, for programs.
//
// Mount [Handler] beside pprof:
//
//	mux.Handle("/debug/mcp/", debugpage.Handler())
//
// The page shows every client with its state and the time it has been in it; its calls in flight, with their ages and
// traces; for each tool how often it was called, how often that failed and how long it took; and what the client did
// last. It shows the same of servers, and refreshes itself. docs/debugging.md says what each figure means.
//
// What may surprise:
//
//   - There is nothing to register: clients are on the page until they end, servers as long as they serve a client or
//     have an HTTP handler that is not shut down.
//   - The page may be mounted under any path, with [http.StripPrefix] or without: its links are queries.
//   - The page changes nothing, answers GET and HEAD only, and has no contents of messages. But names, URIs, addresses
//     and texts of errors are there, for everyone who can reach it: mount it where pprof is, or use [LocalOnly].
//   - The package imports neither mcpclient nor mcpserver, so a program links only those that it uses.
package debugpage
