package stack_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

const (
	calm   = 5 * time.Second       // of traffic before the outage, to compare with
	outage = 30 * time.Second      // how long something is away
	pace   = 25 * time.Millisecond // of the calls

	arrival = 40 * time.Second // for the last span to be in Jaeger; queues are tried again after 5 s, connections too
)

// TestOutagesLoseNoSpans takes each part of the way to Jaeger away for 30 s, at once and without a warning, while a
// client of ours calls a server of ours 40 times a second. No call may fail or be slower for it, and no span may be
// lost.
//
// Each outage has a stack of its own, so that they pass at the same time.
func TestOutagesLoseNoSpans(t *testing.T) {
	ctx := limit(t, 5*time.Minute)
	// What the agent has not acknowledged is the service's: it has to have the patience to send it again, and the room to
	// keep what comes meanwhile. With the SDK's defaults an export is given up after 10 s.
	patient := map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "90000", "OTEL_BSP_EXPORT_TIMEOUT": "90000",
		"OTEL_BSP_MAX_QUEUE_SIZE": "8192"}
	outages := []struct {
		name string
		away func(*stack.Stack) *stack.Process
		env  map[string]string // of the service

		// meanwhile happens in the middle of the outage, if there is something.
		meanwhile func(*stack.Stack) error
		// graceful is whether the process is asked to end once more after the outage, which may not lose anything either.
		graceful bool
		// mayLose says of a span whether it may be lost, by when it ended. Nil means none may.
		mayLose func(end time.Time, r *outageRun) bool
	}{
		{
			name: "Jaeger, and the gateway restarts meanwhile", away: func(s *stack.Stack) *stack.Process { return s.Jaeger },
			meanwhile: func(s *stack.Stack) error { return errors.Join(s.Gateway.Stop(ctx), s.Gateway.Start(ctx)) },
		},
		{
			name: "gateway, and the agent is killed meanwhile", away: func(s *stack.Stack) *stack.Process {
				return s.Gateway
			}, env: patient,
			meanwhile: func(s *stack.Stack) error {
				s.Agent.Kill()
				return s.Agent.Start(ctx)
			},
			graceful: true,
			// What the gateway had acknowledged and not yet judged is gone with its memory: a batch, and traces with errors
			// that wait for the ceiling, for a second and a tick of its sampler.
			mayLose: func(end time.Time, r *outageRun) bool {
				return end.After(r.killed.Add(-3*time.Second)) && end.Before(r.killed)
			},
		},
		{
			name: "agent of a patient service", away: func(s *stack.Stack) *stack.Process { return s.Agent }, env: patient,
			graceful: true,
		},
		{
			name: "agent", away: func(s *stack.Stack) *stack.Process { return s.Agent },
			mayLose: func(end time.Time, r *outageRun) bool { return within1s(end, r.killed, r.backed) },
		},
	}
	runs := make([]*outageRun, len(outages))
	for i, o := range outages {
		s := own(t, ctx, stack.Options{Durable: true})
		runs[i] = newOutageRun(t, ctx, s, o.away(s), o.env)
	}
	var playing sync.WaitGroup // and not t.Parallel, which lets no more pass at once than there are cores
	failed := make([]error, len(runs))
	for i, o := range outages {
		playing.Go(func() { failed[i] = runs[i].play(o.meanwhile, o.graceful) })
	}
	playing.Wait()
	for i, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			if failed[i] != nil {
				t.Fatal(failed[i])
			}
			runs[i].checkCalls(t)
			runs[i].checkSpans(t, o.mayLose)
		})
	}
}

// within1s reports whether t lies between the two, or up to a second before.
func within1s(t, from, to time.Time) bool { return t.After(from.Add(-time.Second)) && t.Before(to) }

// outageRun is a client, a server, the stack they export to, and the process of it that goes away.
type outageRun struct {
	ctx    context.Context
	stack  *stack.Stack
	away   *stack.Process
	client *mcpclient.Client
	flush  []func(context.Context) error
	ended  recorder

	calls                 []timed
	begun, killed, backed time.Time
}

