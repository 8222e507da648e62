package tailsampling_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// An sdk is the SDK of one process.
type sdk struct {
	trace.Tracer
	*tailsampling.Sampling
	exported *tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider
}

func newSDK(t testing.TB, o tailsampling.Options) *sdk {
	t.Helper()
	s, err := tailsampling.New(o)
	if err != nil {
		t.Fatal(err)
	}
	exported := tracetest.NewInMemoryExporter()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(s.Sampler()),
		sdktrace.WithSpanProcessor(s.Processor(sdktrace.NewSimpleSpanProcessor(exported))))
	return &sdk{tp.Tracer("test"), s, exported, tp}
}

// names returns the exported spans with their thresholds, as "failing:0" or "around:".
func (s *sdk) names() (all []string) {
	for _, span := range s.exported.GetSpans() {
		th := ""
		for part := range strings.SplitSeq(span.SpanContext.TraceState().Get("ot"), ";") {
			if v, ok := strings.CutPrefix(part, "th:"); ok {
				th = v
			}
		}
		if !span.SpanContext.IsSampled() {
			th += " unsampled"
		}
		all = append(all, span.Name+":"+th)
	}
	return all
}

func (s *sdk) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := s.names(); !slices.Equal(got, want) {
		t.Errorf("want exports %q, got %q", want, got)
	}
}

func fail(span trace.Span) {
	span.SetStatus(codes.Error, "")
	span.End()
}

func TestFailedSpanIsExportedWithSpansAboveAndBelow(t *testing.T) {
	s := newSDK(t, tailsampling.Options{})
	ctx, agent := s.Start(t.Context(), "agent")
	_, fine := s.Start(ctx, "fine")
	fine.End()
	callCtx, call := s.Start(ctx, "call")
	_, post := s.Start(callCtx, "post")
	post.End()
	s.expect(t)
	fail(call)
	s.expect(t, "call:0", "post:")
	agent.End()
	s.expect(t, "call:0", "post:", "agent:")
	if got, want := s.Stats(), (tailsampling.Stats{Kept: 3, Dropped: 1}); got != want {
		t.Errorf("want stats %+v, got %+v", want, got)
	}
}

func TestEndedSpansAboveFailedSpanAreExported(t *testing.T) {
	s := newSDK(t, tailsampling.Options{})
	ctx, outer := s.Start(t.Context(), "outer")
	ctx, request := s.Start(ctx, "request")
	_, work := s.Start(ctx, "work")
	request.End()
	fail(work)
	outer.End()
	s.expect(t, "work:0", "request:", "outer:")
}

// The work of a task outlives its request, so the spans of the request are held until the task ends.
func TestRequestIsHeldWhileItsTaskRuns(t *testing.T) {
	s := newSDK(t, tailsampling.Options{})
	ctx, request := s.Start(t.Context(), "request")
	_, query := s.Start(ctx, "query")
	query.End()
	_, task := s.Start(ctx, "task")
	request.End()
	fail(task)
	s.expect(t, "task:0", "request:")
	if got, want := s.Stats(), (tailsampling.Stats{Kept: 2, Dropped: 1}); got != want {
		t.Errorf("want stats %+v, got %+v", want, got)
	}
}

