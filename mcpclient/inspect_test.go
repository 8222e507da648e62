package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestInspectReportsTheConnection(t *testing.T) {
	o := &mcpclient.Options{Name: "files", InstanceID: "pod-7",
		Backoff: mcpclient.Backoff{Min: 8 * time.Second, Max: 8 * time.Second}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		time.Sleep(3 * time.Second)
		if i := c.Inspect(); i.State != connstate.Initializing || i.InState != 3*time.Second ||
			i.Due.Sub(i.Time) != 7*time.Second ||
			i.Epoch != 1 || i.Attempt != 1 || i.Name != "files" || i.InstanceID != "pod-7" || i.Version != "" ||
			i.Sessions != 0 {
			t.Errorf("during the handshake: got %+v", i)
		}
		v.modern()
		await(t, c)
		time.Sleep(time.Minute)
		if i := c.Inspect(); i.State != connstate.Ready || i.InState != time.Minute || !i.Due.IsZero() ||
			i.Version != mcp.Version20260728 ||
			i.Era != "modern" || i.Server == "" || i.Sessions != 1 || i.Err != "" {
			t.Errorf("ready: got %+v", i)
		}
		v.Close()
		synctest.Wait()
		time.Sleep(2 * time.Second)
		i := c.Inspect()
		if wait := i.Due.Sub(i.Time); i.State != connstate.Backoff || i.Reason != connstate.ReasonTransportDown ||
			i.InState != 2*time.Second ||
			i.Err == "" || wait < 2*time.Second || wait > 10*time.Second || i.Server != "" || i.Attempt != 0 {
			t.Errorf("in backoff, with %v to go: got %+v", wait, i)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if i := c.Inspect(); i.State != connstate.Closing || !i.Ended || i.Reason != connstate.ReasonTransportClosed {
			t.Errorf("stopped: got %+v", i)
		}
	})
}

func TestInspectShowsCallsInFlightWithAgeAndDeadline(t *testing.T) {
	ready(t, nil, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) {
		call := func(name string, options ...mcpclient.CallOption) <-chan error {
			return background(func() error {
				_, err := c.CallTool(context.Background(), name, nil, options...)
				return err
			})
		}
		first := call("slow", mcpclient.WithTimeout(time.Minute))
		request := v.Expect(mcp.MethodCallTool)
		time.Sleep(5 * time.Second)
		second := call("quick")
		v.Expect(mcp.MethodCallTool)
		time.Sleep(time.Second)

		i := c.Inspect()
		if i.InFlight != 2 || len(i.Calls) != 2 {
			t.Fatalf("calls in flight: got %d and %+v, want 2", i.InFlight, i.Calls)
		}
		slow, quick := i.Calls[0], i.Calls[1]
		if slow.Target != "slow" || slow.Age != 6*time.Second || slow.Deadline.Sub(i.Time) != 54*time.Second ||
			len(slow.CorrID) != 32 ||
			slow.Method != mcp.MethodCallTool || slow.Stream {
			t.Errorf("the older call: got %+v", slow)
		}
		if quick.Target != "quick" || quick.Age != time.Second || quick.ID <= slow.ID || quick.CorrID == slow.CorrID {
			t.Errorf("the younger call: got %+v", quick)
		}
		v.Answer(request, `{"content":[]}`)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; !errors.Is(err, mcpclient.ErrTimeout) {
			t.Errorf("the younger call: got %v, want a timeout", err)
		}
		i = c.Inspect()
		if i.InFlight != 0 || len(i.Calls) != 0 || i.Tombstones != 1 {
			t.Errorf("after the calls: got %d in flight and %d tombstones, want 0 and 1", i.InFlight, i.Tombstones)
		}
		var tools []string
		for _, o := range i.Operations {
			if o.Method == mcp.MethodCallTool {
				tools = append(tools, fmt.Sprintf("%s %d/%d %v", o.Target, o.Failed, o.Count, o.Max))
			}
		}
		if want := []string{"quick 1/1 30s", "slow 0/1 6s"}; !slices.Equal(tools, want) {
			t.Errorf("operations: got %q, want %q", tools, want)
		}
		kinds := map[string]int{}
		for _, e := range i.Recent {
			kinds[e.Kind]++
		}
		if kinds["request"] < 2 || kinds["transition"] != 2 || kinds["attempt"] != 1 {
			t.Errorf("recent: got %v, want the calls, two transitions and an attempt", kinds)
		}
	})
}