// timed is one call.
type timed struct {
	at   time.Time
	took time.Duration
	err  error
}

// newOutageRun connects a client with a server; env is there while their exporters are made.
func newOutageRun(t *testing.T, ctx context.Context, s *stack.Stack, away *stack.Process,
	env map[string]string) *outageRun {
	t.Helper()
	r := &outageRun{ctx: ctx, stack: s, away: away}
	for name, value := range env { // not t.Setenv: the other services should not have it
		if err := os.Setenv(name, value); err != nil {
			t.Fatal(err)
		}
		defer os.Unsetenv(name)
	}
	server := mcpserver.New(mcp.Implementation{Name: "shop", Version: "1"},
		&mcpserver.Options{Telemetry: r.telemetry(t, "outage-server")})
	if err := mcpserver.AddTool(server, &mcp.Tool{Name: "price"}, func(context.Context, struct{}) (string, error) {
		return "3", nil
	}); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(ctx, transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = server.Serve(ctx, peer)
	}),
		&mcpclient.Options{Name: "shop", Telemetry: r.telemetry(t, "outage-client")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	r.client = client
	return r
}

// telemetry is that of a service, whose ended spans the run takes down.
func (r *outageRun) telemetry(t *testing.T, name string) *telemetry.Telemetry {
	t.Helper()
	p := service(t, r.stack, name)
	provider, ok := p.TracerProvider().(*sdktrace.TracerProvider)
	if !ok {
		t.Fatalf("want the SDK's provider of tracers, got %T", p.TracerProvider())
	}
	provider.RegisterSpanProcessor(&r.ended)
	r.flush = append(r.flush, p.ForceFlush)
	return p.Telemetry()
}

// play lets the traffic go on through calm, outage and return. It runs beside the test and so does not end it.
func (r *outageRun) play(meanwhile func(*stack.Stack) error, graceful bool) error {
	stop := make(chan struct{})
	var traffic sync.WaitGroup
	traffic.Go(func() { r.call(stop) })
	stopped := sync.OnceFunc(func() { close(stop); traffic.Wait() })
	defer stopped()

	r.begun = time.Now()
	r.wait(calm)
	r.killed = time.Now()
	r.away.Kill()
	r.wait(outage / 2)
	if meanwhile != nil {
		if err := meanwhile(r.stack); err != nil {
			return err
		}
	}
	r.wait(outage - time.Since(r.killed))
	if err := r.away.Start(r.ctx); err != nil {
		return err
	}
	r.backed = time.Now()
	r.wait(calm)
	if graceful {
		if err := r.away.Stop(r.ctx); err != nil {
			return err
		}
		if err := r.away.Start(r.ctx); err != nil {
			return err
		}
		r.wait(calm)
	}
	stopped()
	var unsent []error
	for _, flush := range r.flush {
		unsent = append(unsent, flush(r.ctx))
	}
	return errors.Join(unsent...)
}

func (r *outageRun) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	}
}

// call calls at the pace until it is to stop.
func (r *outageRun) call(stop <-chan struct{}) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-stop:
			return
		}
		at := time.Now()
		_, err := r.client.CallTool(r.ctx, "price", struct{}{}, mcpclient.WithTimeout(5*time.Second))
		r.calls = append(r.calls, timed{at, time.Since(at), err})
	}
}