func TestRequestAttributesDecideExport(t *testing.T) {
	for _, at := range []struct {
		name string
		slow time.Duration
		kind trace.SpanKind
		attr attrs
		took time.Duration
		want []string
	}{
		{"slow", time.Second, trace.SpanKindClient, method("tools/call"), time.Second, []string{"it:0"}},
		{"quick", time.Second, trace.SpanKindClient, method("tools/call"), time.Second - 1, nil},
		{"on the server", time.Second, trace.SpanKindServer, method("tools/call"), time.Minute, []string{"it:0"}},
		{"by default", 0, trace.SpanKindServer, method("tools/call"), tailsampling.DefaultSlow, []string{"it:0"}},
		{"not at all", -1, trace.SpanKindServer, method("tools/call"), time.Hour, nil},
		{"a request to a person", time.Second, trace.SpanKindClient, method("elicitation/create"), time.Hour, nil},
		{"a subscription", time.Second, trace.SpanKindClient, method("subscriptions/listen"), time.Hour, nil},
		{"sent again", time.Second, trace.SpanKindClient, method("ping", attribute.Int("mcp_client.send.retries", 1)), 0,
			[]string{"it:0"}},
		{"the caller's span of a failed call", time.Second, trace.SpanKindInternal,
			method("tools/call", attribute.String("error.type", "timeout")), 0, []string{"it:0"}},
		{"refused by the server", time.Second, trace.SpanKindServer, method("tools/call", code("-32602")), 0,
			[]string{"it:0"}},
		{"a refused probe", time.Second, trace.SpanKindClient, method("server/discover", code("-32601")), 0, nil},
		{"gRPC", time.Second, trace.SpanKindServer, attrs{code("OK")}, time.Hour, nil},
	} {
		t.Run(at.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSDK(t, tailsampling.Options{Slow: at.slow})
				_, span := s.Start(t.Context(), "it", trace.WithSpanKind(at.kind), trace.WithAttributes(at.attr...))
				time.Sleep(at.took)
				span.End()
				s.expect(t, at.want...)
			})
		})
	}
}

type attrs []attribute.KeyValue

func method(m string, more ...attribute.KeyValue) attrs {
	return append(attrs{attribute.String("mcp.method.name", m)}, more...)
}

func code(c string) attribute.KeyValue { return attribute.String("rpc.response.status_code", c) }

func TestSpanStartedAfterFailureIsSampledFromStart(t *testing.T) {
	s := newSDK(t, tailsampling.Options{})
	ctx, around := s.Start(t.Context(), "around")
	firstCtx, first := s.Start(ctx, "first")
	fail(first)
	_, cancelled := s.Start(firstCtx, "after")
	cancelled.End()
	_, again := s.Start(ctx, "again", trace.WithLinks(trace.Link{SpanContext: first.SpanContext()}))
	if !cancelled.SpanContext().IsSampled() || !again.SpanContext().IsSampled() {
		t.Error("want the following span sampled, so that the other end keeps its part")
	}
	again.End()
	around.End()
	s.expect(t, "first:0", "after:0", "again:0", "around:")

	remote := first.SpanContext().WithRemote(true)
	_, claimed := s.Start(t.Context(), "claimed", trace.WithLinks(trace.Link{SpanContext: remote}))
	if claimed.SpanContext().IsSampled() {
		t.Error("want no sampling because a peer names a kept span")
	}
}

// A span that follows a failure has the threshold zero in every trace, so that counts by threshold are right.
func TestSpanStartedAfterFailureHasThresholdZero(t *testing.T) {
	s := newSDK(t, tailsampling.Options{Ratio: 1})
	_, first := s.Start(t.Context(), "first")
	fail(first)
	_, again := s.Start(t.Context(), "again", trace.WithLinks(trace.Link{SpanContext: first.SpanContext()}))
	again.End()
	s.expect(t, "first:0", "again:0")
}

// Of many traces, the part that the ratio chooses is exported at once, with its threshold. Failures in these traces
// have the threshold zero.
func TestSampledSpansAreExportedAtEnd(t *testing.T) {
	const n = 8000
	s := newSDK(t, tailsampling.Options{Ratio: .25})
	for range n {
		ctx, call := s.Start(t.Context(), "call")
		_, post := s.Start(ctx, "post")
		post.End()
		call.End()
	}
	for _, name := range s.names() {
		if !strings.HasSuffix(name, ":c") { // a quarter is from 0xc0000000000000 on
			t.Fatalf("want the threshold c for a quarter, got %s", name)
		}
	}
	if got := float64(len(s.names())) / (2 * n); math.Abs(got-.25) > .02 {
		t.Errorf("want a quarter exported, got %v", got)
	}
	if st := s.Stats(); st.HeldBytes != 0 || st.Kept != 0 || st.Evicted != 0 || st.Sampled+st.Dropped != 2*n {
		t.Errorf("want each of %d spans sampled or dropped, got %+v", 2*n, st)
	}

	s = newSDK(t, tailsampling.Options{Ratio: 1})
	ctx, call := s.Start(t.Context(), "call")
	_, post := s.Start(ctx, "post")
	fail(post)
	call.End()
	s.expect(t, "post:0", "call:0")
}

