package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// workshop is a server that counts its starts. Its tool work takes the time of the argument seconds.
type workshop struct {
	mu      sync.Mutex
	running int      // guarded by mu; connections
	starts  int      // guarded by mu
	most    int      // guarded by mu; largest number of simultaneous connections
	tools   []string // guarded by mu; tools of the next start
	ending  time.Duration
	calls   atomic.Int64 // calls that have run
	refused error        // error of each attempt to connect; nil for none

	description string // of each tool
}

func (w *workshop) Name() string               { return "workshop" }
func (w *workshop) Network() transport.Network { return transport.Network{} }

func (w *workshop) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	if w.refused != nil {
		return nil, w.refused
	}
	w.mu.Lock()
	tools := slices.Clone(w.tools)
	w.running++
	w.starts++
	w.most = max(w.most, w.running)
	w.mu.Unlock()
	s := mcpserver.New(mcp.Implementation{Name: "workshop", Version: "1"}, nil)
	for _, name := range tools {
		err := mcpserver.AddTool(s, &mcp.Tool{Name: name, Description: w.description}, func(ctx context.Context, in struct {
			Seconds float64 `json:"seconds,omitempty"`
		}) (string, error) {
			select {
			case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
				return fmt.Sprint("call ", w.calls.Add(1)), nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
		if err != nil {
			return nil, err
		}
	}
	err := s.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"},
		func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{}, nil
		})
	if err != nil {
		return nil, err
	}
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = s.Serve(ctx, peer)
		time.Sleep(w.ending)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running--
	}).Dial(ctx, cfg)
}

func (w *workshop) started() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

func (w *workshop) setTools(tools ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tools = tools
}

// demanded runs f in a bubble with a group whose only member, "shop", is the workshop.
func demanded(t *testing.T, m mcpclient.Member, w *workshop, f func(t *testing.T, g *mcpclient.Group)) {
	t.Helper()
	m.Name, m.Transport = "shop", w
	grouped(t, &mcpclient.GroupOptions{NoListDir: true}, []mcpclient.Member{m}, f)
}

const idle = 5 * time.Minute

func work(ctx context.Context, g *mcpclient.Group, seconds float64) error {
	r, err := g.CallTool(ctx, "shop_work", map[string]any{"seconds": seconds})
	if err == nil && r.IsError {
		err = errors.New(r.Text())
	}
	return err
}

// runs reports whether a client of the group is running.
func runs(g *mcpclient.Group) bool {
	for range g.Members() {
		return true
	}
	return false
}

func TestLazyMemberStartsAtFirstCallAndStopsWhenIdle(t *testing.T) {
	w := &workshop{tools: []string{"work"}}
	demanded(t, mcpclient.Member{Lazy: true, Idle: idle}, w, func(t *testing.T, g *mcpclient.Group) {
		if err := g.WaitForReady(t.Context()); err != nil || w.started() != 0 {
			t.Fatalf("got %v and %d starts, want no start", err, w.started())
		}
		for n := range 3 {
			if err := work(t.Context(), g, 1); err != nil {
				t.Fatal(err)
			}
			if w.started() != n+1 || !runs(g) {
				t.Errorf("got %d starts, want %d", w.started(), n+1)
			}
			time.Sleep(idle - time.Nanosecond)
			synctest.Wait()
			if !runs(g) {
				t.Error("the client has stopped before the idle time")
			}
			time.Sleep(time.Second)
			if runs(g) {
				t.Error("the client runs after the idle time")
			}
		}
		if got := g.Inspect(); len(got) != 1 || got[0].Starts != 3 || got[0].Client != 0 || !got[0].OnDemand ||
			got[0].Idle != idle || got[0].Users != 0 {
			t.Errorf("got %+v, want a stopped member with three starts", got)
		}
	})
}

func TestConcurrentFirstCallsStartOneClient(t *testing.T) {
	w := &workshop{tools: []string{"work"}}
	demanded(t, mcpclient.Member{Lazy: true, Idle: idle}, w, func(t *testing.T, g *mcpclient.Group) {
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if err := work(t.Context(), g, 1); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if w.started() != 1 || w.calls.Load() != 20 {
			t.Errorf("got %d starts and %d calls, want 1 and 20", w.started(), w.calls.Load())
		}
	})
}

