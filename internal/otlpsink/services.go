package otlpsink

import (
	"context"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

// OTLP has one service for each signal, and all three call their only method Export.
type (
	traceService struct {
		coltrace.UnimplementedTraceServiceServer
		store *store
	}
	metricsService struct {
		colmetrics.UnimplementedMetricsServiceServer
		store *store
	}
	logsService struct {
		collogs.UnimplementedLogsServiceServer
		store *store
	}
)

func (s *store) register(r grpc.ServiceRegistrar) {
	coltrace.RegisterTraceServiceServer(r, traceService{store: s})
	colmetrics.RegisterMetricsServiceServer(r, metricsService{store: s})
	collogs.RegisterLogsServiceServer(r, logsService{store: s})
}

func (t traceService) Export(_ context.Context, req *coltrace.ExportTraceServiceRequest) (*coltrace.ExportTraceServiceResponse, error) {
	t.store.addSpans(spansOf(req.GetResourceSpans()))
	return &coltrace.ExportTraceServiceResponse{}, nil
}

func (m metricsService) Export(_ context.Context, req *colmetrics.ExportMetricsServiceRequest) (*colmetrics.ExportMetricsServiceResponse, error) {
	m.store.addPoints(pointsOf(req.GetResourceMetrics()))
	return &colmetrics.ExportMetricsServiceResponse{}, nil
}

func (l logsService) Export(_ context.Context, req *collogs.ExportLogsServiceRequest) (*collogs.ExportLogsServiceResponse, error) {
	l.store.addRecords(recordsOf(req.GetResourceLogs()))
	return &collogs.ExportLogsServiceResponse{}, nil
}
