package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestServerIsReplacedBehindTheSameSocket replaces a server with 64 callers without closing a connection, as a reverse
// proxy does that switches to another instance. Clients with a session lose it and get a new one. Clients without a
// session, in 2026-07-28, notice nothing.
func TestServerIsReplacedBehindTheSameSocket(t *testing.T) {
	for _, tc := range []struct {
		version  mcp.Version
		mode     transport.HTTPMode
		failures bool // whether calls may fail
	}{
		{mcp.Version20241105, transport.ModeSSE, true},
		{mcp.Version20250326, transport.ModeAuto, true},
		{mcp.Version20250618, transport.ModeAuto, true},
		{mcp.Version20251125, transport.ModeAuto, true},
		{mcp.Version20260728, transport.ModeAuto, false},
	} {
		t.Run(string(tc.version), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var l ledger
			front := &front{}
			front.replace(t, ctx, l.hear)
			web := httptest.NewServer(front)
			defer web.Close()
			defer web.CloseClientConnections()
			c, err := mcpclient.Connect(ctx, checked(t, &transport.HTTP{URL: web.URL, Mode: tc.mode}, true), &mcpclient.Options{
				Versions:  []mcp.Version{tc.version},
				Backoff:   mcpclient.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond},
				Telemetry: telemetry.Off(),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			stop := l.load(ctx, c)
			for range 3 {
				l.await(ctx, t, &l.answered, l.answered.Load()+640)
				front.replace(t, ctx, l.hear)
			}
			l.await(ctx, t, &l.answered, l.answered.Load()+640)
			stop()
			l.check(t)
			if n := l.failed.Load(); n > 0 && !tc.failures {
				t.Errorf("want no call to fail, got %d", n)
			}
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
			front.stop(t, ctx)
		})
	}
}

// front passes requests to the current server.
type front struct {
	behind atomic.Pointer[mcpserver.HTTPHandler]
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.behind.Load().ServeHTTP(w, r) }

// replace puts a new server behind f, then lets the old one finish.
func (f *front) replace(t *testing.T, ctx context.Context, heard func(int)) {
	t.Helper()
	if old := f.behind.Swap(ourServer(heard).HTTPHandler(nil)); old != nil {
		shutdown(t, ctx, old)
	}
}

func (f *front) stop(t *testing.T, ctx context.Context) {
	t.Helper()
	shutdown(t, ctx, f.behind.Load())
}

func shutdown(t *testing.T, ctx context.Context, h *mcpserver.HTTPHandler) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}
