package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func listenFor(id int, filter string) string {
	return asked(id, "subscriptions/listen", bothMetas, `"notifications":{`+filter+`}`)
}

const (
	toolsFilter = `"toolsListChanged":true`
	allFilters  = `"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,` +
		`"resourceSubscriptions":["test://x"]`
)

func TestASubscriptionOverStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1}})
		w := serve(t, t.Context(), server)
		w.send(listenFor(1, allFilters), listenFor(2, `"promptsListChanged":true`))
		want := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",` +
			`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}`
		if out := w.taken(); len(out) != 2 || out[0] != want || !strings.Contains(out[1], `"notifications":{}`) {
			t.Errorf("the server sent %q, want first %s", out, want)
		}
		server.RemoveTools("echo")
		server.RemoveTools("fail")
		time.Sleep(time.Second)
		want = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed",` +
			`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`
		if out := w.taken(); len(out) != 1 || out[0] != want {
			t.Errorf("the server sent %q, want once %s", out, want)
		}
		w.send(listenFor(1, toolsFilter))
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInvalidRequest {
			t.Errorf("the same id got %+v, want it refused", m)
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		server.RemoveTools("greet")
		time.Sleep(time.Second)
		if out := w.taken(); len(out) > 0 {
			t.Errorf("after the client has cancelled, the server sent %q, want nothing", out)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled",` +
			`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2},` +
			`"requestId":2,"reason":"the server is shutting down"}}`
		want = `{"jsonrpc":"2.0","id":2,"result":{"_meta":{`
		if out := w.taken(); len(out) != 2 || out[0] != cancelled || !strings.HasPrefix(out[1], want) ||
			!strings.Contains(out[1], `"io.modelcontextprotocol/subscriptionId":2`) {
			t.Errorf("at the end the server sent %q, want a cancellation and the result", out)
		}
	})
}

func TestASubscriptionOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, mcpserver.Options{})
		w := serveWeb(t, server, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 1, Subscriptions: 2}})
		headers := modernHeaders("subscriptions/listen", "")
		first := w.stream("POST", listenFor(1, toolsFilter), headers...)
		second := w.stream("POST", listenFor(1, `"promptsListChanged":true`), headers...)
		for _, s := range []*events{first, second} {
			if m := s.message(); m.Method != mcp.NotificationSubscriptionsAcknowledged {
				t.Errorf("the first message is %+v, want the acknowledgement", m)
			}
		}
		if p := w.post(listenFor(1, toolsFilter), headers...); p.status != http.StatusTooManyRequests ||
			p.header.Get("Retry-After") == "" {
			t.Errorf("one more got %d with %s, want it refused", p.status, p.body)
		}
		server.RemoveTools("echo")
		if e := first.next(); decoded(t, string(e.Data)).Method != mcp.NotificationToolListChanged ||
			!strings.Contains(string(e.Data), `"io.modelcontextprotocol/subscriptionId":1`) {
			t.Errorf("got %s, want the change with the id of the subscription", e.Data)
		}
		go w.end()
		for _, s := range []*events{first, second} {
			if m := s.message(); m.Method != mcp.NotificationCancelled || !strings.Contains(string(m.Params), `"requestId":1`) {
				t.Errorf("at the end got %+v, want a cancellation of the request", m)
			}
			if m := s.message(); m.ID != 1.0 ||
				!strings.Contains(string(m.Result), `"io.modelcontextprotocol/subscriptionId":1`) {
				t.Errorf("at the end got %+v, want a result", m)
			}
			s.over()
		}
	})
}

func TestDisconnectedSubscriberIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, mcpserver.Options{})
		w := serveWeb(t, server, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Subscriptions: 1}})
		for range 3 {
			s := w.stream("POST", listenFor(1, toolsFilter), modernHeaders("subscriptions/listen", "")...)
			s.next()
			s.leave()
			synctest.Wait()
		}
		w.end()
	})
}

func TestASubscriptionNeedsAStream(t *testing.T) {
	w := serveWeb(t, newServer(t, mcpserver.Options{}), nil)
	p := w.post(listenFor(1, toolsFilter), append(modernHeaders("subscriptions/listen", ""), "Accept",
		"application/json")...)
	if p.status != http.StatusNotAcceptable {
		t.Errorf("a client that takes no stream got %d with %s, want 406", p.status, p.body)
	}
	if p := w.post(asked(1, "subscriptions/listen", bothMetas, `"notifications":7`),
		modernHeaders("subscriptions/listen", "")...); decoded(t, p.body).Error == nil {
		t.Errorf("a filter that is none got %s, want an error", p.body)
	}
}

func TestSubscriptionSpanEndsWithAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := serve(t, t.Context(), newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))
		w.send(listenFor(1, toolsFilter))
		span := rec.Span("subscriptions/listen")
		if !span.EndTime().Equal(span.StartTime()) {
			t.Errorf("the span took %v, want its end with the acknowledgement", span.EndTime().Sub(span.StartTime()))
		}
		if n := rec.Value("mcp_server.active_requests"); n != 0 {
			t.Errorf("%d active requests, want 0", n)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		if n := rec.Count("mcp.server.operation.duration", "mcp.method.name", "subscriptions/listen"); n != 1 {
			t.Errorf("the duration was recorded %d times, want once", n)
		}
	})
}

func TestBlockedSubscriberIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, mcpserver.Options{})
		w := serveWeb(t, server, &mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Write: time.Second}, KeepAlive: -1,
			Limits: mcpserver.HTTPLimits{Subscriptions: 1}})
		s := w.stream("POST", listenFor(1, toolsFilter), modernHeaders("subscriptions/listen", "")...)
		s.next()
		server.RemoveTools("echo") // fits into the client's buffer
		for range 10 {
			if err := server.AddTool(&mcp.Tool{Name: "echo"}, echo); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			server.RemoveTools("echo")
			time.Sleep(time.Second)
		}
		second := w.stream("POST", listenFor(1, toolsFilter), modernHeaders("subscriptions/listen", "")...)
		second.next()
		second.leave()
		s.leave()
		w.end()
	})
}

// deafAtFirst is a connection that loses the acknowledgement of a subscription when the server ends.
type deafAtFirst struct{ *wire }

func (c *deafAtFirst) Send(ctx context.Context, frame []byte) error {
	if bytes.Contains(frame, []byte("acknowledged")) {
		<-ctx.Done()
		for range 10_000 { // often, so that the end of the subscription sometimes comes first
			runtime.Gosched()
		}
		return errors.New("lost")
	}
	return c.wire.Send(ctx, frame)
}

func TestUnacknowledgedSubscriptionIsAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &deafAtFirst{&wire{in: make(chan received, 1), done: make(chan struct{})}}
		end := make(chan error)
		go func() { end <- newServer(t, mcpserver.Options{}).Serve(ctx, c) }()
		c.send(listenFor(1, toolsFilter))
		cancel()
		if err := <-end; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v, want the cause of its context", err)
		}
		out := c.taken()
		answers := slices.DeleteFunc(slices.Clone(out),
			func(frame string) bool { return decoded(t, frame).Method == mcp.NotificationCancelled })
		if len(answers) != 1 || len(out) > 2 {
			t.Errorf("the request got %q, want one answer, behind a cancellation at most", out)
		}
	})
}
