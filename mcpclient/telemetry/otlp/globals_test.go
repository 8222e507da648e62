package otlp

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
)

func TestGlobalsAreSetUnlessDisabled(t *testing.T) {
	cleanEnv(t)
	t.Setenv("OTEL_PROPAGATORS", "baggage")
	before := otel.GetTextMapPropagator()
	setup(t, WithGlobals(false))
	if got := otel.GetTextMapPropagator(); len(got.Fields()) != len(before.Fields()) {
		t.Errorf("WithGlobals(false) set the propagator to %v", got)
	}

	t.Setenv("OTEL_PROPAGATORS", "tracecontext")
	p := setup(t, WithGlobals(true))
	t.Cleanup(func() { otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator()) })
	if otel.GetTracerProvider() != p.TracerProvider() || otel.GetMeterProvider() != p.MeterProvider() ||
		otel.GetLoggerProvider() != p.LoggerProvider() {
		t.Error("the global providers are not the providers of Setup")
	}
	if got := otel.GetTextMapPropagator().Fields(); !slices.Contains(got, "traceparent") {
		t.Errorf("the global propagator writes %q, want traceparent", got)
	}
}

func TestSetupReportsAllErrors(t *testing.T) {
	cleanEnv(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "zipkin")
	t.Setenv("OTEL_PROPAGATORS", "skywalking")
	_, err := Setup(t.Context(), WithGlobals(false))
	if err == nil || !strings.Contains(err.Error(), "OTEL_TRACES_EXPORTER") ||
		!strings.Contains(err.Error(), "OTEL_PROPAGATORS") {
		t.Errorf("Setup = %v, want an error that names OTEL_TRACES_EXPORTER and OTEL_PROPAGATORS", err)
	}
}

func TestSetupRejectsRemoteEndpoint(t *testing.T) {
	cleanEnv(t)
	for _, endpoint := range []string{"192.0.2.1:4317", "collector.example:4317", "127.0.0.1", ":4317"} {
		if _, err := Setup(t.Context(), WithGlobals(false), WithEndpoint(endpoint)); err == nil {
			t.Errorf("Setup with endpoint %q succeeds, want an error", endpoint)
		}
	}
}

func TestSetupReportsFailedExporter(t *testing.T) {
	cleanEnv(t)
	if p, err := Setup(t.Context(), WithGlobals(false), WithEndpoint("localhost:%zz")); p != nil || err == nil {
		t.Errorf("Setup = %v, %v; want nil and an error", p, err)
	}
	for _, sig := range []signal{traces, metrics, logs} {
		p := newProviders(nil)
		err := p.start(t.Context(), &config{endpoint: "localhost:%zz"}, settings{
			exporters: map[signal][]string{sig: {toOTLP}}, protocols: map[signal]protocol{sig: overGRPC},
		})
		if err == nil || !strings.HasPrefix(err.Error(), string(sig)) {
			t.Errorf("start = %v, want an error about %s", err, sig)
		}
		if len(p.early)+len(p.late) != 0 {
			t.Errorf("after a failure %d signals are running, want none", len(p.early)+len(p.late))
		}
	}
}
