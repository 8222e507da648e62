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
	calm   = 5 * time.Second       // traffic before the outage, for comparison
	outage = 30 * time.Second      // duration of an outage
	pace   = 25 * time.Millisecond // interval between calls

	arrival = 40 * time.Second // time until the last span is in Jaeger; queues and connections retry after 5 s
)

// TestOutagesLoseNoSpans stops each part of the way to Jaeger for 30 s, abruptly, while a client calls a server 40
// times a second. No call may fail or become slower, and no span may be lost.
//
// Each outage has its own stack, so all outages run at the same time.
func TestOutagesLoseNoSpans(t *testing.T) {
	ctx := limit(t, 5*time.Minute)
	// The service is responsible for data that the agent has not acknowledged: it must retry long enough, and have space
	// for new data meanwhile. With the SDK's defaults, an export fails after 10 s.
	patient := map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "90000", "OTEL_BSP_EXPORT_TIMEOUT": "90000",
		"OTEL_BSP_MAX_QUEUE_SIZE": "8192"}
	outages := []struct {
		name string
		away func(*stack.Stack) *stack.Process
		env  map[string]string // variables of the service

		// meanwhile runs in the middle of the outage; may be nil.
		meanwhile func(*stack.Stack) error
		// graceful means that the process is also stopped gracefully after the outage, which must not lose data either.
		graceful bool
		// mayLose reports whether a span may be lost, by its end time. Nil means that none may.
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
			// Data that the gateway has acknowledged but not judged is lost with its memory: a batch, and traces with errors
			// that wait for the rate limit, for one second and one tick of its sampler.
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
	var playing sync.WaitGroup // t.Parallel would run no more tests at once than there are cores
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

// within1s reports whether t lies between from and to, or up to a second before from.
func within1s(t, from, to time.Time) bool { return t.After(from.Add(-time.Second)) && t.Before(to) }

// outageRun is a client, a server, their stack, and the process that is stopped.
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

// newOutageRun connects a client to a server. The variables in env are set while their exporters are created.
func newOutageRun(t *testing.T, ctx context.Context, s *stack.Stack, away *stack.Process,
	env map[string]string) *outageRun {
	t.Helper()
	r := &outageRun{ctx: ctx, stack: s, away: away}
	for name, value := range env { // t.Setenv would also affect the other services
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

// telemetry returns the telemetry of a service. The run records the service's ended spans.
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

// play generates traffic before, during and after the outage. It runs in a goroutine other than the test's, so it must
// not end the test.
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

// call makes calls at the pace until stop is closed.
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

// checkCalls compares the calls during and after the outage with those before. If an export blocked a call, the call
// would take at least as long as a timeout or a new connection: seconds.
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

// checkSpans waits until Jaeger has every ended span, except those that may be lost.
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

// missing returns the spans that Jaeger does not have.
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

// recorder is a span processor that records the ended, sampled spans.
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