// A server exports its part of a trace if the client exports its part, whatever the server's own ratio.
func TestBothEndsSampleSameTraces(t *testing.T) {
	client, server := newSDK(t, tailsampling.Options{Ratio: .1}), newSDK(t, tailsampling.Options{Ratio: .9})
	for range 2000 {
		ctx, call := client.Start(t.Context(), "call")
		remote := trace.ContextWithRemoteSpanContext(context.Background(), call.SpanContext())
		_, handler := server.Start(remote, "handler")
		handler.End()
		call.End()
		_ = ctx
	}
	of := func(s *sdk) (ids []string) {
		for _, span := range s.exported.GetSpans() {
			ids = append(ids, span.SpanContext.TraceID().String()+span.SpanContext.TraceState().String())
		}
		return ids
	}
	if c, s := of(client), of(server); len(c) == 0 || !slices.Equal(c, s) {
		t.Errorf("want the same traces from both ends, with the same threshold, got %d and %d", len(c), len(s))
	}
}

func TestValidPeerTracestateIsPassedOn(t *testing.T) {
	id := trace.TraceID{8: 0x12, 9: 0x40} // randomness 0x40000000000000
	long := strings.Repeat("x", 234)
	for _, at := range []struct {
		name, ot      string
		sampled       bool
		passed, count string // tracestate for the next process, and tracestate of a failed span
	}{
		{"no sampling fields", "", true, "", "th:0"},
		{"a threshold below the randomness", "th:4", true, "th:4", "th:0"},
		{"a threshold above the randomness", "th:41", true, "", "th:0"},
		{"explicit randomness", "th:8;rv:80000000000000", true, "th:8;rv:80000000000000", "th:0;rv:80000000000000"},
		{"too little randomness", "th:8;rv:7fffffffffffff", true, "rv:7fffffffffffff", "th:0;rv:7fffffffffffff"},
		{"an invalid threshold", "th:zz", true, "", "th:0"},
		{"too many digits", "th:000000000000001", true, "", "th:0"},
		{"not sampled", "th:4;rv:80000000000000", false, "rv:80000000000000", "th:0;rv:80000000000000"},
		{"no room for another entry", "rv:80000000000000;a:" + long, false, "rv:80000000000000;a:" + long,
			"th:0;rv:80000000000000"},
	} {
		state, err := trace.TraceState{}.Insert("vendor", "x")
		if at.ot != "" && err == nil {
			state, err = state.Insert("ot", at.ot)
		}
		if err != nil {
			t.Fatal(err)
		}
		parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}, TraceState: state})
		if at.sampled {
			parent = parent.WithTraceFlags(trace.FlagsSampled)
		}
		s := newSDK(t, tailsampling.Options{})
		_, span := s.Start(trace.ContextWithRemoteSpanContext(t.Context(), parent), "call")
		if got := span.SpanContext().TraceState(); got.Get("ot") != at.passed || got.Get("vendor") != "x" {
			t.Errorf("%s: want %q and the entries of others, got %q", at.name, at.passed, got)
		}
		fail(span)
		if got := s.exported.GetSpans()[0].SpanContext.TraceState().Get("ot"); got != at.count {
			t.Errorf("%s: want tracestate %q of a failed span, got %q", at.name, at.count, got)
		}
	}
}

