package quirks_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/quirks"
)

// TestEveryServerOverHTTPIsUsable connects with default options, lists tools and calls one.
func TestEveryServerOverHTTPIsUsable(t *testing.T) {
	t.Parallel()
	for _, s := range quirks.OverHTTP() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			h := &listener{next: s.New()}
			use(t, &transport.HTTP{URL: serve(t, h) + "/mcp"}, s.Version, false)
			if !h.probed.Load() {
				t.Error("want the server probed first, got no server/discover: its quirk was not met")
			}
		})
	}
}

// TestExpiredSessionIsReplaced calls a server before and after it has forgotten the session.
func TestExpiredSessionIsReplaced(t *testing.T) {
	t.Parallel()
	for _, s := range quirks.ForgetfulOverHTTP() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: serve(t, s.Server) + "/mcp"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 3 {
				echo(t, c)
				s.Forget()
				_, err := c.CallTool(t.Context(), "echo", nil)
				if err != nil && !mcpclient.SafeToRetry(err) {
					t.Errorf("want the call safe to retry, for the server refused it, got %v", err)
				}
				if err := c.WaitForReady(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			echo(t, c)
		})
	}
}

// serve starts a server that ends with the test, also for clients that still wait for an answer.
func serve(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}

// listener records whether a server received server/discover.
type listener struct {
	next   http.Handler
	probed atomic.Bool
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if strings.Contains(string(body), `"server/discover"`) {
		l.probed.Store(true)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	l.next.ServeHTTP(w, r)
}