// A call that outlasts the idle time, a call at exactly the deadline, and a call during the stop: none fails, each runs
// once, and two processes of the server never overlap.
func TestNoCallFailsAndNoProcessesOverlap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := &workshop{tools: []string{"work"}, ending: time.Duration(rapid.IntRange(0, 60).Draw(r, "ending")) *
			time.Millisecond}
		const short = 10 * time.Second
		type call struct{ after, takes time.Duration }
		calls := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) call {
			near := rapid.SampledFrom([]time.Duration{-time.Millisecond, -1, 0, 1, time.Millisecond, 50 * time.Millisecond,
				200 * time.Millisecond}).Draw(r, "near")
			return call{
				rapid.SampledFrom([]time.Duration{0, short + near, short / 2}).Draw(r, "after"),
				rapid.SampledFrom([]time.Duration{0, time.Second, 2 * short}).Draw(r, "takes"),
			}
		}), 1, 8).Draw(r, "calls")
		concurrent := rapid.IntRange(1, 3).Draw(r, "concurrent")
		demanded(t, mcpclient.Member{Lazy: rapid.Bool().Draw(r, "lazy"), Idle: short}, w,
			func(t *testing.T, g *mcpclient.Group) {
				var all sync.WaitGroup
				for range concurrent {
					all.Go(func() {
						for _, c := range calls {
							time.Sleep(c.after)
							if err := work(t.Context(), g, c.takes.Seconds()); err != nil {
								t.Errorf("calls %v: %v", calls, err)
							}
						}
					})
				}
				all.Wait()
				time.Sleep(2 * short)
				if runs(g) {
					t.Errorf("calls %v: the client runs although it is idle", calls)
				}
			})
		if n := int(w.calls.Load()); n != concurrent*len(calls) || w.most > 1 || w.running != 0 {
			r.Errorf("got %d runs for %d calls, %d processes at once, %d left", n, concurrent*len(calls), w.most, w.running)
		}
	})
}

func TestSubscriptionTaskAndUserKeepClient(t *testing.T) {
	w := &workshop{tools: []string{"work"}}
	demanded(t, mcpclient.Member{Lazy: true, Idle: idle}, w, func(t *testing.T, g *mcpclient.Group) {
		stays := func(why string, want bool) {
			t.Helper()
			time.Sleep(3 * idle)
			synctest.Wait()
			if runs(g) != want {
				t.Errorf("%s: the client runs: %v, want %v", why, !want, want)
			}
		}
		c, release, err := g.Use("shop")
		if err != nil {
			t.Fatal(err)
		}
		stays("a user", true)
		if err := c.SubscribeResource(t.Context(), "file:///a"); err != nil {
			t.Fatal(err)
		}
		release()
		release()
		stays("a subscription", true)
		if err := c.UnsubscribeResource(t.Context(), "file:///a"); err != nil {
			t.Fatal(err)
		}
		stays("nothing", false)
		if _, err := g.Client("shop"); err != nil {
			t.Fatal(err)
		}
		stays("a user of Client", true)
	})
}

func TestFailedStartIsReportedAndRepeatedByTheNextCall(t *testing.T) {
	reason := errors.New("the disk is full")
	w := &workshop{tools: []string{"work"}, refused: reason}
	demanded(t, mcpclient.Member{Lazy: true, Idle: idle}, w, func(t *testing.T, g *mcpclient.Group) {
		begun := time.Now()
		if err := work(t.Context(), g, 0); !errors.Is(err, reason) || time.Since(begun) > 10*time.Second {
			t.Errorf("got %v after %v, want the reason soon", err, time.Since(begun))
		}
		if got := toolNames(t.Context(), g); len(got) != 1 || !strings.Contains(got[0], reason.Error()) {
			t.Errorf("got %q, want the reason", got)
		}
		w.refused = nil
		if err := work(t.Context(), g, 0); err != nil {
			t.Errorf("after the repair: got %v", err)
		}
	})
}

