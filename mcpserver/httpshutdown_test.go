package mcpserver_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestShutdownLetsRequestsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
		session := w.open("2025-11-25")
		general := w.stream("GET", "", "Mcp-Session-Id", session)
		body, headers := askedCall(1, "sleep", `{"seconds":10}`)
		answers := make(chan page, 2)
		go func() { answers <- w.post(body, headers...) }()
		go func() { answers <- w.post(callOf(1, "sleep", `{"seconds":10}`), "Mcp-Session-Id", session) }()
		synctest.Wait()
		start := time.Now()
		go w.end()
		synctest.Wait()
		if p := w.post(asked(2, "tools/list", bothMetas, ""),
			modernHeaders("tools/list", "")...); p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" {
			t.Errorf("a new request got %d with %v, want 503 and when to try again", p.status, p.header)
		}
		for range 2 {
			if p := <-answers; p.status != http.StatusOK || !strings.Contains(p.body, "awake") {
				t.Errorf("a request that was being handled got %d with %s, want its answer", p.status, p.body)
			}
		}
		general.over()
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it took %v, want as long as the handlers", took)
		}
	})
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := make(chan struct{})
		server := withTool(t, mcpserver.Options{}, "stubborn",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				if string(r.Arguments) == `{"obeys":true}` {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				<-stubborn
				return nil, nil
			})
		h := server.HTTPHandler(nil)
		w := serveHandler(t, h, h)
		session := w.open("2025-11-25")
		answers := make(chan page, 4)
		for _, arguments := range []string{`{"obeys":true}`, `{}`} {
			go func() { answers <- w.post(callOf(1+len(arguments), "stubborn", arguments), "Mcp-Session-Id", session) }()
			body, headers := askedCall(1, "stubborn", arguments)
			go func() { answers <- w.post(body, headers...) }()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		err := h.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "contexts have ended: 2") {
			t.Errorf("Shutdown returned %v, want that of its context and that a handler is left", err)
		}
		if took := time.Since(start); took > time.Minute+5*time.Second {
			t.Errorf("Shutdown took %v, want little more than its context", took)
		}
		synctest.Wait()
		for range 2 {
			if p := <-answers; !strings.Contains(p.body, "shutting down") {
				t.Errorf("a handler that obeys led to %d with %s, want its client told why", p.status, p.body)
			}
		}
		close(stubborn)
		for range 2 {
			<-answers
		}
	})
}

func TestShutdownIsIdempotent(t *testing.T) {
	h := newServer(t, mcpserver.Options{}).HTTPHandler(nil)
	for range 2 {
		if err := h.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown returned %v, want nil", err)
		}
	}
}
