package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// The parameters of the property test.
const (
	iterations    = 100 // minimum
	mostCalls     = 50
	reorderWindow = 100 * time.Millisecond
	cancellations = 10 // maximum, for one call
)

// plan is everything that happens to a client in one iteration. It is drawn before the bubble begins, because a failure
// to draw ends its goroutine.
type plan struct {
	Legacy, Skip bool
	Streams      bool // each request has its own stream, as over HTTP
	Lent         bool // callers read their own answers whenever possible
	Ready        bool // the client is ready before the first call
	Together     bool // all calls begin at the same time
	InTurn       bool // each call begins when the previous one has ended
	Calls        []plannedCall
	Troubles     []trouble
	Dials        []fate        // fates of the first connections; later connections succeed
	Stop         time.Duration // when the client is closed; zero for after everything else
}

// plannedCall is one call with the server's answers. There may be several answers or none.
type plannedCall struct {
	At, Timeout  time.Duration
	Wait         bool // the call waits until the client is ready
	Busy         int  // how often the transport is busy
	Refused      int  // how often the server is busy, if requests have their own streams
	Gone         bool // after the refusals, the server forgets the session
	Progress     bool
	Answers      []plannedAnswer
	Cancel       int // how often the caller cancels
	CancelBehind time.Duration
}

type plannedAnswer struct {
	Delay time.Duration
	Form  form
}

// form is the form of an answer.
type form string

const (
	asResult   form = "result"
	asError    form = "error"
	asGarbage  form = "garbage inside"
	asOversize form = "oversize"
	asAnother  form = "wrong id"
	asForeign  form = "the id of another call" // this form and the next occur only if requests have their own streams
	asLost     form = "none, the stream ends"
)

// forms repeats each form according to its frequency. Forms that end the connection are rare.
var forms = slices.Concat(
	slices.Repeat([]form{asResult}, 20), slices.Repeat([]form{asError, asGarbage, asAnother, asForeign, asLost},
		4), []form{asOversize},
)

// trouble is a spontaneous action of the server.
type trouble struct {
	At   time.Duration
	What string
}

// fate is the outcome of an attempt to connect.
type fate string

const (
	fares    fate = "well"
	unopened fate = "not opened"
	silent   fate = "no answer to the handshake"
	dies     fate = "ends on the handshake"
)

// window draws a moment within reorderWindow. rapid prefers small numbers, which would all be at the beginning of the
// window; the multiplication by a prime spreads them.
func window(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.IntRange(0, 1000).Draw(t, label)*7919%1001) * reorderWindow / 1000
}

var plannedCalls = rapid.Custom(func(t *rapid.T) plannedCall {
	c := plannedCall{
		At: 3 * window(t, "at"),
		Timeout: rapid.SampledFrom([]time.Duration{20 * time.Millisecond, reorderWindow, 5 * time.Second}).Draw(t,
			"timeout"),
		Wait:     rapid.Bool().Draw(t, "wait"),
		Busy:     rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3}).Draw(t, "busy"),
		Refused:  rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3}).Draw(t, "refused"),
		Gone:     rapid.IntRange(0, 15).Draw(t, "gone") == 0,
		Progress: rapid.Bool().Draw(t, "progress"),
	}
	for range rapid.SampledFrom([]int{1, 1, 1, 1, 0, 2, 3}).Draw(t, "answers") {
		c.Answers = append(c.Answers, plannedAnswer{
			Delay: window(t, "delay"),
			Form:  rapid.SampledFrom(forms).Draw(t, "form"),
		})
	}
	if rapid.IntRange(0, 3).Draw(t, "cancelled") == 0 {
		c.Cancel, c.CancelBehind = rapid.IntRange(1, cancellations).Draw(t, "times"), window(t, "behind")
	}
	return c
})

var troubles = rapid.Custom(func(t *rapid.T) trouble {
	return trouble{
		At: 4 * window(t, "at"),
		What: rapid.SampledFrom([]string{"hang up", "garbage", "oversize", "notification", "request", "stranger"}).Draw(t,
			"what"),
	}
})

var plans = rapid.Custom(func(t *rapid.T) plan {
	n := rapid.SampledFrom([]int{1, 2, 5, 10, 20, 30, 40, mostCalls}).Draw(t, "how many")
	p := plan{
		Legacy:   rapid.Bool().Draw(t, "legacy"),
		Skip:     rapid.Bool().Draw(t, "skip oversize"),
		Streams:  rapid.Bool().Draw(t, "streams"),
		Lent:     rapid.Bool().Draw(t, "lent"),
		Ready:    rapid.IntRange(0, 3).Draw(t, "unready") > 0,
		Together: rapid.Bool().Draw(t, "together"),
		InTurn:   rapid.IntRange(0, 3).Draw(t, "in turn") == 0,
		Calls:    rapid.SliceOfN(plannedCalls, n, n).Draw(t, "calls"),
		Troubles: rapid.SliceOfN(troubles, 0, 6).Draw(t, "troubles"),
		Dials:    rapid.SliceOfN(rapid.SampledFrom([]fate{fares, fares, unopened, silent, dies}), 0, 4).Draw(t, "dials"),
	}
	if part := rapid.IntRange(-6, 6).Draw(t, "stop early"); part > 0 {
		p.Stop = time.Duration(part)*reorderWindow - window(t, "stop") + 1
	}
	return p
})

