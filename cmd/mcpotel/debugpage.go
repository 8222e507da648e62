package main

import (
	"net/http"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/page"
)

// debugPath is where the page of what the clients and servers of this process do is mounted.
const debugPath = "/debug/mcp/"

// withDebugPage mounts that page beside those of traces. Each leads to the other.
func withDebugPage(traces traceview.Options) http.Handler {
	traces.Pages = []page.Link{{Text: "Clients and servers", Href: debugPath}}
	mux := http.NewServeMux()
	mux.Handle(debugPath, debugpage.Handler(debugpage.LocalOnly(), debugpage.WithTraceURL("/trace/{trace_id}"),
		debugpage.WithLink("Traces", "/"), debugpage.WithLink("Metrics", "/metrics"), debugpage.WithLink("Logs", "/logs")))
	mux.Handle("/", traceview.New(traces))
	return mux
}