func TestClientClosedByItsUserIsReplaced(t *testing.T) {
	w := &workshop{tools: []string{"work"}}
	demanded(t, mcpclient.Member{Lazy: true, Idle: idle}, w, func(t *testing.T, g *mcpclient.Group) {
		c, release, err := g.Use("shop")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := work(t.Context(), g, 0); err != nil || w.started() != 1 {
			t.Errorf("got %v after %d starts, want the call done by a new client", err, w.started())
		}
	})
}

func TestCloseWhileStartingEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := mcpclient.NewGroup([]mcpclient.Member{{Name: "shop", Transport: deaf(), Lazy: true}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		done := background(func() error { return work(t.Context(), g, 0) })
		synctest.Wait()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("got %v, want ErrShutdown", err)
		}
		if err := work(t.Context(), g, 0); !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("a call after the end: got %v, want ErrShutdown", err)
		}
	})
}

func TestShutdownWaitsForCallsOfLazyMember(t *testing.T) {
	w := &workshop{tools: []string{"work"}}
	demanded(t, mcpclient.Member{Lazy: true, Idle: idle}, w, func(t *testing.T, g *mcpclient.Group) {
		done := background(func() error { return work(t.Context(), g, 10) })
		synctest.Wait()
		if err := g.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil || w.calls.Load() != 1 {
			t.Errorf("got %v and %d calls, want the call done", err, w.calls.Load())
		}
	})
}

// The lists of a stopped server are the lists of its last run. When it runs again with other tools, the handlers of
// changes are called, the changes are counted, and the lists are the new ones.
func TestListsOfStoppedMemberAreCachedAndChecked(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	w := &workshop{tools: []string{"work", "paint"}}
	var changes atomic.Int64
	// A modern client also calls the handler when it starts to listen for changes.
	m := mcpclient.Member{Lazy: true, Idle: idle, Options: &mcpclient.Options{Telemetry: rec.Telemetry(),
		Versions: []mcp.Version{mcp.Version20251125},
		Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(func(context.Context) { changes.Add(1) })}}}
	demanded(t, m, w, func(t *testing.T, g *mcpclient.Group) {
		lists := func(when string, starts int, want ...string) {
			t.Helper()
			if got := toolNames(t.Context(), g); !slices.Equal(got, want) || w.started() != starts {
				t.Errorf("%s: got the tools %q after %d starts, want %q after %d", when, got, w.started(), want, starts)
			}
		}
		lists("unknown", 1, "shop_work", "shop_paint")
		time.Sleep(2 * idle)
		lists("stopped", 1, "shop_work", "shop_paint")
		if items, ok := g.CachedList("shop", mcp.MethodListPrompts); !ok || items != nil {
			t.Errorf("prompts: got %s, %v, want none", items, ok)
		}
		if items, ok := g.CachedList("shop", mcp.MethodListResources); !ok || !strings.Contains(string(items), "file:///a") {
			t.Errorf("resources: got %s, %v, want one", items, ok)
		}
		w.setTools("work", "print")
		if err := work(t.Context(), g, 1); err != nil {
			t.Fatal(err)
		}
		if changes.Load() != 1 {
			t.Errorf("got %d calls of the handler, want 1", changes.Load())
		}
		time.Sleep(2 * idle)
		lists("stopped again", 2, "shop_work", "shop_print")
		if err := work(t.Context(), g, 1); err != nil || changes.Load() != 1 {
			t.Errorf("got %v and %d changes, want no other change", err, changes.Load())
		}
	})
	for kind, tool := range map[string]string{"added": "print", "removed": "paint"} {
		if n := rec.Value("mcp_client.tool.changes", "mcp_client.tool.change.kind", kind); n != 1 {
			t.Errorf("got %d tools %s, want 1: %s", n, kind, tool)
		}
	}
	idle := rec.Value("mcp_client.connection.transitions", "mcp_client.connection.reason", "idle")
	if idle != 2 {
		t.Errorf("got %d transitions with the reason idle, want 2", idle)
	}
}

