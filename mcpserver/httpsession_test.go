package mcpserver_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestASessionEndsWithDELETE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _, cause := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		session := w.open("2025-11-25")
		s := w.stream("POST", gatedCall, "Mcp-Session-Id", session)
		general := w.stream("GET", "", "Mcp-Session-Id", session)
		if p := w.do("DELETE", "", "Mcp-Session-Id", session); p.status != http.StatusNoContent {
			t.Errorf("DELETE got %d, want 204", p.status)
		}
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if p := w.do(method, pingRequest, "Mcp-Session-Id", session); p.status != http.StatusNotFound {
				t.Errorf("%s afterwards got %d, want 404", method, p.status)
			}
		}
		general.over()
		s.next()
		s.next()
		if m := s.message(); m.ID != 5.0 {
			t.Errorf("the request got %+v, want it answered before the end", m)
		}
		s.over()
		if err := <-cause; err == nil {
			t.Error("the handler's context goes on, want its end")
		}
		w.end()
	})
}

func TestASessionIDCannotBeGuessed(t *testing.T) {
	w := serveWeb(t, newServer(t, mcpserver.Options{}), nil)
	seen := map[string]bool{}
	for range 100 {
		id := w.open("2025-11-25")
		if seen[id] || !regexp.MustCompile(`^[A-Z2-7]{26,}$`).MatchString(id) { // each character has 5 bits
			t.Fatalf("session id %q, want 128 random bits in visible characters", id)
		}
		seen[id] = true
	}
}

func TestIdleSessionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newServer(t, mcpserver.Options{}),
			&mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Session: time.Minute}, KeepAlive: -1})
		session := w.open("2025-11-25")
		alive := func() bool {
			return w.post(pingRequest, "Mcp-Session-Id", session).status == http.StatusOK
		}
		for range 3 {
			time.Sleep(59 * time.Second)
			if !alive() {
				t.Fatal("the session has expired, though something happened")
			}
		}
		general := w.stream("GET", "", "Mcp-Session-Id", session)
		time.Sleep(time.Hour)
		if !alive() {
			t.Fatal("the session has expired, though a stream is open")
		}
		general.leave()
		synctest.Wait()
		if got := w.post(callOf(1, "sleep", `{"seconds":600}`), "Mcp-Session-Id", session).status; got != 200 || !alive() {
			t.Fatal("the session has expired, though it answered a request")
		}
		ctx, leave := context.WithCancel(t.Context())
		go w.client.Do(request(t, ctx, "POST", callOf(2, "sleep", `{"seconds":600}`), "Mcp-Session-Id", session))
		synctest.Wait()
		leave()
		time.Sleep(9 * time.Minute)
		if !alive() {
			t.Fatal("the session has expired, though a request without a client is being answered")
		}
		time.Sleep(3 * time.Minute)
		if alive() {
			t.Error("the session is alive, though nothing has happened for long")
		}
		w.end()
	})
}

func TestSessionCountIsLimited(t *testing.T) {
	w := serveWeb(t, newServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 2}})
	first := w.open("2025-11-25")
	stream, address := w.oldSession("http://localhost/mcp")
	if p := w.post(initialized, address); p.status != http.StatusAccepted { // a session in use is not evicted
		t.Fatalf("a message over HTTP+SSE got %d, want 202", p.status)
	}
	if p := w.post(initialize); p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" ||
		!strings.Contains(p.body, "too many sessions") {
		t.Errorf("the third session got %d, %v: %s, want 503 and when to try again", p.status, p.header, p.body)
	}
	if p := w.do("GET", ""); p.status != http.StatusServiceUnavailable {
		t.Errorf("the third session got %d, want 503", p.status)
	}
	w.do("DELETE", "", "Mcp-Session-Id", first)
	w.open("2025-11-25")
	if p := w.post(`{"jsonrpc":"2.0","id":1,"method":"initialize",` +
		`"params":{}}`); p.status != http.StatusServiceUnavailable {
		t.Errorf("the third session got %d, want 503", p.status)
	}
	stream.leave()
}

