package tailsampling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Defaults of [Options].
const (
	DefaultSlow     = 5 * time.Second
	DefaultMaxBytes = 1 << 20
)

// Options configures a [Sampling]. The zero value exports only kept spans and the spans around them.
type Options struct {
	// Ratio is the part of the traces that are exported whatever their outcome, from 0 to 1. It applies to traces that
	// start in this process. For other traces, the decision of their first process counts.
	Ratio float64

	// Slow is the duration from which the span of an MCP method is kept, unless the request waits for a person, a task
	// or news. Client and server each measure their own span. Zero means DefaultSlow. A negative value disables the rule.
	Slow time.Duration

	// MaxBytes bounds the memory for held spans and for the data about open spans. Zero means DefaultMaxBytes, which is
	// enough for a thousand calls in flight if half of them have an ended span below them: an open span takes 176 bytes,
	// in addition to the SDK's memory; a held span takes 500 bytes and its attributes, events and links. Open spans take
	// at most half of MaxBytes; if they need more, the oldest are removed.
	MaxBytes int64
}

// Stats counts spans. All counts except Sampled are for traces that the ratio did not choose.
type Stats struct {
	Sampled uint64 // passed on because their trace is sampled
	Kept    uint64 // passed on because they, or spans around them, were kept
	Dropped uint64 // not passed on after their outcome was known
	Evicted uint64 // not passed on because memory ran short, before the outcome of the spans around them was known

	HeldBytes int64 // memory of held spans and of the data about open spans, now
}

// Sampling is a sampler and a span processor for one SDK. Its methods are safe for concurrent use.
type Sampling struct {
	slow      time.Duration
	threshold uint64 // a trace is sampled if its randomness is at least threshold
	ot        string // the threshold in tracestate
	ratio     float64

	sampled, kept atomic.Uint64 // as in Stats

	mu     sync.Mutex
	forest *forest[sdktrace.ReadOnlySpan] // guarded by mu
}

// New returns a Sampling, or an error if an option is invalid.
func New(o Options) (*Sampling, error) {
	switch {
	case math.IsNaN(o.Ratio) || o.Ratio < 0 || o.Ratio > 1:
		return nil, fmt.Errorf("tailsampling: the ratio %v is not between 0 and 1", o.Ratio)
	case o.MaxBytes < 0:
		return nil, errors.New("tailsampling: MaxBytes is negative")
	}
	if o.Slow == 0 {
		o.Slow = DefaultSlow
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	s := &Sampling{slow: o.Slow, ratio: o.Ratio, forest: newForest[sdktrace.ReadOnlySpan](o.MaxBytes)}
	s.threshold, s.ot = thresholdOf(o.Ratio)
	return s, nil
}

// Stats returns the counts so far.
func (s *Sampling) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{s.sampled.Load(), s.kept.Load(), s.forest.dropped, s.forest.evicted, s.forest.bytes}
}

// Sampler returns the sampler for [sdktrace.WithSampler]. It makes the SDK record unsampled spans, for
// [Sampling.Processor]: the SDK needs both.
func (s *Sampling) Sampler() sdktrace.Sampler { return sampler{s} }

// Processor returns the span processor to register with the SDK. It passes exported spans to the next processors, and
// its Shutdown also shuts down these processors. When a span fails, Processor passes on all spans of the failure at
// once, the failed span first. A batch processor drops spans that exceed its queue, so add [Sampling.Burst] to its
// size. Call Processor once.
func (s *Sampling) Processor(next ...sdktrace.SpanProcessor) sdktrace.SpanProcessor {
	return &processor{s, next}
}

// Burst returns the largest number of spans that are passed on at once.
func (s *Sampling) Burst() int { return int(s.forest.max / spanBytes) }

// ExemplarFilter returns a filter for the metrics SDK. Exemplars then refer to exported spans: sampled and kept ones.
func (s *Sampling) ExemplarFilter() exemplar.Filter {
	return func(ctx context.Context) bool {
		span := trace.SpanFromContext(ctx)
		if span.SpanContext().IsSampled() {
			return true
		}
		recorded, ok := span.(sdktrace.ReadOnlySpan)
		return ok && s.keeps(recorded)
	}
}

// keeps reports whether a span is exported for its outcome. Before its end, only an error counts.
func (s *Sampling) keeps(span sdktrace.ReadOnlySpan) bool {
	if span.Status().Code == codes.Error {
		return true
	}
	end := span.EndTime()
	if end.IsZero() {
		return false
	}
	method, failed := "", false
	for _, a := range span.Attributes() {
		switch a.Key {
		case names.KeyMCPMethodName:
			method = a.Value.AsString()
		case names.KeyErrorType, names.KeyMCPClientSendRetries:
			failed = true
		case names.KeyRPCResponseStatusCode:
			failed = failed || span.SpanKind() == trace.SpanKindServer
		}
	}
	slow := s.slow > 0 && end.Sub(span.StartTime()) >= s.slow && !slices.Contains(words.WaitingMethods, method)
	return method != "" && (failed || slow)
}

// A sampler decides by the trace id, since no outcome is known. Unsampled spans are recorded.
type sampler struct{ *Sampling }

// ShouldSample implements [sdktrace.Sampler].
func (s sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	parent := trace.SpanContextFromContext(p.ParentContext)
	state := parent.TraceState()
	if parent.IsRemote() {
		state = arriving(parent)
	}
	switch {
	case s.follows(parent, p.Links):
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample, Tracestate: withThreshold(state, always)}
	case parent.IsSampled():
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample, Tracestate: state}
	case !parent.IsValid() && randomness(p.TraceID) >= s.threshold:
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample, Tracestate: withThreshold(state, s.ot)}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly, Tracestate: state}
}

