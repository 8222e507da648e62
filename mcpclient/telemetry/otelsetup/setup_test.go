package otelsetup_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otelsetup"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

func cleanEnv(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if key, _, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "OTEL_") {
			t.Setenv(key, "")
		}
	}
}

func setup(t *testing.T, opts ...otlp.Option) *otlp.Providers {
	t.Helper()
	p, err := otelsetup.Setup(t.Context(),
		append([]otlp.Option{otlp.WithGlobals(false), otlp.WithConsole(nil, nil)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return p
}

func listen(t *testing.T) *otlpsink.Sink {
	t.Helper()
	sink, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sink.Close(context.Background()) })
	if err := sink.ListenHTTP(""); err != nil {
		t.Fatal(err)
	}
	return sink
}

// call makes a call with a client and a server that emit to p.
func call(t *testing.T, p *otlp.Providers) {
	t.Helper()
	tel := p.Telemetry()
	s := mcptest.NewServer(t, &mcpserver.Options{Telemetry: tel})
	if err := mcpserver.AddTool(s.Server, &mcp.Tool{Name: "greet"},
		func(context.Context, struct{}) (string, error) { return "hello", nil }); err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.Connect(t.Context(), s, &mcpclient.Options{Name: "greeter", Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.CallTool(t.Context(), "greet", nil); err != nil {
		t.Fatal(err)
	}
}

const file = `file_format: "1.0-rc.2"
resource:
  attributes:
    - name: service.name
      value: from-file
propagator:
  composite:
    - b3:
tracer_provider:
  processors:
    - batch:
        exporter:
          otlp_http:
            endpoint: ${TRACES_AT}/v1/traces
meter_provider:
  readers:
    - periodic:
        exporter:
          otlp_grpc:
            endpoint: ${METRICS_AT}
logger_provider:
  processors:
    - batch:
        exporter:
          otlp_http:
            endpoint: ${TRACES_AT}/v1/logs
`

func configured(t *testing.T, text string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "otel.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_CONFIG_FILE", name)
}

func TestConfigurationFileReplacesVariables(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	configured(t, file)
	t.Setenv("TRACES_AT", sink.HTTPEndpoint())
	t.Setenv("METRICS_AT", "http://"+sink.Endpoint())
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	t.Setenv("OTEL_SERVICE_NAME", "from-variable")
	p := setup(t, otlp.WithServiceName("from-option"))
	call(t, p)
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	got := sink.Snapshot()
	spans, points := got.SpansNamed("tools/call greet"), got.PointsOf("mcp.client.operation.duration")
	records := got.RecordsOf("mcp_client.connection.transition")
	if len(spans) != 2 || len(points) == 0 || len(records) == 0 {
		t.Fatalf("got %d spans of the call, %d points, %d records of transitions; want 2, some, some", len(spans),
			len(points), len(records))
	}
	if spans[0].TraceID != spans[1].TraceID || spans[0].Service() != "from-file" {
		t.Errorf("got %+v, want the spans of client and server in one trace, with the service of the file", spans)
	}
	if fields := p.Propagator().Fields(); len(fields) != 1 || fields[0] != "b3" {
		t.Errorf("the propagator writes %q, want b3", fields)
	}
}

func TestSetupReportsInvalidFile(t *testing.T) {
	cleanEnv(t)
	for name, text := range map[string]string{
		"not YAML":         "a: [",
		"no such exporter": strings.Replace(file, "otlp_http", "carrier_pigeon", 1),
	} {
		configured(t, text)
		if _, err := otelsetup.Setup(t.Context(), otlp.WithGlobals(false)); err == nil ||
			!strings.Contains(err.Error(), "OTEL_CONFIG_FILE") {
			t.Errorf("%s: Setup = %v, want an error about OTEL_CONFIG_FILE", name, err)
		}
	}
	t.Setenv("OTEL_CONFIG_FILE", "nowhere.yaml")
	if _, err := otelsetup.Setup(t.Context(), otlp.WithGlobals(false)); err == nil ||
		!strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("Setup = %v, want an error that names the file", err)
	}
}

// freePort returns a port without a listener.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestPrometheusEndpointHasDashboardMetrics(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	port := freePort(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "otlp,prometheus")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	t.Setenv("OTEL_EXPORTER_PROMETHEUS_PORT", port)
	p := setup(t, otlp.WithServiceName("scraped"))
	call(t, p)

	text := scrape(t, fmt.Sprintf("http://localhost:%s/metrics", port))
	for _, want := range []string{
		`mcp_client_operation_duration_seconds_bucket{`, `gen_ai_tool_name="greet"`, `mcp_client_name="greeter"`,
		`mcp_server_operation_duration_seconds_count{`, "mcp_client_connection_transitions_total{", `target_info{`,
		`service_name="scraped"`, " # {", `trace_id="`, // an exemplar
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the scraped metrics lack %q", want)
		}
	}
	if _, err := otelsetup.Setup(t.Context(), otlp.WithGlobals(false)); err == nil ||
		!strings.Contains(err.Error(), "OTEL_EXPORTER_PROMETHEUS_PORT") {
		t.Errorf("a second Setup = %v, want an error about the port", err)
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if len(sink.Snapshot().PointsOf("mcp.client.operation.duration")) == 0 {
		t.Error("the other exporter of the list got no metrics")
	}
	if resp, err := http.Get(fmt.Sprintf("http://localhost:%s/metrics", port)); err == nil {
		resp.Body.Close()
		t.Error("metrics are served after the shutdown")
	}
}

func scrape(t *testing.T, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return string(body)
}

func TestConfigurationFileKeepsBaggageAttributes(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	configured(t, file)
	t.Setenv("TRACES_AT", sink.HTTPEndpoint())
	t.Setenv("METRICS_AT", "http://"+sink.Endpoint())
	p := setup(t, otlp.WithBaggageAttributes(telemetry.ConversationKeys()...))
	ctx, err := telemetry.ContextWithConversation(t.Context(), telemetry.Conversation{ID: "c-1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := p.TracerProvider().Tracer("test").Start(ctx, "work")
	p.Logger().InfoContext(ctx, "in it")
	span.End()
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	got := sink.Snapshot()
	if len(got.Spans) != 1 || len(got.Records) != 1 {
		t.Fatalf("got %d spans and %d records, want one of each", len(got.Spans), len(got.Records))
	}
	for what, attrs := range map[string]map[string]any{"span": got.Spans[0].Attributes,
		"record": got.Records[0].Attributes} {
		if attrs["gen_ai.conversation.id"] != "c-1" {
			t.Errorf("the %s: got the attributes %v, want the conversation c-1", what, attrs)
		}
	}
}
