package instrument_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/contrib/propagators/b3"
	"go.opentelemetry.io/contrib/propagators/ot"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/testsupport/propagators"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

var overHTTP = instrument.Network{Transport: "tcp", Protocol: "http", Address: "127.0.0.1", Port: 80}

// writer is a propagator that writes the configured fields.
type writer map[string]string

func (w writer) Inject(_ context.Context, c propagation.TextMapCarrier) {
	for _, key := range slices.Sorted(maps.Keys(w)) {
		c.Set(key, w[key])
	}
}
func (w writer) Extract(ctx context.Context, _ propagation.TextMapCarrier) context.Context {
	return ctx
}
func (w writer) Fields() []string { return slices.Sorted(maps.Keys(w)) }

// written returns the trace context that a propagator writes into a request over a network.
func written(
	t *testing.T, ctx context.Context, n instrument.Network, opts ...telemetry.Option,
) instrument.TraceContext {
	t.Helper()
	rec := telemetrytest.Recorder(t, opts...)
	c := instrument.NewClient(rec.Telemetry(), "files", n)
	defer c.Close()
	_, op := c.StartRequest(ctx, instrument.Request{Method: "ping"})
	defer op.End(instrument.Result{})
	return op.TraceContext()
}

func TestReceiverReadsFieldsOfAnyPropagator(t *testing.T) {
	for name, p := range propagators.All() {
		for _, sampled := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " sampled=", sampled), func(t *testing.T) {
				rec := telemetrytest.Recorder(t, telemetry.WithPropagators(p))
				c := instrument.NewClient(rec.Telemetry(), "files", pipe)
				s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
				defer c.Close()
				defer s.Close()
				sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 15: 2},
					SpanID: trace.SpanID{3, 7: 4}, TraceFlags: trace.TraceFlags(0).WithSampled(sampled)})
				ctx, op := c.StartRequest(trace.ContextWithSpanContext(t.Context(), sc), instrument.Request{Method: "ping"})
				callerCount := op.TraceContext()
				want := propagators.Arrives(p, trace.SpanContextFromContext(ctx))
				op.End(instrument.Result{})

				decoded := callerCount.AddTo(map[string]any{"progressToken": "t", "traceparent": "stale", "com.example/x": 1})
				raw, err := json.Marshal(decoded)
				if err != nil {
					t.Fatal(err)
				}
				asRaw := instrument.TraceContextIn(decoded)
				asRaw.Others = nil
				header := http.Header{"Accept": {"x"}}
				for key, value := range callerCount.All() {
					header.Set(key, value)
				}
				for _, in := range []instrument.Incoming{{TraceContext: instrument.TraceContextIn(decoded)},
					{TraceContext: asRaw, Meta: raw}, {Header: header, Meta: []byte(`{"progressToken":"t"}`)}} {
					in.Method, in.Known, in.ID = "ping", true, "1"
					ctx, handling := s.StartHandler(t.Context(), in)
					got := trace.SpanContextFromContext(ctx)
					handling.End(instrument.Result{})
					if got.TraceID() != want.TraceID() || got.IsSampled() != want.IsSampled() {
						t.Errorf("the handler is in %s, sampled %v, want %s, %v", got.TraceID(), got.IsSampled(),
							want.TraceID(), want.IsSampled())
					}
				}
			})
		}
	}
}

// Programs in other languages write some keys in another case.
func TestPropagatorKeysAreCaseInsensitive(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithPropagators(b3.New()))
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	in := toolRequest()
	in.Meta = []byte(`{"X-B3-TraceId":"` + remoteTrace + `","X-B3-SpanId":"\u0031` + remoteSpan[1:] +
		`","X-B3-Sampled":"1"}`)
	before := string(in.Meta)
	_, op := s.StartHandler(t.Context(), in)
	op.End(instrument.Result{})
	if got := rec.Span("tools/call add").Parent().SpanID().String(); got != remoteSpan {
		t.Errorf("got the parent %s, want %s", got, remoteSpan)
	}
	if string(in.Meta) != before {
		t.Errorf("the _meta became %s", in.Meta)
	}
}

func TestPropagatorCannotWriteReservedKeys(t *testing.T) {
	got := written(t, t.Context(), pipe, telemetry.WithPropagators(writer{
		"progressToken": "1", "io.modelcontextprotocol/logLevel": "debug", "com.example/trace": "1", "": "1", "a b": "1",
		"-a": "1", "a_": "1", "naïve": "1", "fine.1": "yes",
	}))
	if diff := cmp.Diff(map[string]string{"fine.1": "yes"}, got.Others); diff != "" {
		t.Errorf("written fields (-want +got):\n%s", diff)
	}
}

