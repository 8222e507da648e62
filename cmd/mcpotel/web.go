package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/page"
)

// webFlag is the flag --web, with an optional address after an equals sign.
type webFlag struct {
	wanted  bool
	address string // empty for any free port
}

func (w *webFlag) flags(f *pflag.FlagSet) {
	f.Var(w, "web", "show the traces on a page until interrupted, at a free port or at --web=ADDRESS, on "+
		"loopback")
	f.Lookup("web").NoOptDefVal = "true"
}

func (w *webFlag) String() string { return w.address }
func (w *webFlag) Type() string   { return "bool" }

func (w *webFlag) Set(s string) error {
	switch w.wanted, w.address = true, ""; s {
	case "true":
	case "false":
		w.wanted = false
	default:
		w.address = s
	}
	return nil
}

func openSite(name, address string, h http.Handler) (*loopback.Site, error) {
	s, err := loopback.Serve(address, h)
	if err != nil {
		return nil, taken(name, address, err)
	}
	return s, nil
}

// taken adds advice to the error for an address that is already in use.
func taken(flag, address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		host, _, splitErr := net.SplitHostPort(address)
		if splitErr != nil {
			host = "127.0.0.1"
		}
		err = fmt.Errorf("%s is in use by another program; --%s=%s selects a free port", address, flag,
			net.JoinHostPort(host, "0"))
	}
	return &exitError{exitUsage, fmt.Errorf("--%s: %w", flag, err)}
}

// debugPath is the path of the page about the clients and servers of this process.
const debugPath = "/debug/mcp/"

// withDebugPage mounts the debug page next to the pages of traces, with links between them.
func withDebugPage(traces traceview.Options) http.Handler {
	traces.Pages = []page.Link{{Text: "Clients and servers", Href: debugPath}}
	mux := http.NewServeMux()
	mux.Handle(debugPath, debugpage.Handler(debugpage.LocalOnly(), debugpage.WithTraceURL("/trace/{trace_id}"),
		debugpage.WithLink("Traces", "/"), debugpage.WithLink("Metrics", "/metrics"), debugpage.WithLink("Logs", "/logs")))
	mux.Handle("/", traceview.New(traces))
	return mux
}