// A notification of the server refreshes the cached lists while the client runs.
func TestNotificationRefreshesCachedLists(t *testing.T) {
	s := mcpserver.New(mcp.Implementation{Name: "s", Version: "1"}, nil)
	add := func(name string) {
		err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, struct{}) (string, error) { return "", nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	add("a")
	t2 := transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		grouped(t, &mcpclient.GroupOptions{NoListDir: true}, []mcpclient.Member{{Name: "s", Transport: t2, Idle: idle,
			Options: &mcpclient.Options{Versions: []mcp.Version{version}}}}, func(t *testing.T, g *mcpclient.Group) {
			if err := g.WaitForReady(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			name := "b" + strings.ReplaceAll(string(version), "-", "")
			add(name)
			time.Sleep(2 * idle)
			if got := toolNames(t.Context(), g); !slices.Contains(got, "s_"+name) || runs(g) {
				t.Errorf("%s: got %q, want the new tool without a start", version, got)
			}
		})
	}
}

// OnChange decides on tools that have changed between two runs of the server.
func TestDriftBetweenRunsIsDecided(t *testing.T) {
	w := &workshop{tools: []string{"work"}}
	var asked []string
	m := mcpclient.Member{Lazy: true, Idle: idle, Options: &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.UseDriftDetection(&mcpclient.DriftOptions{
			OnChange: func(_ context.Context, changes []mcpclient.ToolChange) error {
				for _, c := range changes {
					asked = append(asked, string(c.Kind)+" "+c.Tool)
				}
				return errors.New("not without a person")
			},
		})}}}
	demanded(t, m, w, func(t *testing.T, g *mcpclient.Group) {
		if err := work(t.Context(), g, 0); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the refusal outlives the second run, too
			w.setTools("work", "steal")
			time.Sleep(2 * idle)
			if _, err := g.CallTool(t.Context(), "shop_steal", nil); !errors.Is(err, mcpclient.ErrToolChanged) {
				t.Errorf("got %v, want ErrToolChanged", err)
			}
			time.Sleep(2 * idle)
			if got := toolNames(t.Context(), g); !slices.Equal(got, []string{"shop_work"}) {
				t.Errorf("got %q, want no refused tool", got)
			}
		}
	})
	if want := []string{"added steal", "added steal"}; !slices.Equal(asked, want) {
		t.Errorf("OnChange decided on %q, want %q", asked, want)
	}
}

func TestLargeListsAreNotCached(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	w := &workshop{tools: []string{"work"}, description: strings.Repeat("x", 5<<20)}
	demanded(t, mcpclient.Member{Lazy: true, Idle: idle,
		Options: &mcpclient.Options{Telemetry: rec.Telemetry(), TelemetryGroup: "tenant"}}, w, func(t *testing.T, g *mcpclient.Group) {
		for n := range 3 {
			if got := toolNames(t.Context(), g); len(got) != 1 || w.started() != n+1 {
				t.Errorf("got %q after %d starts, want the tool after %d", got, w.started(), n+1)
			}
			time.Sleep(2 * idle)
		}
	})
	if got := rec.Logs("mcp_client.list_cache.failed"); len(got) != 1 {
		t.Errorf("got %d records, want one with the reason", len(got))
	}
}

func TestIdleWithoutLazyStartsAtOnce(t *testing.T) {
	w := &workshop{tools: []string{"work"}}
	demanded(t, mcpclient.Member{Idle: idle}, w, func(t *testing.T, g *mcpclient.Group) {
		if err := g.WaitForReady(t.Context()); err != nil || w.started() != 1 {
			t.Errorf("got %v and %d starts, want one", err, w.started())
		}
		for _, c := range g.Members() {
			if c.State() != connstate.Ready {
				t.Errorf("got %v, want ready", c.State())
			}
		}
		time.Sleep(2 * idle)
		if runs(g) {
			t.Error("the client runs after the idle time")
		}
	})
}

func TestInvalidLazyMemberIsRefusedAtOnce(t *testing.T) {
	for name, m := range map[string]mcpclient.Member{
		"no transport":  {Name: "a", Lazy: true},
		"negative idle": {Name: "a", Transport: deaf(), Idle: -1},
		"options": {Name: "a", Transport: deaf(), Lazy: true,
			Options: &mcpclient.Options{Limits: mcpclient.Limits{Frame: -1}}},
	} {
		if _, err := mcpclient.NewGroup([]mcpclient.Member{m}, nil); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
