package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// openAble opens the session of a client with all capabilities.
func (w *web) openAble(version string) string {
	w.t.Helper()
	p := w.post(initializeAbleAs(version))
	id := p.header.Get("Mcp-Session-Id")
	if p := w.post(initialized, "Mcp-Session-Id", id); p.status != http.StatusAccepted {
		w.t.Fatalf("notifications/initialized got %d: %s", p.status, p.body)
	}
	return id
}

func TestServerRequestIsSentOnStreamOfHTTPCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "roots", rootsTool)
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 1},
			KeepAlive: -1}) // the client's answer takes the only place: a call that waits for it takes none
		session := w.openAble("2025-06-18")
		stream := w.stream("POST", callOf(7, "roots", "{}"), "Mcp-Session-Id", session)
		if m := stream.message(); m.Method != "roots/list" || m.ID != 1.0 {
			t.Errorf("the stream brings %+v, want roots/list", m)
		}
		other := w.openAble("2025-06-18")
		for _, stranger := range []string{other, session} {
			if p := w.post(fmt.Sprintf(noRoots, 2), "Mcp-Session-Id", stranger); p.status != http.StatusAccepted {
				t.Errorf("a response got %d: %s, want 202", p.status, p.body)
			}
		}
		w.post(fmt.Sprintf(noRoots, 1), "Mcp-Session-Id", other) // no effect: another session has no question
		if p := w.post(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}}`, "Mcp-Session-Id",
			session); p.status != http.StatusAccepted {
			t.Errorf("the answer got %d: %s, want 202", p.status, p.body)
		}
		if m := stream.message(); m.ID != 7.0 || !strings.Contains(string(m.Result), "1 roots") {
			t.Errorf("the stream brings %+v, want the result", m)
		}
		stream.over()
		w.end()
	})
}

func TestReconnectedClientGetsMissedServerRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "roots",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				if err := r.CloseStream(ctx, time.Second); err != nil {
					return nil, err
				}
				return rootsTool(ctx, r)
			})
		w := serveWeb(t, s, nil)
		session := w.openAble("2025-11-25")
		stream := w.stream("POST", callOf(7, "roots", "{}"), "Mcp-Session-Id", session)
		last := stream.next().ID
		stream.next() // this event has only the retry delay
		stream.over()
		again := w.resumed(session, last)
		if m := again.message(); m.Method != "roots/list" {
			t.Errorf("the stream brings %+v, want roots/list", m)
		}
		w.post(fmt.Sprintf(noRoots, 1), "Mcp-Session-Id", session)
		if m := again.message(); m.ID != 7.0 {
			t.Errorf("the stream brings %+v, want the result", m)
		}
		again.over()
		w.end()
	})
}

func TestSessionEndFailsPendingServerRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		s := withTool(t, mcpserver.Options{}, "roots",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				_, err := r.ListRoots(ctx)
				failed <- err
				return nil, err
			})
		w := serveWeb(t, s, nil)
		session := w.openAble("2025-06-18")
		stream := w.stream("POST", callOf(7, "roots", "{}"), "Mcp-Session-Id", session)
		stream.message()
		w.do("DELETE", "", "Mcp-Session-Id", session)
		if err := <-failed; err == nil || err.Error() != "roots/list: the connection has ended" {
			t.Errorf("asking failed with %v, want that the connection has ended", err)
		}
		if m := stream.message(); m.ID != 7.0 {
			t.Errorf("the stream brings %+v, want the result", m)
		}
		stream.over()
		w.end()
	})
}

func TestShutdownFailsPendingServerRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, withTool(t, mcpserver.Options{}, "roots", rootsTool), &mcpserver.HTTPOptions{KeepAlive: -1})
		session := w.openAble("2025-06-18")
		stream := w.stream("POST", callOf(7, "roots", "{}"), "Mcp-Session-Id", session)
		stream.message()
		left := w.stream("POST", callOf(8, "roots", "{}"), "Mcp-Session-Id", session)
		left.message()
		left.leave()
		synctest.Wait()
		begun := time.Now()
		go w.end()
		if m := stream.message(); m.ID != 7.0 || !strings.Contains(string(m.Result), "the connection has ended") {
			t.Errorf("the stream brings %s, want an answer", m.Result)
		}
		stream.over()
		w.end()
		if d := time.Since(begun); d > 2*time.Second {
			t.Errorf("Shutdown took %v", d)
		}
	})
}

func TestSessionExpiresDespitePendingServerRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "roots",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				if r.Arguments != nil {
					time.Sleep(time.Hour)
				}
				return rootsTool(ctx, r)
			})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Session: time.Minute}, KeepAlive: -1})
		session := w.openAble("2025-06-18")
		stream := w.stream("POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"roots"}}`,
			"Mcp-Session-Id", session)
		stream.message()
		time.Sleep(time.Hour) // the client stays connected while the user decides
		if p := w.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusOK {
			t.Errorf("got %d, though the client waits", p.status)
		}
		stream.leave()
		busy, leave := context.WithCancel(t.Context())
		go w.client.Do(request(t, busy, "POST", callOf(8, "roots", "{}"), "Mcp-Session-Id", session))
		synctest.Wait()
		leave()
		time.Sleep(30 * time.Minute)
		if p := w.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusOK {
			t.Errorf("got %d, though a handler works", p.status)
		}
		time.Sleep(35 * time.Minute) // in this time, the second handler asks too
		if p := w.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusNotFound {
			t.Errorf("got %d, want the session to end with its client", p.status)
		}
		w.end()
	})
}

func TestDisconnectDuringServerRequestsFreesOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "roots",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				var both sync.WaitGroup
				for range 2 {
					both.Go(func() { _, _ = r.ListRoots(ctx) })
				}
				both.Wait()
				return nil, nil
			})
		must(t, s.AddTool(&mcp.Tool{Name: "slow"},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				time.Sleep(time.Minute)
				return nil, nil
			}))
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 1}, KeepAlive: -1})
		session := w.openAble("2025-06-18")
		stays := w.stream("POST", callOf(1, "roots", "{}"), "Mcp-Session-Id", session)
		left := w.stream("POST", callOf(2, "roots", "{}"), "Mcp-Session-Id", session)
		for _, s := range []*events{stays, left} { // reads the requests: a write that blocks would keep the stream open
			s.message()
			s.message()
		}
		left.leave()
		synctest.Wait()
		status := make(chan int, 3)
		for id := range 3 {
			go func() { status <- w.post(callOf(10+id, "slow", "{}"), "Mcp-Session-Id", session).status }()
		}
		var got []int
		for range 3 {
			got = append(got, <-status)
		}
		slices.Sort(got)
		if want := []int{200, 503, 503}; !slices.Equal(got, want) {
			t.Errorf("three requests for one free place got %v, want %v", got, want)
		}
		w.do("DELETE", "", "Mcp-Session-Id", session)
		if m := stays.message(); m.ID != 1.0 {
			t.Errorf("the stream brings %+v, want the result", m)
		}
		stays.over()
		w.end()
	})
}
