package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// TestEachCallEndsOnceAndInTimeUnderAnyPlan makes several rounds of concurrent calls, with random plans. Each call must
// end by its deadline. If it has an answer, the answer must be its own. The metrics must count one outcome for each
// call. No goroutine may be left, or the bubble would not end.
func TestEachCallEndsOnceAndInTimeUnderAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.SampledFrom(eras).Draw(rt, "version")
		sessionless := drawnFaults.Filter(func(f Fault) bool { return f.Kind != Expire })
		faults := rapid.SliceOfN(sessionless, 0, 5).Draw(rt, "faults")
		p := &Plan{Seed: rapid.Uint64().Draw(rt, "seed"), Faults: spared(faults)}
		turns, together := rapid.IntRange(1, 3).Draw(rt, "turns"), rapid.IntRange(1, 8).Draw(rt, "together")
		var problems []string
		synctest.Test(t, func(t *testing.T) { problems = live(t, v, p, turns, together) })
		for _, problem := range problems {
			rt.Error(problem)
		}
	})
}

// spared returns the faults, changed so that none of them prevents the first connection.
func spared(faults []Fault) (some []Fault) {
	for _, f := range faults {
		if f.Kind == Refuse || f.Method == "*" {
			f.After = max(f.After, time.Second)
		}
		some = append(some, f)
	}
	return some
}

// live makes the calls and returns a description of each wrong outcome.
func live(t *testing.T, v mcp.Version, p *Plan, turns, together int) (problems []string) {
	r := newRig(t, v, p)
	var mu sync.Mutex
	wrong := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, fmt.Sprintf(format, args...))
	}
	for turn := range turns {
		var calls sync.WaitGroup
		for i := range together {
			calls.Go(func() {
				text := fmt.Sprint("call ", turn, " ", i)
				got, took, err := r.echo(t.Context(), text)
				if err == nil && got != text {
					wrong("%s got %q", text, got)
				}
				if took > patience {
					wrong("%s took %v, longer than %v", text, took, patience)
				}
			})
		}
		calls.Wait()
	}
	time.Sleep(10 * time.Second) // until late messages have arrived
	calls := uint64(turns * together)
	if n := r.rec.Count("mcp.client.operation.duration", names.KeyMCPMethodName, mcp.MethodCallTool); n != calls {
		wrong("%d outcomes of %d calls", n, calls)
	}
	if ran := r.ran.Load(); ran > int64(calls) {
		wrong("the tool ran %d times for %d calls", ran, calls)
	}
	if err := r.Err(); err != nil && !r.denied() {
		wrong("the client has given up: %v", err)
	}
	return problems
}

// denied reports whether a fault replaced an answer to server/discover when the client connected again. Then client and
// server have no protocol revision in common, and the client is right to give up.
func (r *rig) denied() bool {
	return slices.ContainsFunc(r.rec.Logs(names.EventMCPClientFaultInjected), func(rec telemetrytest.Record) bool {
		return rec.Text(names.KeyMCPClientFaultKind) == names.FaultError &&
			rec.Text(names.KeyMCPMethodName) == mcp.MethodDiscover
	})
}

// TestClientGivesUpOnServerThatRejectsEachRevision replaces all answers to server/discover after the client has
// connected once.
func TestClientGivesUpOnServerThatRejectsEachRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, mcp.Version20260728, &Plan{Seed: 1, Faults: []Fault{
			{Kind: Error, Code: mcp.CodeMethodNotFound, On: OnAnswer, Method: "*", Probability: 1, After: time.Second},
			{Kind: Cut, On: OnRequest, Method: mcp.MethodCallTool, Probability: 1},
		}})
		for range 10 {
			_, _, _ = r.echo(t.Context(), "hello") // the call cuts the connection
			time.Sleep(time.Second)
		}
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), "no protocol version in common") || !r.denied() {
			t.Errorf("got %v, denied: %v, want no version in common, and a replaced answer to server/discover", err, r.denied())
		}
	})
}

// TestCallCancelledWhileDelayedIsNeverSent cancels a call while a plan delays it.
func TestCallCancelledWhileDelayedIsNeverSent(t *testing.T) {
	for _, fault := range []Fault{
		{Kind: Latency, Delay: time.Second, On: OnRequest}, {Kind: Freeze, Delay: time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			fault.Limit = 1
			r := newRig(t, mcp.Version20260728, &Plan{Faults: []Fault{fault}})
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, _, err := r.echo(ctx, "first")
			if err == nil {
				t.Errorf("%s: the call was answered", fault.Kind)
			}
			time.Sleep(2 * time.Second)
			if got, _, err := r.echo(t.Context(), "second"); err != nil || got != "second" || r.ran.Load() != 1 {
				t.Errorf("%s: the next call: %q, %v; the tool ran %d times, want once", fault.Kind, got, err, r.ran.Load())
			}
		})
	}
}

// TestRefusedConnectIsRetried refuses the first two attempts to connect.
func TestRefusedConnectIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, mcp.Version20260728, &Plan{Faults: []Fault{{Kind: Refuse, Limit: 2}}})
		if got, _, err := r.echo(t.Context(), "hello"); err != nil || got != "hello" {
			t.Errorf("got %q, %v", got, err)
		}
		if n := len(r.rec.Logs(names.EventMCPClientFaultInjected)); n != 2 {
			t.Errorf("%d faults were logged, want 2", n)
		}
	})
}
