package load

import (
	"context"
	"errors"
	"iter"
	"net/http/httptest"

	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// TracesOfBatch is the number of traces in one export of the client. The server's spans are a second request. Like a
// batch of the SDK, a request has at most 512 spans.
const TracesOfBatch = 256

// failuresOfBatch is the number of failed calls in a batch: about one in a hundred.
const failuresOfBatch = 3

const clientService, serverService = "load-client", "load-server"

// maxSpansOfTrace is the space for one trace in the numbers of spans.
const maxSpansOfTrace = 8

// A Load is a set of requests to send repeatedly, with new ids each time.
type Load struct {
	requests []template // one for each process, with its part of a batch of traces
	others   []other    // requests with metrics and logs, sent unchanged
	spans    int        // spans of a batch
	bytes    int        // bytes of a batch
}

// SpansOfTrace returns the mean number of spans in a trace.
func (l *Load) SpansOfTrace() float64 { return float64(l.spans) / TracesOfBatch }

// BytesOfSpan returns the mean size of a span in a request.
func (l *Load) BytesOfSpan() float64 { return float64(l.bytes) / float64(l.spans) }

// Record makes a successful and a failed call, and keeps the exports of client and server.
func Record(ctx context.Context) (*Load, error) {
	var kept []*tracepb.ResourceSpans // written by the receiver until it is closed
	r, err := receive("127.0.0.1:0", func(all []*tracepb.ResourceSpans) { kept = append(kept, all...) })
	if err != nil {
		return nil, err
	}
	err = call(ctx, r.address)
	r.Close()
	if err != nil {
		return nil, err
	}
	l, err := newLoad(kept)
	if err != nil {
		return nil, err
	}
	for method, request := range map[string]proto.Message{
		metrics.MetricsService_Export_FullMethodName: r.metrics, logs.LogsService_Export_FullMethodName: r.logs,
	} {
		text, err := proto.Marshal(request)
		if err != nil {
			return nil, err
		}
		l.others = append(l.others, other{method: method, text: text})
	}
	return l, nil
}

// other is a request without spans.
type other struct {
	method string
	text   []byte
}

// newLoad creates a load from the exports of the two processes.
func newLoad(exported []*tracepb.ResourceSpans) (*Load, error) {
	fine, failed := traceOf(exported, "work add"), traceOf(exported, "work fail")
	if len(fine.places) == 0 || len(failed.places) == 0 {
		return nil, errors.New("the recorded calls have no spans")
	}
	l := &Load{}
	for _, service := range []string{clientService, serverService} {
		request := &collector.ExportTraceServiceRequest{}
		for i := range TracesOfBatch {
			t := fine
			if i < failuresOfBatch {
				t = failed
			}
			t.add(request, exported, service, i)
		}
		t, err := newTemplate(request)
		if err != nil {
			return nil, err
		}
		l.requests = append(l.requests, t)
		l.spans += t.spans
		l.bytes += len(t.text)
	}
	return l, nil
}

// call makes the two calls, each under a caller's span.
func call(ctx context.Context, endpoint string) (err error) {
	var exporting []*otlp.Providers
	defer func() {
		for _, p := range exporting {
			err = errors.Join(err, p.Shutdown(ctx))
		}
	}()
	for _, name := range []string{clientService, serverService} {
		p, err := otlp.Setup(ctx, otlp.WithServiceName(name), otlp.WithEndpoint(endpoint), otlp.WithGlobals(false),
			otlp.WithConsole(nil, nil))
		if err != nil {
			return err
		}
		exporting = append(exporting, p)
	}
	h := shop.New(exporting[1]).HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	defer func() { err = errors.Join(err, h.Shutdown(ctx)) }()
	web := httptest.NewServer(h)
	defer web.Close()
	c, err := mcpclient.Connect(ctx, &transport.HTTP{URL: web.URL + "/mcp", Mode: transport.ModeStreamable},
		&mcpclient.Options{Name: "load", Telemetry: exporting[0].Telemetry()})
	if err != nil {
		return err
	}
	for _, tool := range []string{"add", "fail"} {
		ctx, span := exporting[0].TracerProvider().Tracer("load").Start(ctx, "work "+tool)
		_, _ = c.CallTool(ctx, tool, map[string]any{"a": 1, "b": 2}) // the spans show the result
		span.End()
	}
	return c.Close()
}

// recorded is one exported trace.
type recorded struct {
	id     string
	places map[string]int // index of each span by its id
}

// traceOf returns the trace that contains a span of this name.
func traceOf(exported []*tracepb.ResourceSpans, name string) recorded {
	t := recorded{places: map[string]int{}}
	for span := range spansOf(exported) {
		if span.GetName() == name {
			t.id = string(span.GetTraceId())
		}
	}
	for span := range spansOf(exported) {
		if string(span.GetTraceId()) == t.id {
			t.places[string(span.GetSpanId())] = len(t.places)
		}
	}
	return t
}

func spansOf(exported []*tracepb.ResourceSpans) iter.Seq[*tracepb.Span] {
	return func(yield func(*tracepb.Span) bool) {
		for _, resource := range exported {
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					if !yield(span) {
						return
					}
				}
			}
		}
	}
}

// add adds a service's part of the trace to a request, as trace number i of the batch.
func (t recorded) add(request *collector.ExportTraceServiceRequest, exported []*tracepb.ResourceSpans, service string,
	i int) {
	for _, resource := range exported {
		if serviceOf(resource) != service {
			continue
		}
		if len(request.ResourceSpans) == 0 {
			request.ResourceSpans = []*tracepb.ResourceSpans{{Resource: resource.GetResource(),
				SchemaUrl: resource.GetSchemaUrl()}}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				if string(span.GetTraceId()) != t.id {
					continue
				}
				span := proto.CloneOf(span)
				span.TraceId = placeOfTrace(i)
				span.SpanId = placeOfSpan(i, t.places[string(span.GetSpanId())])
				if parent, ok := t.places[string(span.GetParentSpanId())]; ok {
					span.ParentSpanId = placeOfSpan(i, parent)
				}
				within := scopeIn(request.ResourceSpans[0], scope)
				within.Spans = append(within.Spans, span)
			}
		}
	}
}

// scopeIn returns the element of resource for spans with this scope.
func scopeIn(resource *tracepb.ResourceSpans, of *tracepb.ScopeSpans) *tracepb.ScopeSpans {
	for _, s := range resource.GetScopeSpans() {
		if proto.Equal(s.GetScope(), of.GetScope()) {
			return s
		}
	}
	s := &tracepb.ScopeSpans{Scope: of.GetScope(), SchemaUrl: of.GetSchemaUrl()}
	resource.ScopeSpans = append(resource.ScopeSpans, s)
	return s
}

func serviceOf(resource *tracepb.ResourceSpans) string {
	for _, a := range resource.GetResource().GetAttributes() {
		if a.GetKey() == "service.name" {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}