func TestPropagatorFieldsAreBounded(t *testing.T) {
	many := writer{"big": strings.Repeat("x", 9000)}
	for i := range 100 {
		many[fmt.Sprintf("k%02d", i)] = "v"
	}
	got := written(t, t.Context(), pipe, telemetry.WithPropagators(many))
	if len(got.Others) != 64 || got.Others["k63"] != "v" {
		t.Errorf("%d keys are written, want the first 64", len(got.Others))
	}
	large := writer{}
	for i := range 20 {
		large[fmt.Sprintf("k%02d", i)] = strings.Repeat("x", 1021)
	}
	if got = written(t, t.Context(), pipe, telemetry.WithPropagators(large)); len(got.Others) != 8 {
		t.Errorf("%d keys of 1 KiB are written, want 8", len(got.Others))
	}

	counting := new(counter)
	rec := telemetrytest.Recorder(t, telemetry.WithPropagators(counting))
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	in := toolRequest()
	in.Meta, _ = json.Marshal(many)
	_, op := s.StartHandler(t.Context(), in)
	op.End(instrument.Result{})
	if counting.keys != 64+3 {
		t.Errorf("%d keys are read, want 64 besides the W3C's", counting.keys)
	}
}

// counter counts the keys of the carrier.
type counter struct {
	writer
	keys int
}

func (c *counter) Extract(ctx context.Context, from propagation.TextMapCarrier) context.Context {
	c.keys = len(from.Keys())
	return ctx
}
func (c *counter) Fields() []string { return []string{"k00"} }

// Some propagators have a key for each member of the baggage.
func TestPropagatorKeysCarryOnlyConfiguredBaggageAcrossNetworks(t *testing.T) {
	bag, err := baggage.Parse("tenant=acme,user=alice")
	if err != nil {
		t.Fatal(err)
	}
	ctx := baggage.ContextWithBaggage(t.Context(), bag)
	both := map[string]string{"ot-baggage-tenant": "acme", "ot-baggage-user": "alice"}
	for _, tt := range []struct {
		n    instrument.Network
		keys []string
		want map[string]string
	}{
		{pipe, nil, both},
		{overHTTP, nil, map[string]string{}},
		{overHTTP, []string{"tenant"}, map[string]string{"ot-baggage-tenant": "acme"}},
		{overHTTP, []string{"*"}, both},
	} {
		callerCount := written(t, ctx, tt.n, telemetry.WithPropagators(ot.OT{}), telemetry.WithBaggageKeys(tt.keys...))
		members := maps.Clone(callerCount.Others)
		maps.DeleteFunc(members, func(key, _ string) bool { return !strings.HasPrefix(key, "ot-baggage-") })
		if diff := cmp.Diff(tt.want, members); diff != "" || callerCount.Others["ot-tracer-traceid"] == "" {
			t.Errorf("%v, %v: written fields (-want +got):\n%s", tt.n, tt.keys, diff)
		}
		if headers := callerCount.Headers(); len(headers) != 3 {
			t.Errorf("headers repeat %v, want the three keys of Fields", headers)
		}

		rec := telemetrytest.Recorder(t, telemetry.WithPropagators(ot.OT{}), telemetry.WithBaggageKeys(tt.keys...))
		c := instrument.NewClient(rec.Telemetry(), "files", tt.n)
		in := instrument.Incoming{Method: "roots/list", Known: true, ID: "1"}
		in.Others = map[string]string{"ot-tracer-traceid": remoteTrace[16:], "ot-tracer-spanid": remoteSpan,
			"ot-tracer-sampled": "true"}
		maps.Copy(in.Others, both)
		inside, op := c.StartHandler(t.Context(), in)
		op.End(instrument.Result{})
		c.Close()
		if got := baggage.FromContext(inside).Len(); got != len(tt.want) {
			t.Errorf("%v, %v: the handler of a client has %d members of a server's baggage, want %d", tt.n, tt.keys, got,
				len(tt.want))
		}
	}
}

func TestUntrustedSenderSpanBecomesLinkWithAnyPropagator(t *testing.T) {
	for name, p := range propagators.All() {
		t.Run(name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, telemetry.WithPropagators(p))
			s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
			defer s.Close()
			sent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{8: 1}, SpanID: trace.SpanID{2},
				TraceFlags: trace.FlagsSampled})
			c := propagation.MapCarrier{}
			p.Inject(trace.ContextWithSpanContext(t.Context(), sent), c)
			meta, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			in := toolRequest()
			in.Traceparent, in.Meta, in.Untrusted = c["traceparent"], meta, true
			_, op := s.StartHandler(t.Context(), in)
			op.End(instrument.Result{})
			span := rec.Span("tools/call add")
			links := span.Links()
			if span.Parent().IsValid() || len(links) != 1 || links[0].SpanContext.SpanID() != sent.SpanID() {
				t.Errorf("the span has the parent %v and the links %v, want only a link", span.Parent(), links)
			}
		})
	}
}

// A propagator may remove the current span if it finds no trace context.
func TestInvalidTraceContextKeepsAmbientSpan(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithPropagators(forgetful{}))
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	ctx, around := rec.TracerProvider().Tracer("test").Start(t.Context(), "POST /mcp")
	in := toolRequest()
	in.Meta = []byte(`{"a":"b"}`)
	_, op := s.StartHandler(ctx, in)
	op.End(instrument.Result{})
	around.End()
	if got := rec.Span("tools/call add").Parent().SpanID(); got != around.SpanContext().SpanID() {
		t.Errorf("got the parent %s, want the span around the handler", got)
	}
}

type forgetful struct{ writer }

func (forgetful) Extract(ctx context.Context, _ propagation.TextMapCarrier) context.Context {
	return trace.ContextWithRemoteSpanContext(ctx, trace.SpanContext{})
}
func (forgetful) Fields() []string { return []string{"forgets"} }
