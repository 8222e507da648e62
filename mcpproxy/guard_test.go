package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// guarded is a host, a proxy with a policy and a server, in a synctest bubble. All telemetry comes from the proxy.
type guarded struct {
	*mcpclient.Client
	served sync.WaitGroup // done when the proxy and then the server have ended
	t      *testing.T
	rec    *telemetrytest.Recording

	mu      sync.Mutex
	log     []string // calls of tools and messages to the host
	running int
	peak    int // maximum number of concurrent tools
}

func (g *guarded) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = append(g.log, fmt.Sprintf(format, args...))
}

// noted compares the records since the last call with want.
func (g *guarded) noted(want ...string) {
	g.t.Helper()
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Equal(g.log, want) {
		g.t.Errorf("got\n%s\nwant\n%s", strings.Join(g.log, "\n"), strings.Join(want, "\n"))
	}
	g.log = nil
}

// decided checks the number of decisions of this kind. If tool is not empty, it counts only decisions about this tool.
func (g *guarded) decided(decision, tool string, want int64) {
	g.t.Helper()
	synctest.Wait()
	attrs := []string{"mcp_server.policy.decision", decision, "mcp_server.name", "guarded"}
	if tool != "" {
		attrs = append(attrs, "gen_ai.tool.name", tool)
	}
	if got := g.rec.Value("mcp_server.policy.decisions", attrs...); got != want {
		g.t.Errorf("%s %s: got %d decisions, want %d", decision, tool, got, want)
	}
}

type waitArguments struct {
	Seconds float64 `json:"seconds"`
	Token   string  `json:"token,omitzero"`
}

// wait returns the handler of a tool that runs for the requested time.
func (g *guarded) wait(name string) func(context.Context, waitArguments) (string, error) {
	return func(ctx context.Context, in waitArguments) (string, error) {
		g.note("%s %v %s", name, in.Seconds, in.Token)
		g.mu.Lock()
		g.running++
		g.peak = max(g.peak, g.running)
		g.mu.Unlock()
		defer func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.running--
		}()
		select {
		case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
			return "done", nil
		case <-ctx.Done():
			g.note("%s ended: %v", name, context.Cause(ctx))
			return "", context.Cause(ctx)
		}
	}
}

func add[In, Out any](t *testing.T, s *mcpserver.Server, name string, h func(context.Context, In) (Out, error)) {
	t.Helper()
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, h); err != nil {
		t.Fatal(err)
	}
}

// guarding runs f with a host behind a policy. The server has the tools wait and delete; serve, if not nil, adds
// others.
func guarding(t *testing.T, p Policy, o mcpclient.Options, serve func(g *guarded, s *mcpserver.Server),
	f func(t *testing.T, g *guarded)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{t: t, rec: telemetrytest.Recorder(t)}
		s := mcpserver.New(mcp.Implementation{Name: "server", Version: "1"},
			&mcpserver.Options{Logging: true, Tasks: &mcpserver.TaskOptions{PollInterval: time.Second}})
		add(t, s, "wait", g.wait("wait"))
		add(t, s, "delete", g.wait("delete"))
		if serve != nil {
			serve(g, s)
		}
		proxy, err := New(transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }),
			&Options{Name: "guarded", Policy: &p, Telemetry: g.rec.Telemetry()})
		if err != nil {
			t.Fatal(err)
		}
		g.served.Add(1)
		g.Client, err = mcpclient.Connect(t.Context(), transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
			defer g.served.Done()
			_ = proxy.Serve(ctx, peer)
		}), &o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			g.served.Wait()
		}()
		f(t, g)
	})
}

// fails fails the test unless err is an error with this code and text.
func fails(t *testing.T, err error, code int64, text string) {
	t.Helper()
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("got %v, want %d with %q", err, code, text)
	}
}

func TestForbiddenToolIsNeitherListedNorCalled(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		guarding(t, Policy{DenyTools: []string{"del*"}}, mcpclient.Options{Versions: []mcp.Version{v}}, nil,
			func(t *testing.T, g *guarded) {
				var listed []string
				for tool, err := range g.Tools(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					listed = append(listed, tool.Name)
				}
				if !slices.Equal(listed, []string{"wait"}) {
					t.Errorf("got the tools %q", listed)
				}
				_, err := g.CallTool(t.Context(), "delete", waitArguments{})
				fails(t, err, mcp.CodeInvalidParams, `unknown tool "delete": the policy of the proxy does not allow it`)
				err = g.Call(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"wait","Name":"delete"}`), nil)
				fails(t, err, mcp.CodeInvalidParams, `member "Name" has the wrong letter case, want "name"`)
				g.noted()
				if _, err := g.CallTool(t.Context(), "wait", waitArguments{}); err != nil {
					t.Error(err)
				}
				g.noted("wait 0 ")
				g.decided("denied", "delete", 1)
				g.decided("denied", "", 2)
				g.decided("hidden", "", 1)
				attrs := g.rec.Span("tools/call delete").Attributes()
				if !slices.Contains(attrs, attribute.String("mcp_server.policy.decision", "denied")) {
					t.Errorf("the span has the attributes %v", attrs)
				}
				log := g.rec.Logs("mcp_server.policy.decided")
				if len(log) == 0 || log[0].Text("mcp_server.name") != "guarded" {
					t.Errorf("got the records %v", log)
				}
			})
	}
}

func TestSlowCallTimesOut(t *testing.T) {
	p := Policy{Timeout: time.Second, Timeouts: map[string]time.Duration{"delete": 0}}
	guarding(t, p, mcpclient.Options{}, nil, func(t *testing.T, g *guarded) {
		begun := time.Now()
		_, err := g.CallTool(t.Context(), "wait", waitArguments{Seconds: 60})
		text := `the call of "wait" exceeded the timeout of 1s in the proxy's policy`
		fails(t, err, mcp.CodeInternalError, text)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("the call took %v, want 1s", took)
		}
		g.noted("wait 60 ", "wait ended: cancelled by the client: "+text)
		g.decided("timed_out", "wait", 1)
		if _, err := g.CallTool(t.Context(), "delete", waitArguments{Seconds: 20}); err != nil {
			t.Error(err)
		}
		if _, err := g.CallTool(t.Context(), "wait", waitArguments{Seconds: 0.9}); err != nil {
			t.Error(err)
		}
		g.decided("timed_out", "", 1)
	})
}

