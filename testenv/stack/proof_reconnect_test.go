package stack_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// TestALostConnectionIsSeenInJaeger repeatedly loses the connection. The call in flight is one trace, each attempt to
// connect is another trace with a link to the attempt before, and the call that waits for the new connection is a third
// trace.
func TestALostConnectionIsSeenInJaeger(t *testing.T) {
	for _, tc := range []struct {
		name, tool string // calling the tool loses the connection
		version    mcp.Version
		open       func(t *testing.T, service string) (tr transport.Transport, lose func())
	}{
		{"a process that is killed", "crash", mcp.Version20260728,
			func(t *testing.T, service string) (transport.Transport, func()) {
				return shopProcess(t, service), func() {}
			}},
		{"a session that is forgotten", "add", mcp.Version20251125, forgetful},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := limit(t, time.Minute)
			p := &pair{name: tc.name, modern: tc.version == mcp.Version20260728}
			providers := service(t, up, p.clientName())
			tr, lose := tc.open(t, p.serverName())
			c, err := mcpclient.Connect(ctx, tr, &mcpclient.Options{
				Name: "proof", Versions: []mcp.Version{tc.version}, Telemetry: providers.Telemetry(),
				Backoff: mcpclient.Backoff{Min: 20 * time.Millisecond}, Timeouts: mcpclient.Timeouts{Close: 10 * time.Second},
			})
			if err != nil {
				t.Fatal(err)
			}
			const losses = 5
			var calls []placed
			lost := calling{name: "lost", tool: tc.tool, outcome: "connection_lost", below: func(p *pair) []node {
				return []node{p.request(tc.tool, "connection_lost", nil)}
			}}
			after := calling{name: "after", tool: "add", outcome: "ok",
				below: answered("add", node{kind: "INTERNAL", name: shop.InnerSpan, service: p.serverName()})}
			calls = append(calls, placed{after, makeOne(t, ctx, ours{c}, providers, &after)}) // after the attempt's spans
			for range losses {
				lose()
				calls = append(calls, placed{lost, makeOne(t, ctx, ours{c}, providers, &lost)},
					placed{after, makeOne(t, ctx, waiting{ours{c}}, providers, &after)})
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			settle(t, ctx, providers)
			for _, m := range calls {
				check(t, ctx, p, m)
			}
			checkAttempts(t, ctx, p, losses)
		})
	}
}

// waiting is this module's client with calls that wait until it is ready.
type waiting struct{ ours }

func (w waiting) call(ctx context.Context, c *calling) (string, error) {
	if err := w.WaitForReady(ctx); err != nil {
		return "", err
	}
	return w.ours.call(ctx, c)
}

// forgetful returns a shop that can forget its sessions, like a restarted server.
func forgetful(t *testing.T, name string) (transport.Transport, func()) {
	p := service(t, up, name)
	var current atomic.Pointer[http.Handler]
	forget := func() {
		h := shop.New(p).HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
		t.Cleanup(func() { h.Shutdown(context.Background()) })
		current.Store(new(http.Handler(h)))
	}
	forget()
	url := shopURL(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) }))
	return &transport.HTTP{URL: url, Mode: transport.ModeStreamable, NoListening: true}, forget
}

// checkAttempts requires a connection attempt at the beginning and for each loss: each is a separate trace that
// contains the negotiation, with a link to the attempt before.
func checkAttempts(t *testing.T, ctx context.Context, p *pair, losses int) {
	t.Helper()
	var traces []*jaeger.Trace
	until(t, ctx, "all attempts are in Jaeger", func() (ok bool) {
		var err error
		if traces, err = up.Traces.Find(ctx, jaeger.Query{Service: p.clientName(), Name: "mcp_client.connect"}); err != nil {
			t.Fatal(err)
		}
		return len(traces) >= 1+losses
	})
	var before *jaeger.Span
	for i, tr := range traces {
		want := connecting(p)[0]
		attempt := tr.Find("INTERNAL", want.name)[0]
		if i > 0 {
			want.attributes = with(want.attributes, map[string]any{"mcp_client.connection.attempt.kind": "reconnect"})
			if len(attempt.Links) != 1 || attempt.Links[0] != (jaeger.Link{TraceID: before.TraceID, SpanID: before.ID}) {
				t.Errorf("attempt %d: want one link, to the attempt before, got %v", i+1, attempt.Links)
			}
			attempt.Links = nil
		}
		if wrong := verify(tr, want); wrong != nil {
			t.Errorf("attempt %d: %s", i+1, show(wrong, tr))
		}
		before = attempt
	}
	if len(traces) != 1+losses {
		t.Errorf("want %d attempts, got %d", 1+losses, len(traces))
	}
}