// The test runs random plans against the whole client. The plans have answers that are reordered, doubled, lost, late,
// unusable or for no call of the client. Calls time out and are cancelled repeatedly. The transport is busy,
// connections fail in every way, and the client is closed at any moment.
func TestEachCallHasExactlyOneOutcome(t *testing.T) {
	runs, peak, own, kinds := 0, 0, uint32(0), map[mcpclient.ErrorKind]int{}
	rapid.Check(t, func(rt *rapid.T) {
		p := plans.Draw(rt, "plan")
		var problems []string
		synctest.Test(t, func(*testing.T) {
			r := newRun(p)
			r.play()
			problems = r.problems
			peak = max(peak, r.peak)
			own += r.own
			for _, o := range r.outcomes {
				kinds[o.kind]++
			}
		})
		runs++
		if len(problems) > 0 {
			rt.Fatalf("%d problems: %q", len(problems), problems)
		}
	})
	t.Logf("%d runs; %d calls in flight at once; %d answers read by their callers; outcomes by kind: %v", runs, peak, own,
		kinds)
	for _, k := range []mcpclient.ErrorKind{
		"", mcpclient.KindTransport, mcpclient.KindProtocol, mcpclient.KindJSONRPC, mcpclient.KindState,
		mcpclient.KindTimeout, mcpclient.KindCancelled, mcpclient.KindShutdown,
	} {
		if runs >= iterations && kinds[k] == 0 {
			t.Errorf("no call ended with kind %q in %d runs", k, runs)
		}
	}
	if !testing.Short() && !t.Failed() && (runs < iterations || peak < mostCalls/2 || own < iterations/10) {
		t.Errorf("want %d runs, many concurrent calls and answers that callers read themselves, got %d, %d and %d",
			iterations, runs, peak, own)
	}
}

// run is one iteration.
type run struct {
	plan
	server *faulty
	c      *mcpclient.Client
	log    *eventCount

	mu       sync.Mutex
	outcomes map[int]ending // guarded by mu
	problems []string       // guarded by mu
	peak     int            // maximum number of concurrent calls in flight; guarded by mu
	own      uint32         // answers that callers have read themselves, in the first and the last session
}

// ending is how a call ended. kind is empty for a result.
type ending struct {
	times int
	kind  mcpclient.ErrorKind
}

func newRun(p plan) *run {
	r := &run{plan: p, server: newFaulty(p), outcomes: map[int]ending{}, log: &eventCount{}}
	o := &mcpclient.Options{
		Timeouts:       mcpclient.Timeouts{Init: 200 * time.Millisecond},
		Backoff:        mcpclient.Backoff{Min: 20 * time.Millisecond, Max: 100 * time.Millisecond},
		RequestTimeout: 5 * time.Second, Limits: mcpclient.Limits{Frame: faultyLimit, SkipOversize: p.Skip, Notifications: 2},
		Telemetry: telemetry.New(telemetry.WithLogger(slog.New(r.log))),
		Features:  []mcpclient.Feature{mcpclient.HandleNotification("", func(context.Context, *mcpclient.Notification) {})},
	}
	if p.Lent {
		o.Features = append(o.Features, lending)
	}
	if p.Legacy {
		o.Versions = []mcp.Version{mcp.Version20251125}
	}
	var err error
	if r.c, err = mcpclient.New(r.server, o); err != nil {
		panic(err)
	}
	return r
}

func (r *run) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// play plays the plan, and then checks the final state.
func (r *run) play() {
	if r.Ready {
		r.recovers()
	}
	var calls, others sync.WaitGroup
	if r.InTurn {
		calls.Go(func() {
			for i := range r.Calls {
				r.call(i)
			}
		})
	} else {
		for i := range r.Calls {
			calls.Go(func() { r.call(i) })
		}
	}
	for _, t := range r.Troubles {
		others.Go(func() {
			time.Sleep(t.At)
			r.server.trouble(t.What)
		})
	}
	if r.Stop > 0 {
		others.Go(func() {
			time.Sleep(r.Stop)
			r.stop()
		})
	}
	calls.Wait()
	others.Wait()
	synctest.Wait() // wait until the server has seen all requests
	r.server.answers.Wait()
	if r.Lent {
		time.Sleep(2 * patientTick)
	}
	synctest.Wait() // wait until the client has handled all events
	if r.Stop == 0 {
		r.recovers()
		r.decays()
		r.stop()
	}
	r.over()
}

