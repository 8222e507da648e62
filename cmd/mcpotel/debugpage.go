package main

import (
	"net/http"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/page"
)

// debugPath is the path of the page about the clients and servers of this process.
const debugPath = "/debug/mcp/"

// withDebugPage mounts the debug page beside the pages of traces, with links between them.
func withDebugPage(traces traceview.Options) http.Handler {
	traces.Pages = []page.Link{{Text: "Clients and servers", Href: debugPath}}
	mux := http.NewServeMux()
	mux.Handle(debugPath, debugpage.Handler(debugpage.LocalOnly(), debugpage.WithTraceURL("/trace/{trace_id}"),
		debugpage.WithLink("Traces", "/"), debugpage.WithLink("Metrics", "/metrics"), debugpage.WithLink("Logs", "/logs")))
	mux.Handle("/", traceview.New(traces))
	return mux
}
