package main

import (
	"net/http"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
)

// debugPath is where the page of what the clients and servers of this process do is mounted.
const debugPath = "/debug/mcp/"

// withDebugPage mounts that page beside those of traces, to which it leads.
func withDebugPage(traces http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(debugPath, debugpage.Handler(debugpage.LocalOnly(), debugpage.WithTraceURL("/trace/{trace_id}")))
	mux.Handle("/", traces)
	return mux
}
