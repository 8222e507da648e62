package otlp

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// An answer is a collector's reaction to an export.
type answer func(context.Context, signal) error

type traceService struct {
	coltrace.UnimplementedTraceServiceServer
	answer
}

type metricsService struct {
	colmetrics.UnimplementedMetricsServiceServer
	answer
}

type logsService struct {
	collogs.UnimplementedLogsServiceServer
	answer
}

func (s traceService) Export(ctx context.Context,
	_ *coltrace.ExportTraceServiceRequest) (*coltrace.ExportTraceServiceResponse, error) {
	return &coltrace.ExportTraceServiceResponse{}, s.answer(ctx, traces)
}

func (s metricsService) Export(ctx context.Context,
	_ *colmetrics.ExportMetricsServiceRequest) (*colmetrics.ExportMetricsServiceResponse, error) {
	return &colmetrics.ExportMetricsServiceResponse{}, s.answer(ctx, metrics)
}

func (s logsService) Export(ctx context.Context,
	_ *collogs.ExportLogsServiceRequest) (*collogs.ExportLogsServiceResponse, error) {
	return &collogs.ExportLogsServiceResponse{}, s.answer(ctx, logs)
}

// run starts a collector that reacts with a. The collector ends with the test.
func run(t *testing.T, a answer, opts ...grpc.ServerOption) (endpoint string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(opts...)
	coltrace.RegisterTraceServiceServer(s, traceService{answer: a})
	colmetrics.RegisterMetricsServiceServer(s, metricsService{answer: a})
	collogs.RegisterLogsServiceServer(s, logsService{answer: a})
	var serve sync.WaitGroup
	serve.Go(func() { s.Serve(l) })
	t.Cleanup(func() { s.Stop(); serve.Wait() })
	return l.Addr().String()
}

// runHTTP is like run, for a collector over HTTP.
func runHTTP(t *testing.T, a answer) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server would not notice that the client has left
		if err := a(r.Context(), signal(strings.TrimPrefix(r.URL.Path, "/v1/"))); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestWithEndpointUsesNeitherHeadersNorTLS(t *testing.T) {
	cleanEnv(t)
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(ca, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", ca)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")

	got := make(chan signal, 10)
	p := setup(t, WithEndpoint(run(t, func(ctx context.Context, sig signal) error {
		if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("authorization")) > 0 {
			t.Errorf("the headers of %s contain the secret from the environment", sig)
		}
		got <- sig
		return nil
	})))
	record(t, p)
	shutdown(t, p)
	if len(got) != 3 {
		t.Errorf("%d signals arrived, want all 3 in plain text", len(got))
	}
}
