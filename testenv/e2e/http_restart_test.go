package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// TestRestartGivesEachCallOneOutcome kills a server with 64 callers, twice, and restarts it at the same address. Every
// call has one true outcome: the servers received each answered call exactly once, each other call at most once, and no
// call whose error is safe to retry. The client becomes ready again by itself.
func TestRestartGivesEachCallOneOutcome(t *testing.T) {
	for _, tc := range []struct {
		version mcp.Version
		mode    transport.HTTPMode
	}{
		{mcp.Version20241105, transport.ModeSSE},
		{mcp.Version20250326, transport.ModeAuto},
		{mcp.Version20250618, transport.ModeAuto},
		{mcp.Version20251125, transport.ModeAuto},
		{mcp.Version20260728, transport.ModeAuto},
	} {
		t.Run(string(tc.version), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			address := freeAddress(t)
			var l ledger
			server := launchOurs(t, address, l.hear)
			c, err := mcpclient.Connect(ctx, checked(t, &transport.HTTP{URL: server.url, Mode: tc.mode}, true),
				&mcpclient.Options{
					Versions:  []mcp.Version{tc.version},
					Backoff:   mcpclient.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond},
					Telemetry: telemetry.Off(),
				})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			stop := l.load(ctx, c)
			for range 2 {
				l.await(ctx, t, &l.answered, l.answered.Load()+640)
				failed := l.failed.Load()
				server.kill()
				l.await(ctx, t, &l.failed, failed+1)
				answered, began := l.answered.Load(), time.Now()
				server = launchOurs(t, address, l.hear)
				if err := c.WaitForState(ctx, connstate.Ready); err != nil {
					t.Fatalf("want the client ready again, got %v; %+v", err, c.Status())
				}
				l.await(ctx, t, &l.answered, answered+1)
				t.Logf("answers again %v after the server was started", time.Since(began).Round(time.Millisecond))
			}
			l.await(ctx, t, &l.answered, l.answered.Load()+640)
			stop()
			server.kill() // all of its output has been read
			l.check(t)
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
		})
	}
}

const callers = 64

// ledger records what callers and servers report about each number.
type ledger struct {
	number           atomic.Int64
	answered, failed atomic.Int64

	mu       sync.Mutex
	heard    map[int]int   // guarded by mu; how often the servers received a number
	outcomes map[int]error // guarded by mu; nil for an answer
	twice    []int         // guarded by mu; numbers with two outcomes
}

func (l *ledger) hear(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard == nil {
		l.heard = map[int]int{}
	}
	l.heard[number]++
}

func (l *ledger) settle(number int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outcomes == nil {
		l.outcomes = map[int]error{}
	}
	if _, ok := l.outcomes[number]; ok {
		l.twice = append(l.twice, number)
	}
	l.outcomes[number] = err
	if err == nil {
		l.answered.Add(1)
	} else {
		l.failed.Add(1)
	}
}

// load makes callers claim one number after the other until stop, which waits for them.
func (l *ledger) load(ctx context.Context, c *mcpclient.Client) (stop func()) {
	var ending atomic.Bool
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for !ending.Load() && ctx.Err() == nil {
				number := int(l.number.Add(1))
				err := claim(ctx, c, number)
				l.settle(number, err)
				if err != nil {
					c.WaitForReady(ctx)
				}
			}
		})
	}
	return func() {
		ending.Store(true)
		all.Wait()
	}
}

var errWrongAnswer = errors.New("the answer is that of another call")

func claim(ctx context.Context, c *mcpclient.Client, number int) error {
	r, err := c.CallTool(ctx, "claim", ticket{number}, mcpclient.WithTimeout(15*time.Second))
	if err != nil {
		return err
	}
	if want := fmt.Sprintf(`{"number":%d}`, number); r.IsError || r.Text() != want {
		return fmt.Errorf("%w: want %s, got %s", errWrongAnswer, want, r.Text())
	}
	return nil
}

// await waits until count is at least n.
func (l *ledger) await(ctx context.Context, t *testing.T, count *atomic.Int64, n int64) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for count.Load() < n {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("want %d, got %d in time; so far:\n%s", n, count.Load(), l.summary())
		}
	}
}

// check compares the outcomes of the callers with the numbers that the servers received.
func (l *ledger) check(t *testing.T) {
	t.Helper()
	t.Logf("outcomes:\n%s", l.summary())
	l.mu.Lock()
	defer l.mu.Unlock()
	if given := int(l.number.Load()); len(l.outcomes) != given || len(l.twice) > 0 {
		t.Errorf("want one outcome for each of %d calls, got %d, and twice for %v", given, len(l.outcomes), l.twice)
	}
	for number, err := range l.outcomes {
		times := l.heard[number]
		switch {
		case errors.Is(err, errWrongAnswer):
			t.Error(err)
		case err == nil && times != 1:
			t.Errorf("call %d was answered: want it heard once, got %d times", number, times)
		case times > 1:
			t.Errorf("call %d: want it heard once at most, got %d times", number, times)
		case mcpclient.SafeToRetry(err) && times > 0:
			t.Errorf("call %d is safe to retry: want it not heard, got %d times; %v", number, times, err)
		}
	}
}

// summary counts the outcomes by kind.
func (l *ledger) summary() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := map[string]int{}
	for number, err := range l.outcomes {
		counts[kind(err, l.heard[number])]++
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%8d %s\n", counts[k], k)
	}
	return b.String()
}

// kind returns an error's text without the parts that vary between calls.
func kind(err error, heard int) string {
	var e *mcpclient.Error
	switch {
	case err == nil:
		return "answered"
	case !errors.As(err, &e):
		return err.Error()
	}
	return fmt.Sprintf("%s (%s), unsent %v, heard %d times", e.Kind, e.ErrorType(), e.Unsent, heard)
}