func TestHeldSpansAreBounded(t *testing.T) {
	const bound = 64 << 10
	s := newSDK(t, tailsampling.Options{MaxBytes: bound})
	ctx, session := s.Start(t.Context(), "session")
	for range 1000 {
		_, call := s.Start(ctx, "call", trace.WithAttributes(attribute.String("text", strings.Repeat("x", 500))))
		call.End()
		if held := s.Stats().HeldBytes; held > bound {
			t.Fatalf("want at most %d held bytes, got %d", bound, held)
		}
	}
	fail(session)
	st := s.Stats()
	if st.Evicted == 0 || st.Kept != uint64(len(s.names())) || st.Kept+st.Evicted != 1001 || st.HeldBytes != 0 {
		t.Errorf("want spans without room evicted and all others exported, got %+v and %d", st, len(s.names()))
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]tailsampling.Options{
		"tailsampling: the ratio -1 is not between 0 and 1":  {Ratio: -1},
		"tailsampling: the ratio 2 is not between 0 and 1":   {Ratio: 2},
		"tailsampling: the ratio NaN is not between 0 and 1": {Ratio: math.NaN()},
		"tailsampling: MaxBytes is negative":                 {MaxBytes: -1},
	} {
		if _, err := tailsampling.New(o); err == nil || err.Error() != want {
			t.Errorf("want error %q, got %v", want, err)
		}
	}
}

func TestExemplarsReferToExportedSpans(t *testing.T) {
	s := newSDK(t, tailsampling.Options{})
	filter := s.ExemplarFilter()
	ctx, fine := s.Start(t.Context(), "fine")
	if filter(ctx) || filter(t.Context()) {
		t.Error("want no exemplar of a span that is not exported")
	}
	fine.End()
	ctx, failing := s.Start(t.Context(), "failing")
	fail(failing)
	if !filter(ctx) {
		t.Error("want an exemplar of a failed span")
	}
	all := newSDK(t, tailsampling.Options{Ratio: 1})
	ctx, sampled := all.Start(t.Context(), "sampled")
	if !all.ExemplarFilter()(ctx) {
		t.Error("want an exemplar of a sampled span")
	}
	sampled.End()
}

func TestMetricCountsEvictedSpans(t *testing.T) {
	s := newSDK(t, tailsampling.Options{MaxBytes: 1})
	reader := sdkmetric.NewManualReader()
	if err := s.Observe(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))); err != nil {
		t.Fatal(err)
	}
	_, span := s.Start(t.Context(), "failing")
	fail(span)
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	values := map[string]int64{}
	for _, p := range got.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints {
		reason, _ := p.Attributes.Value("error.type")
		values[reason.AsString()] = p.Value
	}
	if want := map[string]int64{"": 1, "queue_full": 0}; !maps.Equal(values, want) {
		t.Errorf("want processed spans %v, got %v", want, values)
	}
}

func TestSamplingIsSafeForConcurrentUse(t *testing.T) {
	s := newSDK(t, tailsampling.Options{Ratio: .5, MaxBytes: 8 << 10})
	const callers, calls = 8, 200
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			ctx, session := s.Start(context.Background(), "session")
			for i := range calls {
				callCtx, call := s.Start(ctx, "call")
				_, post := s.Start(callCtx, "post")
				post.End()
				if i%10 == 0 {
					fail(call)
				} else {
					call.End()
				}
				s.Stats()
			}
			session.End()
		})
	}
	all.Wait()
	st := s.Stats()
	if got := st.Sampled + st.Kept + st.Dropped + st.Evicted; got != callers*(1+2*calls) || st.HeldBytes != 0 {
		t.Errorf("want each of %d spans counted once, got %d: %+v", callers*(1+2*calls), got, st)
	}
	failed := 0
	for _, span := range s.exported.GetSpans() {
		if span.Status.Code == codes.Error {
			failed++
		}
	}
	if failed != callers*calls/10 {
		t.Errorf("want all %d failures exported, got %d", callers*calls/10, failed)
	}
}

func TestShutdownAndFlushReachNextProcessors(t *testing.T) {
	s := newSDK(t, tailsampling.Options{})
	_, span := s.Start(t.Context(), "call")
	fail(span)
	if err := s.provider.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	s.expect(t, "call:0")
	_, open := s.Start(t.Context(), "open")
	defer open.End()
	if err := s.provider.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if held := s.Stats().HeldBytes; held != 0 {
		t.Errorf("want no held spans after the shutdown, got %d bytes", held)
	}
	if n := len(s.exported.GetSpans()); n != 0 { // the exporter drops its spans at its shutdown
		t.Errorf("want the next processor shut down, got %d spans", n)
	}
}
