package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestEachProtocolExportsAllSignals(t *testing.T) {
	const all, ofTraces = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	for name, env := range map[string]map[string]string{
		"grpc":                 {},
		"http/protobuf":        {all: "http/protobuf"},
		"http/protobuf, gzip":  {all: "http/protobuf", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
		"http/json for traces": {all: "http/protobuf", ofTraces: "http/json"},
		"only spans over HTTP": {ofTraces: "http/protobuf"},
	} {
		t.Run(name, func(t *testing.T) {
			cleanEnv(t)
			sink := listen(t)
			if err := sink.ListenHTTP(""); err != nil {
				t.Fatal(err)
			}
			for key, v := range env {
				t.Setenv(key, v)
			}
			for _, sig := range []signal{traces, metrics, logs} {
				_, by := deciding(os.Getenv, sig, "PROTOCOL")
				at := "http://" + sink.Endpoint()
				if strings.HasPrefix(by, "http") {
					at = sink.HTTPEndpoint() + "/v1/" + string(sig) // the path of a variable for one signal is used unchanged
				}
				t.Setenv("OTEL_EXPORTER_OTLP_"+sig.key()+"_ENDPOINT", at)
			}
			p := setup(t)
			sc := record(t, p)
			shutdown(t, p)
			got := sink.Snapshot()
			if len(got.Spans) != 1 || len(got.Points) != 1 || len(got.Records) != 1 {
				t.Fatalf("got %d spans, %d points, %d records; want 1 of each", len(got.Spans), len(got.Points),
					len(got.Records))
			}
			if got.Spans[0].TraceID != sc.TraceID().String() || len(got.RecordsOf("work.done")) != 1 {
				t.Errorf("got span %+v and record %+v, want the test's span and record", got.Spans[0], got.Records[0])
			}
		})
	}
}

// secured is a server over TLS, and the file of its certificate.
func secured(t *testing.T, h http.HandlerFunc) (url, certificate string) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL, file
}

func TestHTTPExportersReadTLSHeadersAndTimeout(t *testing.T) {
	cleanEnv(t)
	var seen atomic.Int32
	url, ca := secured(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Tenant") == "a" {
			seen.Add(1)
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a")
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", ca)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "7000")
	p := setup(t)
	record(t, p)
	shutdown(t, p)
	if got := seen.Load(); got != 3 {
		t.Errorf("%d signals arrived over TLS with their header, want 3", got)
	}

	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "")
	stranger := setup(t)
	record(t, stranger)
	if err := stranger.Shutdown(patient(t)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("Shutdown = %v, want an error about the untrusted collector", err)
	}
}

