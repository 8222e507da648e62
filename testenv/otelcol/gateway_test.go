package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// configured returns a processor with its factory, settings and configuration in gateway.yaml.
func configured(t *testing.T, name string) (processor.Factory, processor.Settings, component.Config) {
	t.Helper()
	r, err := confmap.NewResolver(confmap.ResolverSettings{URIs: []string{shippedFile("gateway.yaml")},
		ProviderFactories: []confmap.ProviderFactory{envprovider.NewFactory(),
			fileprovider.NewFactory()}, DefaultScheme: "env"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := all.Sub("processors::" + name)
	if err != nil {
		t.Fatal(err)
	}
	var id component.ID
	if err := id.UnmarshalText([]byte(name)); err != nil {
		t.Fatal(err)
	}
	parts, err := components()
	if err != nil {
		t.Fatal(err)
	}
	f := parts.Processors[id.Type()]
	cfg := f.CreateDefaultConfig()
	if err := c.Unmarshal(cfg); err != nil {
		t.Fatal(err)
	}
	return f, processor.Settings{ID: id, TelemetrySettings: component.TelemetrySettings{Logger: zap.NewNop(),
		TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider(),
		Resource: pcommon.NewResource()}}, cfg
}

// running starts a processor and returns a function that ends it.
func running(t *testing.T, p component.Component) (end func()) {
	t.Helper()
	if err := p.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func onTraces(t *testing.T, name string, next func(ptrace.Traces)) (processor.Traces, func()) {
	t.Helper()
	f, s, cfg := configured(t, name)
	sink, err := consumer.NewTraces(func(_ context.Context, d ptrace.Traces) error { next(d); return nil })
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.CreateTraces(t.Context(), s, cfg, sink)
	if err != nil {
		t.Fatal(err)
	}
	return p, running(t, p)
}

// call returns a trace of four spans. failed determines whether the last span failed.
func call(n uint64, failed bool) ptrace.Traces {
	d := ptrace.NewTraces()
	spans := d.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i := range 4 {
		s := spans.AppendEmpty()
		var id [16]byte
		binary.BigEndian.PutUint64(id[8:], n+1)
		s.SetTraceID(id)
		s.SetSpanID([8]byte{byte(i + 1)})
		if failed && i == 3 {
			s.Status().SetCode(ptrace.StatusCodeError)
		}
	}
	return d
}

// TestSamplingLimitsErrorBursts sends 1,000 failing and 1,000 successful calls at once to the second sampler.
func TestSamplingLimitsErrorBursts(t *testing.T) {
	var mu sync.Mutex
	kept := map[bool]int{} // number of spans, by whether their trace failed
	p, end := onTraces(t, "tail_sampling/ceiling", func(d ptrace.Traces) {
		failed := false
		for _, r := range d.ResourceSpans().All() {
			for _, s := range r.ScopeSpans().All() {
				for _, span := range s.Spans().All() {
					failed = failed || span.Status().Code() == ptrace.StatusCodeError
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		kept[failed] += d.SpanCount()
	})
	const calls = 1000
	for n := range uint64(2 * calls) {
		if err := p.ConsumeTraces(t.Context(), call(n, n%2 == 0)); err != nil {
			t.Fatal(err)
		}
	}
	end() // makes it decide about waiting traces
	t.Logf("of 4,000 spans of traces that failed %d are kept, of as many others %d", kept[true], kept[false])
	if kept[false] != 4*calls {
		t.Errorf("kept %d spans of traces without an error, want all %d", kept[false], 4*calls)
	}
	// The burst, plus the rate for the one or two seconds of the test.
	if burst := 2000; kept[true] < burst || kept[true] > burst+5*400 || kept[true]%4 != 0 {
		t.Errorf("kept %d spans of traces with an error, want about %d, and whole traces", kept[true], burst)
	}
}

// TestInventedNamesCreateNoSeries checks the attributes that become labels of the RED metrics.
func TestInventedNamesCreateNoSeries(t *testing.T) {
	got := map[string]int{}
	p, end := onTraces(t, "transform/red", func(d ptrace.Traces) {
		for _, r := range d.ResourceSpans().All() {
			for _, s := range r.ScopeSpans().All() {
				for _, span := range s.Spans().All() {
					tool, _ := span.Attributes().Get("gen_ai.tool.name")
					got[span.Kind().String()+" "+span.Name()+" "+tool.Str()]++
				}
			}
		}
	})
	defer end()
	d := ptrace.NewTraces()
	spans := d.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	add := func(kind ptrace.SpanKind, name, tool, code string) {
		s := spans.AppendEmpty()
		s.SetKind(kind)
		s.SetName(name)
		s.Attributes().PutStr("mcp.method.name", "tools/call")
		s.Attributes().PutStr("gen_ai.tool.name", tool)
		if code != "" {
			s.Attributes().PutStr("rpc.response.status_code", code)
		}
	}
	for i := range 100 {
		invented := fmt.Sprintf("invented-%d", i)
		add(ptrace.SpanKindServer, "tools/call _OTHER", invented, "-32602")
		add(ptrace.SpanKindClient, "tools/call "+invented, invented, "-32602")
	}
	add(ptrace.SpanKindServer, "tools/call add", "add", "")
	add(ptrace.SpanKindClient, "tools/call add", "add", "-32603")
	if err := p.ConsumeTraces(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"Server tools/call _OTHER _OTHER": 100, "Client tools/call _OTHER _OTHER": 100,
		"Server tools/call add add": 1, "Client tools/call add add": 1}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", slices.Sorted(maps.Keys(got)), want)
	}
}

// TestSeriesHaveEnvironmentAndVersionLabels checks the labels that alerts and dashboards group by.
func TestSeriesHaveEnvironmentAndVersionLabels(t *testing.T) {
	f, s, cfg := configured(t, "transform/identity")
	var got []map[string]any
	sink, err := consumer.NewMetrics(func(_ context.Context, d pmetric.Metrics) error {
		for _, r := range d.ResourceMetrics().All() {
			got = append(got, r.ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0).Attributes().AsRaw())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.CreateMetrics(t.Context(), s, cfg, sink)
	if err != nil {
		t.Fatal(err)
	}
	defer running(t, p)()
	d := pmetric.NewMetrics()
	for _, resource := range []map[string]any{
		{"deployment.environment.name": "staging", "service.version": "1.2"}, {"deployment.environment": "production"}, {},
	} {
		r := d.ResourceMetrics().AppendEmpty()
		if err := r.Resource().Attributes().FromRaw(resource); err != nil {
			t.Fatal(err)
		}
		r.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty().SetEmptySum().DataPoints().AppendEmpty()
	}
	if err := p.ConsumeMetrics(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{"deployment.environment.name": "staging", "service.version": "1.2"},
		{"deployment.environment.name": "production"}, {}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
