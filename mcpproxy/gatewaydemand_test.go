package mcpproxy_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// counted is a transport to a server, which counts its connections.
type counted struct {
	serve func(ctx context.Context, p *transport.Peer)

	mu            sync.Mutex
	starts, alive int // guarded by mu
}

func (c *counted) Name() string               { return "counted" }
func (c *counted) Network() transport.Network { return transport.Network{} }

func (c *counted) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c.mu.Lock()
	c.starts++
	c.alive++
	c.mu.Unlock()
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		c.serve(ctx, p)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.alive--
	}).Dial(ctx, cfg)
}

func (c *counted) want(t *testing.T, when string, starts, alive int) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.starts != starts || c.alive != alive {
		t.Errorf("%s: got %d starts and %d processes, want %d and %d", when, c.starts, c.alive, starts, alive)
	}
}

// A gateway starts a lazy member for the host that calls it, keeps it for a subscription, and stops it when it is idle.
// Lists of stopped members come from the cache. Two hosts never share a process.
func TestGatewayStartsMembersOnDemandForEachHost(t *testing.T) {
	const idle = time.Minute
	for _, v := range []mcp.Version{mcp.Version20250618, mcp.Version20251125} {
		synctest.Test(t, func(t *testing.T) {
			s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1"},
				&mcpserver.Options{Logging: true, Telemetry: telemetry.Off(), Versions: []mcp.Version{v}})
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			add := func(tool string) {
				must(mcpserver.AddTool(s, &mcp.Tool{Name: tool}, func(ctx context.Context, _ struct{}) (string, error) {
					return tool, mcpserver.SessionFrom(ctx).Log(mcp.LevelDebug, "", "working")
				}))
			}
			add("work")
			must(s.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"},
				func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
					return &mcp.ReadResourceResult{}, nil
				}))
			files := &counted{serve: func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) }}
			g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "files", Transport: files, Lazy: true, Idle: idle}},
				&mcpproxy.GatewayOptions{NoListDir: true, Telemetry: telemetry.Off()})
			must(err)
			a := &around{t: t, gateway: g}
			defer a.end()
			var logged, updated, changed atomic.Int64
			c := a.host(v, mcpclient.HandleLogMessage(func(context.Context, *mcp.LoggingMessageParams) { logged.Add(1) }),
				mcpclient.HandleResourceUpdated(func(context.Context, string) { updated.Add(1) }),
				mcpclient.HandleToolListChanged(func(context.Context) { changed.Add(1) }))
			defer leave(t, c)
			other := a.host(v)
			defer leave(t, other)
			must(c.SetLogLevel(t.Context(), mcp.LevelDebug))
			files.want(t, "without a request", 0, 0)
			if got := toolNames(t, c); len(got) != 1 {
				t.Errorf("got %q, want one tool", got)
			}
			files.want(t, "an unknown list", 1, 1)
			time.Sleep(2 * idle)
			files.want(t, "idle", 1, 0)
			if got := get(g.HealthHandler()); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, `"state":"stopped"`) {
				t.Errorf("health: got %s, want 200 and the state stopped", got)
			}
			if got := toolNames(t, c); len(got) != 1 {
				t.Errorf("got %q, want one tool", got)
			}
			files.want(t, "a cached list", 1, 0)

			for n := range 2 { // each process gets the log level
				_, err = c.CallTool(t.Context(), "files_work", nil)
				must(err)
				synctest.Wait()
				if logged.Load() != int64(n+1) {
					t.Errorf("got %d log messages, want %d", logged.Load(), n+1)
				}
				files.want(t, "a call", n+2, 1)
				time.Sleep(2 * idle)
			}
			must(c.SubscribeResource(t.Context(), "file:///a"))
			time.Sleep(10 * idle)
			files.want(t, "a subscription", 4, 1)
			s.ResourceUpdated("file:///a")
			time.Sleep(time.Second)
			if updated.Load() != 1 {
				t.Errorf("got %d updates, want 1", updated.Load())
			}
			_, err = other.CallTool(t.Context(), "files_work", nil)
			must(err)
			files.want(t, "another host", 5, 2)
			must(c.UnsubscribeResource(t.Context(), "file:///a"))
			time.Sleep(3 * idle)
			files.want(t, "both idle", 5, 0)

			add("print") // while no process runs
			before := changed.Load()
			_, err = c.CallTool(t.Context(), "files_work", nil)
			must(err)
			synctest.Wait()
			if got := toolNames(t, c); len(got) != 2 || changed.Load() == before {
				t.Errorf("got %q and %d notifications, want two tools after a notification", got, changed.Load()-before)
			}
		})
	}
}

// A server that cannot start fails the call with its name and state, soon and without private details.
func TestFailedStartOfLazyMemberIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "files", Lazy: true,
			Transport: transport.Stdio{Command: "/no/such/program"}}},
			&mcpproxy.GatewayOptions{NoListDir: true, Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		a := &around{t: t, gateway: g}
		defer a.end()
		c := a.host(mcp.Version20251125)
		defer leave(t, c)
		begun := time.Now()
		_, err = c.CallTool(t.Context(), "files_work", nil)
		if err == nil || !strings.Contains(err.Error(), `"files" could not be started`) ||
			strings.Contains(err.Error(), "/no/such") || time.Since(begun) > 10*time.Second {
			t.Errorf("got %v after %v, want the name and the state of the server", err, time.Since(begun))
		}
	})
}
