package mcpclient_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// greeter returns a server with a tool that greets, reports progress and may be slow.
func greeter() *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	type who struct {
		Name string `json:"name"`
	}
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "greet"}, func(ctx context.Context, in who) (who, error) {
		return who{"hello " + in.Name}, nil
	})
	if err != nil {
		panic(err)
	}
	return s
}

// site is a server on the network. A restart makes it forget its sessions.
type site struct {
	*httptest.Server
	options *mcpserver.HTTPOptions
	handler atomic.Pointer[mcpserver.HTTPHandler]
}

func newSite(t *testing.T, o *mcpserver.HTTPOptions) *site {
	t.Helper()
	s := &site{options: o}
	s.restart()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handler.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.shutDown(t, s.handler.Load())
		s.Close()
	})
	return s
}

func (s *site) restart() *mcpserver.HTTPHandler {
	return s.handler.Swap(greeter().HTTPHandler(s.options))
}

func (s *site) shutDown(t *testing.T, h *mcpserver.HTTPHandler) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Errorf("shut the server down: %v", err)
	}
}

// ways are the revisions over HTTP.
var ways = []struct {
	version mcp.Version
	mode    transport.HTTPMode
}{
	{mcp.Version20260728, transport.ModeAuto},
	{mcp.Version20251125, transport.ModeAuto},
	{mcp.Version20250618, transport.ModeAuto},
	{mcp.Version20250326, transport.ModeAuto},
	{mcp.Version20241105, transport.ModeSSE},
}

func visit(t *testing.T, s *site, v mcp.Version, mode transport.HTTPMode) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: s.URL, Mode: mode},
		checked(t, &mcpclient.Options{
			Versions: []mcp.Version{v}, Backoff: mcpclient.Backoff{Min: 10 * time.Millisecond},
		}))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return c
}

func TestEveryRevisionWorksOverHTTP(t *testing.T) {
	s := newSite(t, nil)
	for _, way := range ways {
		t.Run(string(way.version), func(t *testing.T) {
			c := visit(t, s, way.version, way.mode)
			if got := c.ProtocolVersion(); got != way.version {
				t.Errorf("got version %s, want %s", got, way.version)
			}
			n := 0
			for tool, err := range c.Tools(t.Context()) {
				if err != nil || tool.Name != "greet" {
					t.Errorf("got tool %v, %v, want greet", tool, err)
				}
				n++
			}
			r, err := c.CallTool(t.Context(), "greet", map[string]string{"name": "Ada"})
			if err != nil || n != 1 || r.IsError {
				t.Errorf("got %d tools and %+v, %v, want one tool and its result", n, r, err)
			}
		})
	}
}

func TestNewestCommonVersionIsUsed(t *testing.T) {
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: newSite(t, nil).URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.ProtocolVersion(); got != mcp.Version20260728 {
		t.Errorf("got version %s, want 2026-07-28", got)
	}
}

// The server restarts while 64 callers call it. It forgets its sessions, and every connection to it breaks.
func TestServerRestartDuring64ConcurrentCallers(t *testing.T) {
	for _, way := range ways {
		t.Run(string(way.version), func(t *testing.T) {
			s := newSite(t, nil)
			c := visit(t, s, way.version, way.mode)
			var good, lost, other atomic.Int64
			var callers sync.WaitGroup
			half, stop := make(chan struct{}), make(chan struct{})
			halfway := sync.OnceFunc(func() { close(half) })
			for range 64 {
				callers.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						_, err := c.CallTool(t.Context(), "greet", map[string]string{"name": "Ada"}, mcpclient.WaitForReady())
						switch {
						case err == nil:
							if good.Add(1) == 300 {
								halfway()
							}
						case errors.Is(err, mcpclient.ErrConnectionLost):
							lost.Add(1)
						default:
							other.Add(1)
							t.Errorf("got %v in state %+v, want a result or the connection lost", err, c.Status())
							return
						}
					}
				})
			}
			<-half
			old := s.restart()
			s.CloseClientConnections()
			s.shutDown(t, old)
			before := good.Load()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for good.Load() < before+300 && ctx.Err() == nil {
				if err := c.WaitForReady(ctx); err != nil {
					t.Errorf("the client did not reconnect: %v", err)
				}
				_, _ = c.CallTool(ctx, "greet", map[string]string{"name": "Ada"}, mcpclient.WaitForReady())
			}
			close(stop)
			callers.Wait()
			if got := good.Load(); got < before+300 {
				t.Errorf("after the restart: %d results, want 300 at least", got-before)
			}
			t.Logf("%d results, %d lost, %d other", good.Load(), lost.Load(), other.Load())
		})
	}
}
