package instrument_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestSpanNameContainsURIOnlyWithOption(t *testing.T) {
	for _, tt := range []struct {
		opts []telemetry.Option
		want string
	}{
		{nil, "resources/read"},
		{[]telemetry.Option{telemetry.WithResourceURIInSpanName()}, "resources/read file:///etc/motd"},
	} {
		rec := telemetrytest.Recorder(t, tt.opts...)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "resources/read", URI: "file:///etc/motd"})
		op.End(instrument.Result{})
		c.Close()
		span := rec.Span(tt.want)
		if got := texts(span.Attributes())["mcp.resource.uri"]; got != "file:///etc/motd" {
			t.Errorf("URI on the span: got %q", got)
		}
		if got := values(rec, "mcp.client.operation.duration", "mcp.resource.uri"); len(got) != 0 {
			t.Errorf("attributes of the metric: got %v, want no URI", got)
		}
	}
}

func TestToolCallUsesCallersToolSpan(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	ctx, outer := rec.TracerProvider().Tracer("agent").Start(t.Context(), "execute_tool read")
	ctx = telemetry.WithOuterToolSpan(ctx)
	call := func(ctx context.Context, method string, kind instrument.TargetKind) instrument.Op {
		_, op := c.StartRequest(ctx, instrument.Request{Method: method, TargetKind: kind, Target: "read"})
		op.End(instrument.Result{Code: -32603, HasCode: true, Message: "disk full"})
		return op
	}
	op := call(ctx, "tools/call", instrument.Tool)
	if op.Ref() != instrument.RefFrom(ctx) {
		t.Error("want the caller's span as the operation's span")
	}
	if !outer.IsRecording() {
		t.Error("the operation has ended the caller's span")
	}
	call(ctx, "prompts/get", instrument.Prompt) // not a tool call
	inner, another := rec.TracerProvider().Tracer("agent").Start(ctx, "another")
	call(inner, "tools/call", instrument.Tool) // the marked span is not the current one
	another.End()
	outer.End()

	span := rec.Span("execute_tool read")
	got := texts(span.Attributes())
	if got["mcp.method.name"] != "tools/call" || got["gen_ai.tool.name"] != "read" || got["error.type"] != "-32603" {
		t.Errorf("attributes of the caller's span: got %v, want those of the call", got)
	}
	if span.Status().Code != codes.Unset {
		t.Errorf("status of the caller's span: got %v, want it unset", span.Status())
	}
	rec.Span("prompts/get read")
	rec.Span("tools/call read")
}

func TestOuterToolSpanNeedsRecordingSpan(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(telemetry.WithOuterToolSpan(t.Context()),
		instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "read"})
	op.End(instrument.Result{})
	rec.Span("tools/call read")
}

func TestPropagatorDeterminesWrittenFields(t *testing.T) {
	bag, err := baggage.Parse("tenant=acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name                 string
		propagator           propagation.TextMapPropagator
		traceparent, baggage bool
		b3                   string
	}{
		{"both", propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
			true, true, ""},
		{"trace context", propagation.TraceContext{}, true, false, ""},
		{"baggage", propagation.Baggage{}, false, true, ""},
		{"none", propagation.NewCompositeTextMapPropagator(), false, false, ""},
		{"other keys", otherKeys{}, false, false, "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, telemetry.WithPropagators(tt.propagator))
			c := instrument.NewClient(rec.Telemetry(), "files", pipe)
			defer c.Close()
			_, op := c.StartRequest(baggage.ContextWithBaggage(t.Context(), bag), instrument.Request{Method: "ping"})
			got := op.TraceContext()
			op.End(instrument.Result{})
			if (got.Traceparent != "") != tt.traceparent || (got.Baggage == "tenant=acme") != tt.baggage ||
				got.Tracestate != "" || got.Others["b3"] != tt.b3 || (got.Others != nil) != (tt.b3 != "") {
				t.Errorf("got %+v", got)
			}
			if tt.traceparent && !strings.Contains(got.Traceparent, rec.Span("ping").SpanContext().SpanID().String()) {
				t.Errorf("traceparent: got %q, want the request's own span", got.Traceparent)
			}
		})
	}
}

// otherKeys is a propagator that writes keys that the specification does not reserve.
type otherKeys struct{}

func (otherKeys) Inject(_ context.Context, c propagation.TextMapCarrier) {
	c.Set("b3", "0")
	_ = c.Get("b3")
}
func (otherKeys) Extract(ctx context.Context, _ propagation.TextMapCarrier) context.Context {
	return ctx
}
func (otherKeys) Fields() []string { return []string{"b3"} }

func TestNilOptionsChangeNothing(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithTracerProvider(nil), telemetry.WithMeterProvider(nil),
		telemetry.WithPropagators(nil), telemetry.WithLogger(nil))
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	traceparent := op.TraceContext().Traceparent
	op.End(instrument.Result{})
	if traceparent == "" || len(rec.Spans()) != 1 || len(rec.Logs("")) != 2 ||
		rec.Count("mcp.client.operation.duration") != 1 {
		t.Errorf("everything is recorded as without the options: got %q, %d spans, %d records",
			traceparent, len(rec.Spans()), len(rec.Logs("")))
	}
}

func TestDefaultSlogLoggerIsNeverUsed(t *testing.T) {
	var buf strings.Builder
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(was)
	c := instrument.NewClient(telemetry.New(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.End(instrument.Result{ErrorType: names.ErrorTimeout})
	c.Violation(instrument.Violation{Direction: telemetry.DirectionReceived, Reason: "invalid_json"})
	c.Logger().Error("x")
	if buf.Len() > 0 {
		t.Errorf("without WithLogger: got %s, want no records", buf.String())
	}
}

func TestHandlerLevelFiltersRecords(t *testing.T) {
	var buf strings.Builder
	tel := telemetry.New(telemetry.WithLogger(slog.New(slog.NewTextHandler(&buf,
		&slog.HandlerOptions{Level: slog.LevelWarn}))))
	c := instrument.NewClient(tel, "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.End(instrument.Result{ErrorType: names.ErrorTimeout})
	if got := buf.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "mcp_client.request.exception") ||
		strings.Contains(got, "mcp_client.duration=0 ") {
		t.Errorf("got %q, want only the warning, with a duration", got)
	}
}
