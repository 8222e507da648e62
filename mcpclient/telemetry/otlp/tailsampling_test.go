package otlp

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

func TestTailSamplingExportsFailures(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()), WithTailSampling(tailsampling.Options{}))
	counter, err := p.MeterProvider().Meter("test").Int64Counter("works")
	if err != nil {
		t.Fatal(err)
	}
	fine := record(t, p)
	ctx, failing := p.TracerProvider().Tracer("test").Start(t.Context(), "failing")
	failing.SetStatus(codes.Error, "")
	failing.End()
	counter.Add(ctx, 1)
	shutdown(t, p)

	got := sink.Snapshot()
	if spans := got.Spans; len(spans) != 1 || spans[0].Name != "failing" {
		t.Errorf("want the failed span exported, got %v", spans)
	}
	if done := got.PointsOf("otel.sdk.processor.span.processed"); len(done) != 2 {
		t.Errorf("want a metric of processed spans, got %v", done)
	}
	points := got.PointsOf("works")
	if len(points) != 1 || len(points[0].Exemplars) != 1 ||
		points[0].Exemplars[0].SpanID != failing.SpanContext().SpanID().String() {
		t.Errorf("want an exemplar of the failed span and not of %v, got %v", fine.SpanID(), points)
	}
}

func TestQueueHoldsAllSpansOfOneFailure(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()), WithTailSampling(tailsampling.Options{}))
	tracer := p.TracerProvider().Tracer("test")
	ctx, session := tracer.Start(t.Context(), "session")
	for range 4000 {
		_, span := tracer.Start(ctx, "call")
		span.End()
	}
	session.SetStatus(codes.Error, "")
	session.End()
	shutdown(t, p)
	const room = 2090 // number of spans without attributes, at 500 bytes each
	if got := sink.Snapshot(); len(got.SpansNamed("session")) != 1 || len(got.SpansNamed("call")) < room {
		t.Errorf("want the failed span and %d spans below it exported, got %d and %d", room,
			len(got.SpansNamed("session")), len(got.SpansNamed("call")))
	}
}

func TestEnvironmentSetsTailSamplingRatio(t *testing.T) {
	for _, at := range []struct{ sampler, arg, want string }{
		{"", "", "mcpotel.tailsampling{0.25}"},
		{"", "0.5", "mcpotel.tailsampling{0.25}"}, // the argument belongs to no sampler
		{"traceidratio", "0.5", "mcpotel.tailsampling{0.5}"},
		{" ParentBased_TraceIDRatio ", " 0.5 ", "mcpotel.tailsampling{0.5}"},
		{"parentbased_traceidratio", "", "mcpotel.tailsampling{1}"},
		{"always_on", "0.5", "mcpotel.tailsampling{1}"},
		{"parentbased_always_off", "", "mcpotel.tailsampling{0}"},
		{"traceidratio", "2", `OTEL_TRACES_SAMPLER_ARG: "2" is not a ratio between 0 and 1`},
		{"traceidratio", "NaN", `OTEL_TRACES_SAMPLER_ARG: "NaN" is not a ratio between 0 and 1`},
		{"traceidratio", "half", `OTEL_TRACES_SAMPLER_ARG: "half" is not a ratio between 0 and 1`},
		{"xray", "", `OTEL_TRACES_SAMPLER: WithTailSampling does not support "xray"; use always_on, always_off or ` +
			`traceidratio, with or without the prefix parentbased_`},
	} {
		env := map[string]string{"OTEL_TRACES_SAMPLER": at.sampler, "OTEL_TRACES_SAMPLER_ARG": at.arg}
		s, err := newTailSampling(tailsampling.Options{Ratio: .25}, func(key string) string { return env[key] })
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = s.Sampler().Description()
		}
		if got != at.want {
			t.Errorf("%q %q: want %q, got %q", at.sampler, at.arg, at.want, got)
		}
	}
}

func TestSetupRejectsInvalidTailSampling(t *testing.T) {
	cleanEnv(t)
	const want = "otlp: tailsampling: the ratio 3 is not between 0 and 1"
	wrong := WithTailSampling(tailsampling.Options{Ratio: 3})
	if _, err := Setup(context.Background(), WithGlobals(false), wrong); err == nil || err.Error() != want {
		t.Errorf("error is %q, got %v", want, err)
	}
}
