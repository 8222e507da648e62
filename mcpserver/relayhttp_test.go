package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// relayedWeb serves a relay to b over HTTP.
func relayedWeb(t *testing.T, b *behind) *web {
	t.Helper()
	s, err := newRelay(b, &downstream.Options{Name: "relay", Telemetry: checked(t)})
	must(t, err)
	return serveWeb(t, s, &mcpserver.HTTPOptions{KeepAlive: -1})
}

// hello answers initialize in its own goroutine, and leaves all other requests to the test.
func hello(others func(r *handed)) func(r *handed) {
	return func(r *handed) {
		if r.method != mcp.MethodInitialize {
			others(r)
			return
		}
		go r.answer(json.RawMessage(`{"protocolVersion":"2025-06-18","x":1}`), nil)
	}
}

func TestRelaySupportsHTTPSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var outcome *string
		b := &behind{}
		b.receive = hello(func(r *handed) {
			go func() {
				must(t, r.from.Notify(r.ctx, relay.Message{Method: "acme/told"}))
				must(t, r.from.Notify(t.Context(), relay.Message{Method: "acme/loose"})) // arrives on the request's stream
				outcome = asking(t.Context(), r.from, "acme/ask", `{}`)
			}()
		})
		w := relayedWeb(t, b)
		p := w.post(initializeAs("2025-06-18"))
		id := p.header.Get("Mcp-Session-Id")
		want := `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","x":1}}`
		if p.status != http.StatusOK || id == "" || p.body != want {
			t.Fatalf("initialize got %d with session %q: %s", p.status, id, p.body)
		}
		if p := w.post(initialized, "Mcp-Session-Id", id); p.status != http.StatusAccepted {
			t.Errorf("notifications/initialized got %d: %s", p.status, p.body)
		}
		const none = "the client has opened no stream for requests of the server"
		if got := *asking(t.Context(), b.peer(t), "acme/ask", `{}`); got != none {
			t.Errorf("a request without a stream had the outcome %q, want %q", got, none)
		}
		stream := w.stream("POST", requestOf(7, "tools/call", `{}`), "Mcp-Session-Id", id)
		for _, want := range []string{"acme/told", "acme/loose"} {
			if m := stream.message(); m.Method != want {
				t.Errorf("the stream brings %+v, want the notification %s", m, want)
			}
		}
		if m := stream.message(); m.Method != "acme/ask" || m.ID != 1.0 {
			t.Errorf("the stream brings %+v, want the request", m)
		}
		w.post(`{"jsonrpc":"2.0","id":1,"result":{"odd":1}}`, "Mcp-Session-Id", id)
		synctest.Wait()
		if *outcome != `{"odd":1}` {
			t.Errorf("the request had the outcome %q, want the client's answer", *outcome)
		}
		go b.last(t).answer(json.RawMessage(`{"z": 1}`), nil)
		if m := stream.message(); string(m.Result) != `{"z": 1}` {
			t.Errorf("the stream brings %+v, want the answer", m)
		}
		stream.over()
		b.taken()

		general := w.stream("GET", "", "Mcp-Session-Id", id)
		go b.peer(t).Notify(t.Context(), relay.Message{Method: "acme/more"})
		if m := general.message(); m.Method != "acme/more" {
			t.Errorf("the stream of the session brings %+v, want the notification", m)
		}
		b.receive = nil
		left := make(chan page, 1)
		go func() { left <- w.post(requestOf(8, "tools/list", `{}`), "Mcp-Session-Id", id) }()
		synctest.Wait()
		r := b.last(t)
		context.AfterFunc(r.ctx, func() { r.answer(nil, context.Cause(r.ctx)) })
		if p := w.do("DELETE", "", "Mcp-Session-Id", id); p.status != http.StatusNoContent {
			t.Errorf("DELETE got %d: %s", p.status, p.body)
		}
		if p := <-left; !strings.Contains(p.body, "the client has disconnected") {
			t.Errorf("a request of a session that has ended got %d: %s", p.status, p.body)
		}
		general.over()
		synctest.Wait()
		wantBehind(t, b, "tools/list {}", "gone")
		w.end()
	})
}

func TestARelayEndsASessionOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{receive: hello(func(*handed) {})}
		w := relayedWeb(t, b)
		id := w.open("2025-06-18")
		why := errors.New("the server has gone")
		b.peer(t).(relay.Ender).End(why)
		synctest.Wait()
		if p := w.post(requestOf(1, "tools/list", `{}`), "Mcp-Session-Id", id); p.status != http.StatusNotFound {
			t.Errorf("a session that was ended answers with %d: %s", p.status, p.body)
		}
		if got := b.taken(); got[len(got)-1] != "gone" {
			t.Errorf("the receiver got %q, want that the client is gone at the end", got)
		}
		w.end()
	})
}

