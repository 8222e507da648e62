package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// servedPath is the URL path of the MCP server.
const servedPath = "/mcp"

// grace is the time for requests in flight to finish when the server stops.
const grace = 5 * time.Second

// handlers provides the HTTP handlers of a server.
type handlers interface {
	HTTPHandler(o *mcpserver.HTTPOptions) *mcpserver.HTTPHandler
}

// site describes an HTTP listener.
type site struct {
	address string
	risk    string // what any program that reaches the listener can do
	bearer  bearerFlags
	most    int // maximum of concurrent sessions; 0 means the default of the proxy or gateway
}

// healthPath is the path that reports whether the servers behind a proxy are usable.
const healthPath = "/healthz"

// serveHTTP prints the URL of the site to out and serves s until ctx ends.
func serveHTTP(ctx context.Context, s handlers, at site, out, stderr io.Writer) error {
	address, err := onLoopback(at.address)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if a := l.Addr(); !hostname.LoopbackAddr(a) && at.bearer == (bearerFlags{}) {
		_ = printLine(stderr, fmt.Sprintf("mcpotel: every program that reaches %v can %s", a, at.risk))
	}
	handler := s.HTTPHandler(&mcpserver.HTTPOptions{
		TrustTraceContext: true, // the user who starts the command wants complete traces
		Limits:            mcpserver.HTTPLimits{Sessions: at.most},
	})
	mux := http.NewServeMux()
	guarded, err := at.bearer.protect(mux, handler)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	mux.Handle(servedPath, guarded)
	if h, ok := s.(interface{ HealthHandler() http.Handler }); ok {
		mux.Handle(healthPath, loopback.Named(h.HealthHandler()))
	}
	if at.bearer == (bearerFlags{}) { // do not serve a page without tokens next to a server that requires tokens
		mux.Handle(debugPath, debugpage.Handler(debugpage.LocalOnly()))
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(lines{stderr}, "", 0)}
	served := make(chan error, 1) // one result
	go func() { served <- server.Serve(l) }()
	if err := printLine(out, fmt.Sprintf("http://%v%s", l.Addr(), servedPath)); err != nil {
		server.Close()
		return err
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return errors.Join(handler.Shutdown(ctx), server.Shutdown(ctx))
}

// onLoopback adds the loopback host to an address without a host, such as ":8080" or "8080".
func onLoopback(address string) (string, error) {
	host, port, err := net.SplitHostPort(withColon(address))
	if err != nil {
		return "", misuse("no address: %v", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// withColon returns ":8080" for the address "8080", and other addresses unchanged.
func withColon(address string) string {
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		return ":" + address
	}
	return address
}
