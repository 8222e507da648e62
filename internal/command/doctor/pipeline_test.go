package doctor_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/doctor"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// environment sets these OpenTelemetry variables and unsets all others.
func environment(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, kv := range os.Environ() {
		if key, value, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "OTEL_") {
			t.Setenv(key, value) // restored at the end
			os.Unsetenv(key)
		}
	}
	for key, value := range variables {
		t.Setenv(key, value)
	}
}

func TestPipelineChecksFollowTheEnvironment(t *testing.T) {
	sink, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	here := "http://" + sink.Endpoint()
	web := listens(t, http.NotFoundHandler())
	for name, tc := range map[string]struct {
		variables            map[string]string
		collector, exemplars string
	}{
		"nothing set": {nil, "skipped: OTEL_EXPORTER_OTLP_ENDPOINT is not set", "skipped: "},
		"in order":    {map[string]string{endpoint: here}, "ok: 127.0.0.1:", "ok: "},
		"nothing listens": {map[string]string{endpoint: "http://127.0.0.1:1"}, "fail: nothing listens at 127.0.0.1:1",
			"ok: "},
		"no receiver": {map[string]string{endpoint: web}, "does not accept telemetry: ", "ok: "},
		"no metrics": {map[string]string{endpoint: here, "OTEL_METRICS_EXPORTER": "none"},
			"; not exported: metrics", "ok: "},
		"nothing exported": {map[string]string{endpoint: here, "OTEL_SDK_DISABLED": "true"},
			"warn: a Collector is configured, but OTEL_SDK_DISABLED", "ok: "},
		"no URL": {map[string]string{endpoint: "localhost:4317"}, "fail: otlp: " + endpoint, "skipped: "},
		"without exemplars": {map[string]string{endpoint: here, "OTEL_METRICS_EXEMPLAR_FILTER": "always_off"}, "ok: ",
			"warn: off"},
		"all exemplars": {map[string]string{endpoint: here, "OTEL_METRICS_EXEMPLAR_FILTER": "always_on"}, "ok: ", "note: on"},
		"nothing sampled": {map[string]string{endpoint: here, "OTEL_TRACES_SAMPLER": "always_off"}, "ok: ",
			"warn: traces are not sampled"},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, tc.variables)
			p := doctor.OpenPipeline(t.Context(), "doctor-test", "1")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			checks := p.Close(ctx)
			for i, want := range []string{tc.collector, tc.exemplars} {
				if text := string(checks[i].Verdict) + ": " + checks[i].Found; !strings.Contains(text, want) {
					t.Errorf("%s: want %q, got %q", checks[i].Name, want, text)
				}
			}
		})
	}
	if n := len(sink.Snapshot().SpansNamed("mcpotel doctor collector")); n != 4 {
		t.Errorf("want 4 spans, one for each run that samples, got %d", n)
	}
}

// TestExaminationIsExportedAsOneTrace checks that the Collector gets only the client's spans: the doctor itself
// receives the server's spans.
func TestExaminationIsExportedAsOneTrace(t *testing.T) {
	sink, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	environment(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + sink.Endpoint()})
	p := doctor.OpenPipeline(t.Context(), "doctor-test", "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := doctor.Examine(t.Context(), own(self, "good"), &doctor.Options{Tracers: p.Tracers()})
	said(t, r, doctor.OK, true, map[string]string{"propagation": "of good-server in the trace of the client"})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if got := doctor.Worst(p.Close(ctx)); got != doctor.OK {
		t.Errorf("want the pipeline ok, got %s", got)
	}
	spans := sink.Snapshot().SpansNamed("tools/list")
	if len(spans) != 1 || spans[0].Service() != "doctor-test" {
		t.Errorf("want one span of the client, got %v", spans)
	}
}
