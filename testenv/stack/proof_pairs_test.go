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

// A pair is a client and a server, and how they are connected.
type pair struct {
	name           string
	modern         bool // the revision 2026-07-28, else 2025-11-25
	closesToCancel bool // the client cancels by ending the HTTP request

	// hidden says that the client's SDK does not show the adapter the ids of requests, and cancels past it.
	hidden bool

	server string // its service name; empty for one of the pair's own
	proxy  string // the service name of the proxy in between; empty for none
	rounds int    // how often all calls are made, once if it is zero

	// propagator is what both ends carry traces by, if it is not the W3C's; such a pair exports over HTTP, too.
	propagator string

	// connect connects the client, which exports by p. The server exports under serverName.
	connect func(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error)

	// connecting is what the trace of connect has; nil if that is not known.
	connecting func(*pair) []node

	// callings are those that are made; nil means those to a shop. more are made besides.
	callings func(*pair) []calling
	more     []calling

	clientAttributes, serverAttributes map[string]any // that each span of a tool call has
}

func (p *pair) clientName() string { return "client, " + p.name }
func (p *pair) serverName() string { return cmp.Or(p.server, "server, "+p.name) }

func (p *pair) version() mcp.Version {
	if p.modern {
		return mcp.Version20260728
	}
	return mcp.Version20251125
}

// eras makes two pairs of one.
func eras(p pair) []*pair {
	modern, legacy := p, p
	modern.modern = true
	modern.name += ", 2026-07-28"
	legacy.closesToCancel = false
	legacy.name += ", 2025-11-25"
	return []*pair{&modern, &legacy}
}

// The ways from our client to a shop of ours.

func overStdio(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	return connectOurs(ctx, shopProcess(t, pr.serverName()), pr.version(), p)
}

// environmentShop makes the test binary a shop, under this service name.
const environmentShop = "MCPOTEL_STACK_TEST_SHOP"

// shopProcess is a shop in a process of its own.
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

// shopURL serves a handler on loopback, as long as the test runs.
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

// busyArgument is an argument of add that makes the server too busy for the call the first time.
const busyArgument = 429

// refusingOnce refuses each request with this argument once.
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

// sentAgain is a call that the server is too busy for at first: sent twice, handled once.
var sentAgain = calling{
	name: "send retry", times: 4, tool: "add", arguments: map[string]any{"a": busyArgument}, outcome: "ok",
	below: func(p *pair) []node {
		return []node{p.request("add", "", map[string]any{"mcp_client.send.retries": int64(1)}, p.served("add", "", nil, node{
			kind: "INTERNAL", name: shop.InnerSpan, service: p.serverName(),
		}))}
	},
}