func TestSetupNamesInvalidFilesAndTimeouts(t *testing.T) {
	_, ca := secured(t, nil)
	for _, env := range []map[string]string{
		{"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere/ca.pem"},
		{"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": os.Args[0]},
		{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": ca},
		{"OTEL_EXPORTER_OTLP_CLIENT_KEY": ca},
		{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": ca, "OTEL_EXPORTER_OTLP_CLIENT_KEY": ca},
		{"OTEL_EXPORTER_OTLP_TIMEOUT": "10s"},
		{"OTEL_EXPORTER_OTLP_LOGS_TIMEOUT": "-1"},
	} {
		t.Run("", func(t *testing.T) {
			cleanEnv(t)
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
			for key, v := range env {
				t.Setenv(key, v)
			}
			_, err := Setup(t.Context(), WithGlobals(false))
			for key := range env {
				if err == nil || !strings.Contains(err.Error(), key) {
					t.Errorf("%v: Setup = %v, want an error that names %s", env, err, key)
				}
			}
		})
	}
}

// fakeTransport answers with a status, or an error.
type fakeTransport struct {
	status int
	err    error
	closed *bool
}

func (f fakeTransport) RoundTrip(*http.Request) (*http.Response, error) {
	if f.err != nil {
		return nil, f.err
	}
	return &http.Response{Status: http.StatusText(f.status), StatusCode: f.status, Body: f}, nil
}

func (f fakeTransport) Read([]byte) (int, error) { return 0, io.EOF }
func (f fakeTransport) Close() error             { *f.closed = true; return nil }

func TestHTTPExportIsRetriedUntilShutdown(t *testing.T) {
	refused := errors.New("connection refused")
	for _, tc := range []struct {
		name      string
		try       fakeTransport
		closing   bool
		temporary bool   // whether the error is temporary
		status    int    // status of the response, 0 for an error
		loss      string // a part of the error
	}{
		{"accepted", fakeTransport{status: 200}, false, false, 200, ""},
		{"accepted at the last try", fakeTransport{status: 202}, true, false, 202, ""},
		{"busy", fakeTransport{status: 503}, false, false, 503, ""}, // the exporter retries
		{"busy at the last try", fakeTransport{status: 503}, true, false, 0, "Service Unavailable"},
		{"unreachable", fakeTransport{err: refused}, false, true, 0, "refused"},
		{"unreachable at the last try", fakeTransport{err: refused}, true, false, 0, "refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, closed := newLink(), false
			tc.try.closed = &closed
			if tc.closing {
				l.lastTry()
			}
			resp, err := transport{l, tc.try}.RoundTrip(httptest.NewRequest(http.MethodPost, "/v1/traces", nil))
			again, _ := errors.AsType[interface {
				error
				Temporary() bool
			}](err)
			switch {
			case tc.status != 0 && (err != nil || resp.StatusCode != tc.status || closed):
				t.Errorf("got %v, %v, closed %v; want status %d, open", resp, err, closed, tc.status)
			case tc.status == 0 && (err == nil || !strings.Contains(err.Error(), tc.loss)):
				t.Errorf("got %v, want an error with %q", err, tc.loss)
			case tc.status == 0 && (again != nil) != tc.temporary:
				t.Errorf("%v is temporary: %v, want %v", err, again != nil, tc.temporary)
			case tc.status == 0 && tc.try.err == nil && !closed:
				t.Error("the body stays open, want it closed")
			}
		})
	}
}

func TestConsoleExporterWritesToConsole(t *testing.T) {
	cleanEnv(t)
	for _, sig := range []signal{traces, metrics, logs} {
		t.Setenv("OTEL_"+sig.key()+"_EXPORTER", "console")
	}
	var console bytes.Buffer
	p := setup(t, WithConsole(&console, nil))
	ctx, span := p.TracerProvider().Tracer("test").Start(t.Context(), "evil \u009b2J \U000e0041 \x1b[31m")
	p.Logger().InfoContext(ctx, "a record")
	span.End()
	record(t, p)
	shutdown(t, p)
	text := console.String()
	for _, want := range []string{"INF a record", `"Name":"works"`, `"Name":"evil \u009b2J \udb40\udc41 \u001b[31m"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the console lacks %s:\n%s", want, text)
		}
	}
	spans := 0
	for line := range strings.Lines(text) {
		var s struct{ Name string }
		if json.Unmarshal([]byte(line), &s) == nil && strings.Contains(s.Name, "evil") {
			spans++
			if !strings.Contains(s.Name, "\u009b2J \U000e0041 \x1b") {
				t.Errorf("the span's line has the name %q, want the unchanged name", s.Name)
			}
		}
	}
	if spans != 1 {
		t.Errorf("%d lines describe the span, want 1:\n%s", spans, text)
	}
}

func TestLogsExporterVariableEnablesConsole(t *testing.T) {
	cleanEnv(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_LOGS_EXPORTER", "console")
	p := setup(t, WithConsole(nil, nil))
	if !p.Logger().Enabled(t.Context(), 0) {
		t.Error("the logger is off, want it to write to standard error")
	}
	if len(p.early)+len(p.late) != 0 {
		t.Errorf("%d signals are exported, want none", len(p.early)+len(p.late))
	}
}

type countedLogs struct {
	n     int
	ended bool
}

func (c *countedLogs) Export(_ context.Context, r []sdklog.Record) error { c.n += len(r); return nil }
func (c *countedLogs) Shutdown(context.Context) error                    { c.ended = true; return nil }
func (c *countedLogs) ForceFlush(context.Context) error                  { return nil }

func TestVariablesCanNameCustomExporters(t *testing.T) {
	cleanEnv(t)
	for _, sig := range []signal{traces, metrics, logs} {
		t.Setenv("OTEL_"+sig.key()+"_EXPORTER", "mine")
	}
	spans, logs, reader := tracetest.NewInMemoryExporter(), new(countedLogs), sdkmetric.NewManualReader()
	p := setup(t,
		WithSpanExporter("mine", func(context.Context) (sdktrace.SpanExporter, error) { return spans, nil }),
		WithMetricReader("mine", func(context.Context) (sdkmetric.Reader, error) { return reader, nil }),
		WithLogExporter("mine", func(context.Context) (sdklog.Exporter, error) { return logs, nil }))
	record(t, p)
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(spans.GetSpans()) != 1 || logs.n != 1 {
		t.Errorf("got %d spans and %d records, want 1 of each", len(spans.GetSpans()), logs.n)
	}
	shutdown(t, p)
	if err := reader.Collect(t.Context(), new(metricdata.ResourceMetrics)); !errors.Is(err, sdkmetric.ErrReaderShutdown) {
		t.Error("the reader still works, want it shut down")
	}
}

func TestFailedSetupShutsDownCreatedSignals(t *testing.T) {
	cleanEnv(t)
	for _, sig := range []signal{traces, metrics, logs} {
		t.Run(string(sig), func(t *testing.T) {
			for _, other := range []signal{traces, metrics, logs} {
				t.Setenv("OTEL_"+other.key()+"_EXPORTER", "none")
			}
			t.Setenv("OTEL_"+sig.key()+"_EXPORTER", "good,bad")
			reader, spans, records := sdkmetric.NewManualReader(), new(endedSpans), new(countedLogs)
			_, err := Setup(t.Context(), WithGlobals(false),
				WithSpanExporter("good", func(context.Context) (sdktrace.SpanExporter, error) { return spans, nil }),
				WithSpanExporter("bad", func(context.Context) (sdktrace.SpanExporter, error) { return nil, errNoPlace }),
				WithMetricReader("good", func(context.Context) (sdkmetric.Reader, error) { return reader, nil }),
				WithMetricReader("bad", func(context.Context) (sdkmetric.Reader, error) { return nil, errNoPlace }),
				WithLogExporter("good", func(context.Context) (sdklog.Exporter, error) { return records, nil }),
				WithLogExporter("bad", func(context.Context) (sdklog.Exporter, error) { return nil, errNoPlace }))
			if !errors.Is(err, errNoPlace) {
				t.Errorf("Setup = %v, want %v", err, errNoPlace)
			}
			closed := errors.Is(reader.Collect(t.Context(), new(metricdata.ResourceMetrics)), sdkmetric.ErrReaderShutdown)
			if got := map[signal]bool{traces: spans.ended, metrics: closed, logs: records.ended}; !got[sig] {
				t.Errorf("the exporter that was created still runs: %v", got)
			}
		})
	}
}

var errNoPlace = errors.New("no such place")

type endedSpans struct {
	tracetest.NoopExporter
	ended bool
}

func (e *endedSpans) Shutdown(context.Context) error { e.ended = true; return nil }

func TestWithSDKUsesGivenProviders(t *testing.T) {
	cleanEnv(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "nonsense") // must be ignored
	t.Setenv("OTEL_CONFIG_FILE", "otel.yaml")
	spans, logs := tracetest.NewInMemoryExporter(), new(countedLogs)
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	lp := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(logs)))
	ended := 0
	sdk := SDK{TracerProvider: tp, MeterProvider: sdkmetric.NewMeterProvider(), LoggerProvider: lp,
		Propagator: propagation.Baggage{}, Shutdown: func(context.Context) error { ended++; return nil }}
	p := setup(t, WithSDK(sdk))
	record(t, p)
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	shutdown(t, p)
	shutdown(t, p)
	if len(spans.GetSpans()) != 1 || logs.n != 1 || ended != 1 {
		t.Errorf("got %d spans, %d records, %d ends; want 1 of each", len(spans.GetSpans()), logs.n, ended)
	}
	if got := p.Propagator().Fields(); len(got) != 1 || got[0] != "baggage" {
		t.Errorf("the propagator writes %q, want baggage", got)
	}
	sdk.Shutdown = nil
	if _, err := Setup(t.Context(), WithGlobals(false), WithSDK(sdk)); err == nil {
		t.Error("Setup accepts an SDK without Shutdown, want an error")
	}
}

func TestOwnReaderNeedsNoVariable(t *testing.T) {
	for name, at := range map[string]struct {
		variable, value string
		endpoint        bool
		pull, push      bool // the reader and the receiver get metrics
	}{
		"alone":            {variable: "OTEL_METRICS_EXPORTER", value: "none", pull: true},
		"with an endpoint": {endpoint: true, pull: true, push: true},
		"disabled":         {variable: "OTEL_SDK_DISABLED", value: "true", endpoint: true},
	} {
		t.Run(name, func(t *testing.T) {
			cleanEnv(t)
			t.Setenv("OTEL_TRACES_EXPORTER", "none")
			t.Setenv("OTEL_LOGS_EXPORTER", "none")
			if at.variable != "" {
				t.Setenv(at.variable, at.value)
			}
			sink, reader := listen(t), sdkmetric.NewManualReader()
			opts := []Option{WithReader(reader)}
			if at.endpoint {
				opts = append(opts, WithEndpoint(sink.Endpoint()))
			}
			p := setup(t, opts...)
			record(t, p)
			var got metricdata.ResourceMetrics
			err := reader.Collect(t.Context(), &got)
			if pulled := err == nil && len(got.ScopeMetrics) == 1; pulled != at.pull {
				t.Errorf("the reader has %v, %v; want metrics: %v", got.ScopeMetrics, err, at.pull)
			}
			shutdown(t, p)
			if pushed := len(sink.Snapshot().PointsOf("works")) > 0; pushed != at.push {
				t.Errorf("the receiver has metrics: %v, want %v", pushed, at.push)
			}
			if err := reader.Collect(t.Context(), &got); at.pull && !errors.Is(err, sdkmetric.ErrReaderShutdown) {
				t.Errorf("after the shutdown: got %v, want that the reader is shut down", err)
			}
		})
	}
}