func TestInspectIsBounded(t *testing.T) {
	const resources, calls = inspect.MaxListed + 50, 1_000
	o := mcpclient.Options{RequestTimeout: -1, Telemetry: telemetry.Off()}
	inRevisions(t, []mcp.Version{mcp.Version20251125}, all, o, func(t *testing.T, r *revision) {
		for n := range resources {
			r.subscribe(fmt.Sprint("file:///", n))
		}
		first := manyCalls(r.conversation, r.c, calls)
		i := r.c.Inspect()
		if i.InFlight != calls || len(i.Calls) != inspect.MaxListed || i.Subscribed != resources ||
			len(i.Subscriptions) != inspect.MaxListed {
			t.Fatalf("got %d in flight and %d shown, %d subscriptions and %d shown, want %d, %d and %d of each",
				i.InFlight, len(i.Calls), i.Subscribed, len(i.Subscriptions), calls, resources, inspect.MaxListed)
		}
		for n, f := range i.Calls {
			if f.ID != first+int64(n) || len(f.Target) > 128 {
				t.Fatalf("call %d: got %+v, want id %d and a short name", n, f, first+int64(n))
			}
		}
		if raw, err := json.Marshal(i); err != nil || len(raw) > 100_000 {
			t.Errorf("as JSON: got %d bytes, %v", len(raw), err)
		}
		if i.Operations != nil || i.Recent != nil {
			t.Errorf("without telemetry: got %v and %v, want nothing", i.Operations, i.Recent)
		}
	})
}

// manyCalls makes n calls of a tool with a long name, which end with the client. It returns the ID of the first call.
func manyCalls(v *conversation, c *mcpclient.Client, n int) (first int64) {
	v.t.Helper()
	name := strings.Repeat("x", 10_000)
	for i := range n {
		go func() { _, _ = c.CallTool(context.Background(), name, nil) }()
		f := v.Expect(mcp.MethodCallTool)
		if i == 0 {
			first, _ = strconv.ParseInt(string(f.ID), 10, 64)
		}
	}
	return first
}

func TestClientsListsRunningClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started []*mcpclient.Client
		for _, name := range []string{"b", "a", "b"} {
			c, err := mcpclient.New(newScript(t), &mcpclient.Options{Name: name, Telemetry: telemetry.Off()})
			if err != nil {
				t.Fatal(err)
			}
			started = append(started, c)
		}
		if _, err := mcpclient.New(newScript(t), &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("x",
			nil)}}); err == nil {
			t.Error("want an error for a handler that is nil")
		}
		own := func() []*mcpclient.Client { // other tests have clients too
			return slices.DeleteFunc(mcpclient.Clients(), func(c *mcpclient.Client) bool { return !slices.Contains(started, c) })
		}
		if got := own(); !slices.Equal(got, started) {
			t.Errorf("clients: got %v, want the created clients, in this order", got)
		}
		if a, b := started[0].Inspect().Number, started[1].Inspect().Number; a == 0 || b <= a {
			t.Errorf("numbers: got %d and %d, want increasing numbers", a, b)
		}
		for n, c := range started {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if got := own(); !slices.Equal(got, started[n+1:]) {
				t.Errorf("after %d have ended: got %d clients, want %d", n+1, len(got), len(started)-n-1)
			}
		}
	})
}

// Sixty-four callers make calls and leave while other goroutines call Inspect. The race detector checks the rest.
func TestInspectDuringConcurrentCalls(t *testing.T) {
	ready(t, nil, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) {
		const callers, calls = 64, 20
		go func() { // the goroutine ends with the calls
			for range callers * calls {
				if f := v.Receive(); f.ID != nil {
					v.Answer(f, `{"content":[]}`)
				}
			}
		}()
		over := make(chan struct{})
		var looking, calling sync.WaitGroup
		for range 4 {
			looking.Go(func() {
				for {
					if i := c.Inspect(); i.InFlight > callers || len(i.Calls) != i.InFlight {
						t.Errorf("got %d calls in flight and %d shown, want at most %d and all shown", i.InFlight, len(i.Calls), callers)
					}
					select {
					case <-over:
						return
					default:
					}
				}
			})
		}
		for n := range callers {
			calling.Go(func() {
				for range calls {
					if _, err := c.CallTool(context.Background(), fmt.Sprint("tool", n), nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		calling.Wait()
		close(over)
		looking.Wait()
	})
}

func BenchmarkInspect(b *testing.B) {
	s := newScript(b)
	c, err := mcpclient.New(s, &mcpclient.Options{RequestTimeout: -1, Telemetry: telemetry.Off()})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	v := s.Accept().Handshake(mcp.Version20260728)
	if err := c.WaitForReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	for range 10_000 {
		go func() { _ = c.Call(context.Background(), "x", nil, nil) }()
		v.Expect("x")
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Inspect()
	}
}