func TestFailedInitializeCreatesNoSession(t *testing.T) {
	w := serveWeb(t, newServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 1}})
	for range 3 {
		p := w.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
		if p.status != http.StatusOK || p.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("got %d with %v, want an error without a session", p.status, p.header)
		}
	}
	w.open("2025-11-25")
}

func TestASessionBelongsToItsPrincipal(t *testing.T) {
	type who struct{}
	server := newServer(t, mcpserver.Options{})
	h := server.HTTPHandler(&mcpserver.HTTPOptions{Principal: func(r *http.Request) string {
		name, _ := r.Context().Value(who{}).(string)
		return name
	}})
	w := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), who{}, r.Header.Get("Authorization"))))
	}), h)
	id := w.post(initialize, "Authorization", "alice").header.Get("Mcp-Session-Id")
	for name, want := range map[string]int{"alice": 200, "bob": 404, "": 404} {
		if p := w.post(pingRequest, "Mcp-Session-Id", id, "Authorization", name); p.status != want {
			t.Errorf("%q got %d, want %d", name, p.status, want)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if p := w.do(method, "", "Mcp-Session-Id", id, "Authorization", "bob"); p.status != 404 {
			t.Errorf("%s of another got %d, want 404", method, p.status)
		}
	}
}

func TestChangesReachTheOpenStreamOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		session := w.open("2025-06-18")
		server.RemoveTools("fail") // the client does not listen yet
		server.RemoveTools("echo")
		time.Sleep(time.Second)
		s := w.stream("GET", "", "Mcp-Session-Id", session)
		e := s.next()
		if m := decoded(t, string(e.Data)); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want the change from before, once", m)
		}
		server.RemoveTools("split")
		last := s.next()
		if m := decoded(t, string(last.Data)); m.Method != mcp.NotificationToolListChanged || last.ID == e.ID {
			t.Errorf("got %s as %s, want the change as another event", last.Data, last.ID)
		}
		second := w.stream("GET", "", "Mcp-Session-Id", session)
		s.over()
		server.RemoveTools("greet")
		if m := second.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want the change on the newer stream", m)
		}
		second.leave()
		synctest.Wait()
		third := w.resumed(session, e.ID)
		for range 2 {
			if m := third.message(); m.Method != mcp.NotificationToolListChanged {
				t.Errorf("got %+v, want what was sent behind the event", m)
			}
		}
		third.leave()
		w.end()
	})
}

func TestBusySessionRefusesMoreRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, gate, _ := gated(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1, Queued: -1}})
		w := serveWeb(t, server, nil)
		session := w.open("2025-06-18")
		s := w.stream("POST", gatedCall, "Mcp-Session-Id", session)
		p := w.post(callOf(6, "gated", "{}"), "Mcp-Session-Id", session)
		if p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") == "" {
			t.Errorf("got %d with %v, want 429 and when to try again", p.status, p.header)
		}
		if p := w.post(gatedCall, "Mcp-Session-Id", session); p.status != http.StatusBadRequest {
			t.Errorf("an id in use got %d, want 400", p.status)
		}
		close(gate)
		for range 3 {
			s.next()
		}
		s.over()
		w.end()
	})
}

func TestTotalConcurrentHTTPRequestsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, gate, _ := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 1}})
		s := w.stream("POST", asked(1, "tools/call", bothMetas+`,"progressToken":1`, `"name":"gated"`),
			modernHeaders("tools/call", "gated")...)
		p := w.post(asked(2, "tools/list", bothMetas, ""), modernHeaders("tools/list", "")...)
		if p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" {
			t.Errorf("got %d with %v, want 503 and when to try again", p.status, p.header)
		}
		close(gate)
		for range 3 {
			s.next()
		}
		s.over()
		synctest.Wait()
		if p := w.post(asked(2, "tools/list", bothMetas, ""), modernHeaders("tools/list", "")...); p.status != http.StatusOK {
			t.Errorf("afterwards got %d, want 200", p.status)
		}
		w.end()
	})
}
