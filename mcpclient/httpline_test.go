package mcpclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// narrowHTTP connects to a server over HTTP. places is the MaxInFlight of the transport. For each request, the server
// calls the function before with the body.
func narrowHTTP(t *testing.T, v mcp.Version, places int, before func(body []byte)) *mcpclient.Client {
	t.Helper()
	real := newSite(t, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		before(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		real.handler.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	h := &transport.HTTP{URL: s.URL, MaxInFlight: places}
	c, err := mcpclient.Connect(t.Context(), h, &mcpclient.Options{Versions: []mcp.Version{v}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestManyConcurrentHTTPCallsAllGetASlot(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		c := narrowHTTP(t, v, 8, func([]byte) {})
		var failed atomic.Int32
		callers(2000, 2000, func(n int) {
			r, err := c.CallTool(t.Context(), "greet", map[string]string{"name": fmt.Sprint(n)}, mcpclient.WithTimeout(-1))
			if err != nil || !bytes.Contains(r.StructuredContent, fmt.Appendf(nil, `"hello %d"`, n)) {
				failed.Add(1)
			}
		})
		if n := failed.Load(); n > 0 {
			t.Errorf("%s: %d of 2,000 calls failed, want none", v, n)
		}
	}
}

func TestWaitForHTTPSlotCountsTowardTimeout(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		release, begun := make(chan struct{}), make(chan struct{})
		var late atomic.Int32
		c := narrowHTTP(t, v, 1, func(body []byte) {
			switch {
			case bytes.Contains(body, []byte(`"first"`)):
				close(begun)
				<-release
			case bytes.Contains(body, []byte(`"late"`)):
				late.Add(1)
			}
		})
		greet := func(ctx context.Context, name string, options ...mcpclient.CallOption) error {
			_, err := c.CallTool(ctx, "greet", map[string]string{"name": name}, options...)
			return err
		}
		var all sync.WaitGroup
		all.Go(func() {
			if err := greet(t.Context(), "first"); err != nil {
				t.Errorf("the call with the slot: %v", err)
			}
		})
		<-begun
		err := greet(t.Context(), "late", mcpclient.WithTimeout(20*time.Millisecond))
		if !errors.Is(err, mcpclient.ErrTimeout) {
			t.Errorf("%s: got %v, want a timeout", v, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := greet(ctx, "late"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want the end of the context", v, err)
		}
		cancel()
		close(release)
		all.Wait()
		if err := greet(t.Context(), "next"); err != nil || late.Load() != 0 {
			t.Errorf("%s: got %v, and %d requests of calls that had left the line", v, err, late.Load())
		}
	}
}