// follows reports whether the parent is a kept span of this process that has ended, or a link names a kept span.
// Spans that only a peer names do not count.
func (s sampler) follows(parent trace.SpanContext, links []trace.Link) bool {
	if !parent.IsValid() && len(links) == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range links {
		if !l.SpanContext.IsRemote() && s.forest.kept.has(keyOf(l.SpanContext)) {
			return true
		}
	}
	return s.forest.kept.has(keyOf(parent))
}

// Description implements [sdktrace.Sampler].
func (s sampler) Description() string {
	return "mcpotel.tailsampling{" + strconv.FormatFloat(s.ratio, 'g', -1, 64) + "}"
}

type processor struct {
	*Sampling
	next []sdktrace.SpanProcessor
}

// OnStart implements [sdktrace.SpanProcessor].
func (p *processor) OnStart(ctx context.Context, span sdktrace.ReadWriteSpan) {
	for _, n := range p.next {
		n.OnStart(ctx, span)
	}
	own, parent := span.SpanContext(), span.Parent()
	switch {
	case !own.IsSampled():
		p.mu.Lock()
		p.forest.start(keyOf(own), keyOf(parent))
		p.mu.Unlock()
	case parent.IsValid() && !parent.IsSampled() && !parent.IsRemote():
		p.mu.Lock()
		company := p.forest.accompany(keyOf(parent))
		p.mu.Unlock()
		p.accompany(company)
	}
}

// OnEnd implements [sdktrace.SpanProcessor].
func (p *processor) OnEnd(span sdktrace.ReadOnlySpan) {
	key, keep := keyOf(span.SpanContext()), p.keeps(span)
	threshold := unknown
	if keep {
		threshold = always
	}
	if span.SpanContext().IsSampled() {
		p.sampled.Add(1)
		if keep {
			p.mu.Lock()
			p.forest.kept.add(key)
			p.mu.Unlock()
			span = exported(span, threshold)
		}
		p.pass(span)
		return
	}
	bytes := sizeOf(span)
	p.mu.Lock()
	self, company := p.forest.end(key, span, bytes, keep)
	p.mu.Unlock()
	if self { // first, since the next processors may not have room for all
		p.kept.Add(1)
		p.pass(exported(span, threshold))
	}
	p.accompany(company)
}

// accompany passes on spans that are exported with a kept span.
func (p *processor) accompany(spans []sdktrace.ReadOnlySpan) {
	p.kept.Add(uint64(len(spans)))
	for _, span := range spans {
		p.pass(exported(span, unknown))
	}
}

func (p *processor) pass(span sdktrace.ReadOnlySpan) {
	for _, n := range p.next {
		n.OnEnd(span)
	}
}

// Shutdown implements [sdktrace.SpanProcessor]. It drops the held spans, whose calls have not failed so far.
func (p *processor) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.forest.clear()
	p.mu.Unlock()
	return p.each(func(n sdktrace.SpanProcessor) error { return n.Shutdown(ctx) })
}

// ForceFlush implements [sdktrace.SpanProcessor]. Held spans stay.
func (p *processor) ForceFlush(ctx context.Context) error {
	return p.each(func(n sdktrace.SpanProcessor) error { return n.ForceFlush(ctx) })
}

func (p *processor) each(do func(sdktrace.SpanProcessor) error) error {
	var errs []error
	for _, n := range p.next {
		errs = append(errs, do(n))
	}
	return errors.Join(errs...)
}

// A sampledSpan is an exported span that was not sampled when it started, or that has another threshold.
type sampledSpan struct {
	sdktrace.ReadOnlySpan
	context trace.SpanContext
}

func exported(span sdktrace.ReadOnlySpan, threshold string) sampledSpan {
	sc := span.SpanContext()
	return sampledSpan{span, sc.WithTraceFlags(sc.TraceFlags() | trace.FlagsSampled).
		WithTraceState(withThreshold(sc.TraceState(), threshold))}
}

// SpanContext implements [sdktrace.ReadOnlySpan].
func (s sampledSpan) SpanContext() trace.SpanContext { return s.context }

// Sizes in memory, without the parts that depend on the content.
const (
	spanBytes      = 496 // a held span with its item
	attributeBytes = 64
	eventBytes     = 96
	linkBytes      = 128
	memberBytes    = 32 // a member of a tracestate
)

// sizeOf estimates the memory of an ended span, in bytes.
func sizeOf(span sdktrace.ReadOnlySpan) int64 {
	n := int64(spanBytes+len(span.Name())+len(span.Status().Description)) + sizeOfAll(span.Attributes()) +
		sizeOfState(span.SpanContext().TraceState())
	for _, e := range span.Events() {
		n += eventBytes + int64(len(e.Name)) + sizeOfAll(e.Attributes)
	}
	for _, l := range span.Links() {
		n += linkBytes + sizeOfAll(l.Attributes) + sizeOfState(l.SpanContext.TraceState())
	}
	return n
}

// sizeOfAll does not count keys, which are usually constants that many spans share.
func sizeOfAll(attrs []attribute.KeyValue) (n int64) {
	n = attributeBytes * int64(cap(attrs))
	for _, a := range attrs {
		switch a.Value.Type() {
		case attribute.STRING:
			n += int64(len(a.Value.AsString()))
		case attribute.BOOL, attribute.INT64, attribute.FLOAT64:
		case attribute.MAP:
			n += sizeOfAll(a.Value.AsMap())
		default:
			n += int64(len(a.Value.String()))
		}
	}
	return n
}

func sizeOfState(state trace.TraceState) (n int64) {
	state.Walk(func(key, value string) bool {
		n += memberBytes + int64(len(key)+len(value))
		return true
	})
	return n
}