func TestRelayEndsHTTPSessionIfInitializeFails(t *testing.T) {
	for name, answer := range map[string]func(r *handed, leave func()){
		"refused": func(r *handed, _ func()) { go r.answer(nil, errors.New("no")) },
		"left": func(r *handed, leave func()) {
			context.AfterFunc(r.ctx, func() { r.answer(nil, context.Cause(r.ctx)) })
			leave()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				b := &behind{receive: func(r *handed) { answer(r, leave) }}
				w := relayedWeb(t, b)
				resp, err := w.client.Do(request(t, ctx, "POST", initializeAs("2025-06-18")))
				if err == nil {
					if id := resp.Header.Get("Mcp-Session-Id"); id != "" || name == "left" {
						t.Errorf("initialize got %d and the session %q, want none", resp.StatusCode, id)
					}
					resp.Body.Close()
				}
				synctest.Wait()
				got := b.taken()
				if len(got) != 2 || got[1] != "gone" || b.last(t).ctx.Err() == nil {
					t.Errorf("the receiver got %q, want initialize and that the client is gone", got)
				}
				w.end()
			})
		})
	}
}

func TestRelayHandlesSessionMessagesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		b := &behind{receive: hello(func(r *handed) {
			if r.params == `{"slow":1}` {
				<-hold
			}
			go r.answer(json.RawMessage(`{}`), nil)
		})}
		w := relayedWeb(t, b)
		id := w.open("2025-06-18")
		b.taken()
		pages := make(chan page, 2)
		for _, params := range []string{`{"slow":1}`, `{"next":1}`} {
			go func() { pages <- w.post(requestOf(int(params[2]), "a"+params[2:3], params), "Mcp-Session-Id", id) }()
			synctest.Wait()
		}
		wantBehind(t, b, `as {"slow":1}`)
		close(hold)
		<-pages
		<-pages
		synctest.Wait()
		wantBehind(t, b, `an {"next":1}`)
		w.end()
	})
}

func TestARelayAnswersModernClientsOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayedWeb(t, b)
		b.receive = func(r *handed) { go r.answer(json.RawMessage(`{"resultType":"novel"}`), nil) }
		body, headers := askedCall(1, "a", `{}`)
		if p := w.post(body, headers...); p.status != http.StatusOK ||
			p.body != `{"jsonrpc":"2.0","id":1,"result":{"resultType":"novel"}}` {
			t.Errorf("a call got %d: %s", p.status, p.body)
		}
		if h := b.last(t).header; h == nil || len(h) > 0 {
			t.Errorf("a call that repeats nothing has the headers %v, want none", h)
		}
		w.post(body, append(headers, "Mcp-Param-A", "=?base64?w6Q=?=", "Mcp-Param-B", "b")...)
		if h := b.last(t).header; !maps.Equal(h, map[string]string{"Mcp-Param-A": "ä", "Mcp-Param-B": "b"}) {
			t.Errorf("a call has the headers %v, want those that came", h)
		}
		if p := w.post(body, append(headers, "Mcp-Param-A", "=?base64?_?=")...); p.status != http.StatusBadRequest {
			t.Errorf("a call with a header that cannot be read got %d: %s", p.status, p.body)
		}
		novel := strings.NewReplacer("2026-07-28", "2099-01-01")
		for i := range headers {
			headers[i] = novel.Replace(headers[i])
		}
		if p := w.post(novel.Replace(body), headers...); p.status != http.StatusOK {
			t.Errorf("a call by a revision that only others know got %d: %s", p.status, p.body)
		}
		b.receive = func(r *handed) {
			object := json.RawMessage(`{"code":-32601,"message":"no","x":1}`)
			go r.answer(nil, &relay.Error{Object: object, Server: &mcp.Error{Code: -32601, Message: "no"}})
		}
		body, headers = askedCall(2, "a", `{}`)
		if p := w.post(body, headers...); p.status != http.StatusNotFound || !strings.Contains(p.body, `"x":1`) {
			t.Errorf("a call of an unknown method got %d: %s", p.status, p.body)
		}
		b.taken()
		if p := w.post(body, modernHeaders("tools/call", "b")...); p.status != http.StatusBadRequest {
			t.Errorf("a call with a header that says otherwise got %d: %s", p.status, p.body)
		}
		for _, lacks := range []string{"", `"_meta":{}`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`} {
			p := w.post(requestOf(3, "tools/call", "{"+lacks+"}"), modernHeaders("tools/call", "")...)
			if p.status != http.StatusBadRequest || !strings.Contains(p.body, `"code":-32602`) {
				t.Errorf("a call without what _meta has to say got %d: %s", p.status, p.body)
			}
		}
		wantBehind(t, b)

		b.receive = func(r *handed) {
			go func() {
				must(t, r.from.Notify(r.ctx, relay.Message{Method: "acme/told"}))
				must(t, r.from.Notify(t.Context(), relay.Message{Method: "acme/lost"}))
				r.from.Request(r.ctx, relay.Message{Method: "ping"}, func(_ json.RawMessage, err error) {
					wantError(t, err, "the client has opened no stream for requests of the server")
				})
			}()
			context.AfterFunc(r.ctx, func() { r.answer(nil, context.Cause(r.ctx)) })
		}
		stream := w.stream("POST", asked(3, "tools/call", bothMetas, `"name":"a"`), modernHeaders("tools/call", "a")...)
		if m := stream.message(); m.Method != "acme/told" {
			t.Errorf("the stream brings %+v, want the notification", m)
		}
		r := b.last(t)
		stream.leave()
		synctest.Wait()
		if r.ctx.Err() == nil {
			t.Error("the context of a request goes on whose client has left")
		}
		listen := w.stream("POST", asked(4, "subscriptions/listen", bothMetas, `"notifications":{}`),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		listen.message()
		b.taken()
		go w.end()
		if m := listen.message(); m.Error == nil || m.Error.Message != "the server is shutting down" {
			t.Errorf("the stream brings %+v, want that the server is shutting down", m)
		}
		listen.over()
		w.end()
		wantBehind(t, b, "gone")
	})
}

func TestARelayServesHTTPWithSSE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{receive: hello(func(r *handed) { go r.answer(json.RawMessage(`{"a":1}`), nil) })}
		w := relayedWeb(t, b)
		stream := w.stream("GET", "")
		endpoint := "http://localhost/mcp" + string(stream.next().Data)
		go w.post(initializeAs("2024-11-05"), endpoint)
		stream.message()
		go w.post(requestOf(1, "acme/do", `{}`), endpoint)
		if m := stream.message(); string(m.Result) != `{"a":1}` {
			t.Errorf("the stream brings %+v, want the answer", m)
		}
		var outcome *string
		go func() { outcome = asking(t.Context(), b.peer(t), "roots/list", `{}`) }()
		if m := stream.message(); m.Method != "roots/list" {
			t.Errorf("the stream brings %+v, want the request", m)
		}
		stream.leave()
		synctest.Wait()
		if got := b.taken(); got[len(got)-1] != "gone" || *outcome != "the client has disconnected" {
			t.Errorf("the receiver got %q, and a request had the outcome %q, want that the client is gone", got, *outcome)
		}
		w.end()
	})
}

func TestRelayRejectsStatelessAndSessionsOptions(t *testing.T) {
	s, err := newRelay(&behind{}, &downstream.Options{Name: "relay"})
	must(t, err)
	defer func() {
		want := "mcpserver: HTTPHandler: options: a relay does not support Stateless and Sessions"
		if v := recover(); v != want {
			t.Errorf("HTTPHandler panicked with %v, want %s", v, want)
		}
	}()
	s.HTTPHandler(&mcpserver.HTTPOptions{Stateless: true})
}

// TestLargeResultIsUnchangedOnEveryTransport relays a result that the server sends separately from its frame, if the
// transport supports that.
func TestLargeResultIsUnchangedOnEveryTransport(t *testing.T) {
	large := `{"text":"` + strings.Repeat("x", 200<<10) + `","z": 1}`
	whole := `{"jsonrpc":"2.0","id":1,"result":` + large + `}`
	synctest.Test(t, func(t *testing.T) {
		b := &behind{receive: func(r *handed) {
			result := large
			if r.method == mcp.MethodInitialize {
				_, version, _ := strings.Cut(r.params, `"protocolVersion":"`)
				result = `{"protocolVersion":"` + version[:len("2025-06-18")] + `"}`
			}
			go r.answer(json.RawMessage(result), nil)
		}}
		w := relayedWeb(t, b)
		body, headers := askedCall(1, "a", `{}`)
		legacy, batching := w.open("2025-06-18"), w.open("2025-03-26")
		session := []string{"Mcp-Session-Id", legacy}
		for way, p := range map[string]page{
			"a modern client, JSON": w.post(body, headers...),
			"a session, JSON":       w.post(requestOf(1, "a", `{}`), append(session, "Accept", "application/json")...),
			"a batch of one": w.post("["+requestOf(1, "a", `{}`)+"]", "Mcp-Session-Id", batching, "Accept",
				"application/json"),
		} {
			if got := strings.Trim(p.body, "[]"); got != whole || p.header.Get("Content-Length") != fmt.Sprint(len(p.body)) {
				t.Errorf("%s got %d bytes of %s, want %d", way, len(got), p.header.Get("Content-Length"), len(whole))
			}
		}
		old, address := w.oldSession("http://localhost/mcp")
		go w.post(initializeAs("2024-11-05"), address)
		old.message()
		go w.post(requestOf(1, "a", `{}`), address)
		for way, s := range map[string]*events{
			"a modern client, a stream": w.stream("POST", body, append(headers, "Accept", "text/event-stream")...),
			"a session, a stream": w.stream("POST", requestOf(1, "a", `{}`),
				append(session, "Accept", "text/event-stream")...),
			"HTTP+SSE": old,
		} {
			if got := string(s.next().Data); got != whole {
				t.Errorf("%s got %d bytes, want %d", way, len(got), len(whole))
			}
			s.leave()
		}
		synctest.Wait()
		w.end()
	})
}