// calls starts n concurrent calls of wait, each of one second, and returns when and how they ended.
func (g *guarded) calls(ctx context.Context, n int) []string {
	ended := make([]string, n)
	var all sync.WaitGroup
	begun := time.Now()
	for i := range n {
		all.Go(func() {
			_, err := g.CallTool(ctx, "wait", waitArguments{Seconds: 1, Token: fmt.Sprint(i)})
			ended[i] = fmt.Sprintf("%v %t", time.Since(begun), err == nil)
		})
		synctest.Wait()
	}
	all.Wait()
	return ended
}

func TestConcurrentCallsAreLimited(t *testing.T) {
	guarding(t, Policy{MaxConcurrent: 2}, mcpclient.Options{}, nil, func(t *testing.T, g *guarded) {
		want := []string{"1s true", "1s true", "2s true", "2s true", "3s true"}
		if got := g.calls(t.Context(), 5); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		if g.peak != 2 {
			t.Errorf("%d calls ran concurrently, want 2", g.peak)
		}
	})
	guarding(t, Policy{MaxConcurrent: 1}, mcpclient.Options{}, nil, func(t *testing.T, g *guarded) {
		g.calls(t.Context(), 4)
		g.noted("wait 1 0", "wait 1 1", "wait 1 2", "wait 1 3")
	})
	short := Policy{MaxConcurrent: 1, Timeout: 1500 * time.Millisecond}
	guarding(t, short, mcpclient.Options{}, nil, func(t *testing.T, g *guarded) {
		if got := g.calls(t.Context(), 3); !slices.Equal(got, []string{"1s true", "1.5s false", "1.5s false"}) {
			t.Errorf("got %q, want the waiting time to count", got)
		}
		g.decided("timed_out", "wait", 2)
		if got := g.calls(t.Context(), 1); !slices.Equal(got, []string{"1s true"}) {
			t.Errorf("got %q, want the call to start immediately", got)
		}
	})
	guarding(t, Policy{MaxConcurrent: 1}, mcpclient.Options{}, nil, func(t *testing.T, g *guarded) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if got := g.calls(ctx, 3); !slices.Equal(got, []string{"500ms false", "500ms false", "500ms false"}) {
			t.Errorf("got %q", got)
		}
		if got := g.calls(t.Context(), 2); !slices.Equal(got, []string{"1s true", "2s true"}) {
			t.Errorf("got %q, want cancelled calls to occupy no room", got)
		}
	})
}

func TestWaitingCallsEndWithTheirHost(t *testing.T) {
	guarding(t, Policy{MaxConcurrent: 1}, mcpclient.Options{}, nil, func(t *testing.T, g *guarded) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _, _ = g.CallTool(context.Background(), "wait", waitArguments{Seconds: 60}) })
		}
		synctest.Wait()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		g.served.Wait()
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.log) != 2 || g.log[0] != "wait 60 " || g.running != 0 {
			t.Errorf("got %q, and %d calls run, want one ended call", g.log, g.running)
		}
	})
}

func TestCallRateIsLimited(t *testing.T) {
	p := Policy{Rate: Rate{Calls: 2, Per: 10 * time.Second}}
	guarding(t, p, mcpclient.Options{}, nil, func(t *testing.T, g *guarded) {
		call := func() error {
			_, err := g.CallTool(t.Context(), "wait", waitArguments{})
			return err
		}
		for range 3 {
			if err := errors.Join(call(), call()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			err := call()
			fails(t, err, mcp.CodeInternalError, "the proxy's policy allows 2 in 10s; try again in 4.000 s")
			if e, _ := errors.AsType[*mcp.Error](err); string(e.Data) != `{"retryAfter":4.000}` {
				t.Errorf("got the data %s", e.Data)
			}
			time.Sleep(4 * time.Second)
			if err := call(); err != nil {
				t.Errorf("the retry after the announced time: %v", err)
			}
			if _, err := g.ListTools(t.Context(), nil); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
		}
		g.decided("limited", "wait", 3)
	})
}

func TestWaitingCallsAreBounded(t *testing.T) {
	g := newLimiter(&Policy{MaxConcurrent: 1})
	enter := func(size int) (*toolCall, bool, error) {
		c := &toolCall{m: relay.Message{Params: make([]byte, size)}}
		now, err := g.enter(c)
		return c, now, err
	}
	if _, now, err := enter(1); !now || err != nil {
		t.Fatalf("got %v, %v", now, err)
	}
	first, now, err := enter(maxWaitingBytes + 1)
	if now || err != nil {
		t.Errorf("one call that exceeds the limit alone: got %v, %v", now, err)
	}
	if _, _, err := enter(1); err != errTooManyWait {
		t.Errorf("above the size limit: got %v", err)
	}
	if !g.forget(first) || g.forget(first) || g.size != 0 {
		t.Errorf("got %d bytes of waiting calls", g.size)
	}
	for range maxWaiting {
		if _, _, err := enter(1); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := enter(1); err != errTooManyWait {
		t.Errorf("above the limit of calls: got %v", err)
	}
}
