package stack_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// A pair is a connected client and server.
type pair struct {
	name           string
	modern         bool // revision 2026-07-28 instead of 2025-11-25
	closesToCancel bool // the client cancels by ending the HTTP request

	// hidden means that the adapter sees neither the ids of requests nor the cancellations that the client's SDK sends.
	hidden bool

	server string // service name of the server; empty for the pair's own server
	proxy  string // service name of the proxy in between; empty for none
	rounds int    // number of times that all calls are made; zero means once

	// propagator is the propagator of both ends, if it is not the W3C's. Such a pair also exports over HTTP.
	propagator string

	// connect connects the client, which exports through p. The server exports under serverName.
	connect func(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error)

	// connecting is the expected trace of connect; nil if it is unknown.
	connecting func(*pair) []node

	// callings are the calls to make; nil means the calls to a shop. more are additional calls.
	callings func(*pair) []calling
	more     []calling

	clientAttributes, serverAttributes map[string]any // attributes of each span of a tool call
}

func (p *pair) clientName() string { return "client, " + p.name }
func (p *pair) serverName() string { return cmp.Or(p.server, "server, "+p.name) }

func (p *pair) version() mcp.Version {
	if p.modern {
		return mcp.Version20260728
	}
	return mcp.Version20251125
}

// eras returns a pair for each era.
func eras(p pair) []*pair {
	modern, legacy := p, p
	modern.modern = true
	modern.name += ", 2026-07-28"
	legacy.closesToCancel = false
	legacy.name += ", 2025-11-25"
	return []*pair{&modern, &legacy}
}

// The connections of this module's client to this module's shop.

func overStdio(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	return connectOurs(ctx, shopProcess(t, pr.serverName()), pr.version(), p)
}

// environmentShop is the environment variable that makes the test binary a shop. Its value is the service name.
const environmentShop = "MCPOTEL_STACK_TEST_SHOP"

// shopProcess starts a shop in a separate process.
func shopProcess(t *testing.T, service string) transport.Stdio {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{environmentShop + "=" + service, "OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver(up)}
	for _, key := range []string{"OTEL_PROPAGATORS", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		env = append(env, key+"="+os.Getenv(key))
	}
	return transport.Stdio{Command: self, Env: env}
}

func inMemory(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	s := shop.New(service(t, up, pr.serverName()))
	return connectOurs(ctx, transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = s.Serve(ctx, peer)
	}), pr.version(), p)
}

func overHTTP(mode transport.HTTPMode) func(*testing.T, context.Context, *pair, *otlp.Providers) (client, error) {
	return func(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
		url := shopURL(t, refusingOnce(shopHandler(t, pr.serverName())))
		return connectOurs(ctx, &transport.HTTP{URL: url, Mode: mode}, pr.version(), p)
	}
}

func shopHandler(t *testing.T, name string) http.Handler {
	h := shop.New(service(t, up, name)).HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	t.Cleanup(func() { h.Shutdown(context.Background()) })
	return h
}

// shopURL serves a handler on loopback until the test ends.
func shopURL(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go s.Serve(l) // until Close
	t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String() + "/mcp"
}

// busyArgument is an argument of add. A server refuses the first request with this argument, as if it were too busy.
const busyArgument = 429

// refusingOnce refuses each request with the argument busyArgument once.
func refusingOnce(h http.Handler) http.Handler {
	var seen sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if bytes.Contains(body, fmt.Appendf(nil, `"a":%d`, busyArgument)) {
			if _, again := seen.LoadOrStore(string(body), true); !again {
				w.Header().Set("Retry-After", "0")
				http.Error(w, "try again", http.StatusTooManyRequests)
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// sentAgain is a call that the server first refuses as too busy: it is sent twice and handled once.
var sentAgain = calling{
	name: "send retry", times: 4, tool: "add", arguments: map[string]any{"a": busyArgument}, outcome: "ok",
	below: func(p *pair) []node {
		return []node{p.request("add", "", map[string]any{"mcp_client.send.retries": int64(1)}, p.served("add", "", nil, node{
			kind: "INTERNAL", name: shop.InnerSpan, service: p.serverName(),
		}))}
	},
}