// checkCalls holds the calls of the outage and after it against those before. An export in the way of a call would cost
// it a timeout, or at least a connection: seconds.
func (r *outageRun) checkCalls(t *testing.T) {
	t.Helper()
	var before, since []time.Duration
	for _, c := range r.calls {
		switch {
		case c.err != nil:
			t.Errorf("a call failed %v after %s was killed: %v", c.at.Sub(r.killed), r.away.Name(), c.err)
		case c.at.Before(r.killed):
			before = append(before, c.took)
		default:
			since = append(since, c.took)
		}
	}
	if want := int((outage + calm) / pace * 8 / 10); len(since) < want {
		t.Errorf("%d calls since %s was killed, want at least %d: they came too slowly", len(since), r.away.Name(), want)
	}
	for _, q := range []struct {
		quantile float64
		limit    func(before time.Duration) time.Duration
	}{
		{0.5, func(before time.Duration) time.Duration { return 2*before + time.Millisecond }},
		{0.99, func(before time.Duration) time.Duration { return 3*before + 50*time.Millisecond }},
		{1, func(time.Duration) time.Duration { return time.Second }},
	} {
		was, is := quantile(before, q.quantile), quantile(since, q.quantile)
		t.Logf("quantile %v of a call: %v before, %v since %s was killed", q.quantile, was, is, r.away.Name())
		if limit := q.limit(was); is > limit {
			t.Errorf("quantile %v of a call was %v and is %v since %s was killed, want at most %v", q.quantile, was, is,
				r.away.Name(), limit)
		}
	}
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// checkSpans waits until Jaeger has every span that has ended, except those that may be lost.
func (r *outageRun) checkSpans(t *testing.T, mayLose func(end time.Time, r *outageRun) bool) {
	t.Helper()
	if mayLose == nil {
		mayLose = func(time.Time, *outageRun) bool { return false }
	}
	all := r.ended.all()
	if want := 2 * len(r.calls); len(all) < want {
		t.Fatalf("%d spans have ended in %d calls, want at least %d", len(all), len(r.calls), want)
	}
	wait, cancel := context.WithTimeoutCause(r.ctx, arrival, fmt.Errorf("there were %v to arrive", arrival))
	defer cancel()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		missing := r.missing(t, wait, all)
		arrived := len(all) - len(missing)
		missing = slices.DeleteFunc(missing, func(s endedSpan) bool { return mayLose(s.end, r) })
		if len(missing) == 0 {
			t.Logf("%d of %d spans arrived, the others may be lost", arrived, len(all))
			return
		}
		select {
		case <-again.C:
		case <-wait.Done():
			slices.SortFunc(missing, func(a, b endedSpan) int { return a.end.Compare(b.end) })
			first, last := missing[0].end.Sub(r.killed), missing[len(missing)-1].end.Sub(r.killed)
			t.Fatalf(
				"of %d spans %d are lost that may not be, which ended %v to %v after %s was killed (it was back after %v): %v",
				len(all), len(missing), first, last, r.away.Name(), r.backed.Sub(r.killed), context.Cause(wait))
		}
	}
}

// missing are the spans that Jaeger does not have.
func (r *outageRun) missing(t *testing.T, ctx context.Context, all map[string]endedSpan) []endedSpan {
	t.Helper()
	left := maps.Clone(all)
	for _, name := range []string{"outage-client", "outage-server"} {
		traces, err := r.stack.Traces.Find(ctx, jaeger.Query{Service: name, Since: r.begun.Add(-time.Minute), Limit: 100_000})
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		for _, tr := range traces {
			for _, s := range tr.Spans {
				delete(left, s.ID)
			}
		}
	}
	return slices.Collect(maps.Values(left))
}

// recorder is a span processor that takes down which spans have ended and are to be exported.
type recorder struct {
	mu    sync.Mutex
	spans map[string]endedSpan // by id; guarded by mu
}

type endedSpan struct {
	name string
	end  time.Time
}

func (r *recorder) all() map[string]endedSpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.spans)
}

func (r *recorder) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (r *recorder) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spans == nil {
		r.spans = map[string]endedSpan{}
	}
	r.spans[s.SpanContext().SpanID().String()] = endedSpan{s.Name(), s.EndTime()}
}

func (r *recorder) Shutdown(context.Context) error   { return nil }
func (r *recorder) ForceFlush(context.Context) error { return nil }
