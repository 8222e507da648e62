package otlpsink

import (
	"context"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
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

func (t traceService) Export(_ context.Context,
	req *coltrace.ExportTraceServiceRequest) (*coltrace.ExportTraceServiceResponse, error) {
	t.store.takeSpans(req)
	return &coltrace.ExportTraceServiceResponse{}, nil
}

func (m metricsService) Export(_ context.Context,
	req *colmetrics.ExportMetricsServiceRequest) (*colmetrics.ExportMetricsServiceResponse, error) {
	m.store.takePoints(req)
	return &colmetrics.ExportMetricsServiceResponse{}, nil
}

func (l logsService) Export(_ context.Context,
	req *collogs.ExportLogsServiceRequest) (*collogs.ExportLogsServiceResponse, error) {
	l.store.takeRecords(req)
	return &collogs.ExportLogsServiceResponse{}, nil
}

func (s *store) takeSpans(req *coltrace.ExportTraceServiceRequest) {
	s.addSpans(spansOf(req.GetResourceSpans()), proto.Size(req))
}

func (s *store) takePoints(req *colmetrics.ExportMetricsServiceRequest) {
	s.addPoints(pointsOf(req.GetResourceMetrics()), proto.Size(req))
}

func (s *store) takeRecords(req *collogs.ExportLogsServiceRequest) {
	s.addRecords(recordsOf(req.GetResourceLogs()), proto.Size(req))
}