// call makes one call as planned.
func (r *run) call(i int) {
	p := &r.Calls[i]
	if !r.Together && !r.InTurn {
		time.Sleep(p.At)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	time.AfterFunc(time.Millisecond, r.count)
	if p.Cancel > 0 {
		time.AfterFunc(p.CancelBehind, func() {
			for range p.Cancel {
				cancel()
			}
		})
	}
	options := []mcpclient.CallOption{mcpclient.WithTimeout(p.Timeout)}
	if p.Wait {
		options = append(options, mcpclient.WaitForReady())
	}
	reports := 0.0
	returned := false
	if p.Progress {
		options = append(options, mcpclient.WithProgress(func(pr *mcp.ProgressParams) {
			if returned || pr.Progress <= reports {
				r.problem("call %d: progress %v behind %v, or behind the result (%v)", i, pr.Progress, reports, returned)
			}
			reports = pr.Progress
		}))
	}
	var result struct {
		Call int `json:"call"`
	}
	err := r.c.Call(ctx, "custom/call", map[string]int{"call": i}, &result, options...)
	returned = true
	r.ended(i, result.Call, err)
}

// count records the number of calls in flight.
func (r *run) count() {
	n := mcpclient.ProbeOf(r.c).Figures().InFlight
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peak = max(r.peak, n)
}

// ended records how a call ended, and checks that this outcome is allowed.
func (r *run) ended(i, answer int, err error) {
	e, ok := errors.AsType[*mcpclient.Error](err)
	switch {
	case err == nil && answer != i:
		r.problem("call %d got the answer to call %d", i, answer)
	case err != nil && (!ok || e.Kind == mcpclient.KindInvalid):
		r.problem("call %d ended with %v", i, err)
	case err != nil && e.Server != nil && e.Server.Code != int64(i):
		r.problem("call %d got the error of call %d", i, e.Server.Code)
	case mcpclient.SafeToRetry(err) && r.server.got(i) > 0:
		r.problem("call %d reached the server and is said to be safe to retry: %v", i, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o := ending{times: r.outcomes[i].times + 1}
	if ok {
		o.kind = e.Kind
	}
	r.outcomes[i] = o
}

// recovers checks that the client becomes ready and works again, because the server now works.
func (r *run) recovers() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.c.WaitForReady(ctx); err != nil {
		r.problem("the client does not recover: %v", err)
		return
	}
	for range 3 {
		if err := r.c.Call(ctx, "custom/health", nil, nil); err != nil {
			r.problem("the client does not work again: %v", err)
		}
		synctest.Wait() // wait until the goroutine with the turn waits in Receive
	}
	r.own += mcpclient.ProbeOf(r.c).Figures().OwnAnswers
}

// decays checks the table of calls now, and again when all tombstones must have expired.
func (r *run) decays() {
	check := func(most int, when string) {
		f := mcpclient.ProbeOf(r.c).Figures()
		if f.InFlight != 0 {
			r.problem("%d calls in flight %s", f.InFlight, when)
		}
		if f.Tombstones > most || f.Tombstones != f.Told {
			r.problem("%d tombstones %s, %d of them told of, want %d at most", f.Tombstones, when, f.Told, most)
		}
	}
	check(len(r.Calls), "after all outcomes")
	const life = 5*time.Second + 200*time.Millisecond + 100*time.Millisecond + 5*time.Second // all timeouts and a margin
	time.Sleep(life + time.Minute + time.Millisecond)
	check(0, "after their lifetime and a sweep")
}

// stop closes the client several times concurrently.
func (r *run) stop() {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			begun := time.Now()
			if err := r.c.Close(); err != nil {
				r.problem("stop: %v", err)
			}
			if took := time.Since(begun); took > 125*time.Millisecond {
				r.problem("stop took %v", took)
			}
		})
	}
	wg.Wait()
}

// over checks the state after the client has ended.
func (r *run) over() {
	synctest.Wait()
	for i := range r.Calls {
		if n := r.outcomes[i].times; n != 1 {
			r.problem("call %d has %d outcomes", i, n)
		}
		if n := r.server.got(i); n > 1 {
			r.problem("call %d reached the server %d times", i, n)
		}
	}
	r.problems = append(r.problems, r.server.problems()...)
	if r.c.State() != connstate.Closing || r.c.Err() != nil {
		r.problem("the client is %s, %v", r.c.State(), r.c.Err())
	}
	f := mcpclient.ProbeOf(r.c).Figures()
	if f.InFlight != 0 || f.Tombstones > len(r.Calls) {
		r.problem("%d calls in flight, %d tombstones when all is over", f.InFlight, f.Tombstones)
	}
	if f.Waiters != 0 || f.Records != 0 || f.Telling {
		r.problem("%d waiters, %d records left", f.Waiters, f.Records)
	}
	start, end := r.log.of("mcp_client.request.start"), r.log.of("mcp_client.request.stop")
	if end += r.log.of("mcp_client.request.exception"); start != end {
		r.problem("%d requests started and %d ended in the log", start, end)
	}
}

// eventCount is a slog.Handler that counts records by their message.
type eventCount struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

func (*eventCount) Enabled(context.Context, slog.Level) bool { return true }
func (e *eventCount) WithAttrs([]slog.Attr) slog.Handler     { return e }
func (e *eventCount) WithGroup(string) slog.Handler          { return e }

func (e *eventCount) Handle(_ context.Context, r slog.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n == nil {
		e.n = map[string]int{}
	}
	e.n[r.Message]++
	return nil
}

func (e *eventCount) of(message string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n[message]
}
