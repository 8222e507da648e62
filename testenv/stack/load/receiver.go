package load

import (
	"context"
	"net"
	"sync"

	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // the Collector's exporters compress
)

// maxRequest is the maximum size of a request to a Receiver in bytes.
const maxRequest = 64 << 20

// A Receiver receives spans by OTLP over gRPC and records their numbers. It is safe for concurrent use.
type Receiver struct {
	collector.UnimplementedTraceServiceServer

	address string
	server  *grpc.Server
	served  chan struct{} // closed when the server has ended

	mu      sync.Mutex
	arrived set                                  // guarded by mu; numbers of the received spans
	spans   uint64                               // guarded by mu; number of received spans, including repeated ones
	metrics *metrics.ExportMetricsServiceRequest // guarded by mu; latest request
	logs    *logs.ExportLogsServiceRequest       // guarded by mu; latest request
	keep    func([]*tracepb.ResourceSpans)       // called under mu for each request; may be nil
}

// Receive listens on address, "host:port", until Close.
func Receive(address string) (*Receiver, error) { return receive(address, nil) }

func receive(address string, keep func([]*tracepb.ResourceSpans)) (*Receiver, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	r := &Receiver{address: l.Addr().String(), server: grpc.NewServer(grpc.MaxRecvMsgSize(maxRequest)),
		served: make(chan struct{}), keep: keep}
	collector.RegisterTraceServiceServer(r.server, r)
	metrics.RegisterMetricsServiceServer(r.server, metricsReceiver{Receiver: r})
	logs.RegisterLogsServiceServer(r.server, logsReceiver{Receiver: r})
	go func() {
		defer close(r.served)
		_ = r.server.Serve(l) // until Close
	}()
	return r, nil
}

// Close stops receiving and waits until the server has ended.
func (r *Receiver) Close() {
	r.server.Stop()
	<-r.served
}

// Export handles one request.
func (r *Receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest,
) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keep != nil {
		r.keep(request.GetResourceSpans())
	}
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans++
				if number, ok := spanNumber(span.GetSpanId()); ok {
					r.arrived.add(number)
				}
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// Spans returns the number of received spans, including repeated ones.
func (r *Receiver) Spans() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spans
}

// Missing returns the number of acknowledged spans that have not arrived.
func (r *Receiver) Missing(s *Sent) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.acknowledged.without(&r.arrived)
}

// metricsReceiver and logsReceiver implement the services for metrics and logs, which are not counted.
type (
	metricsReceiver struct {
		metrics.UnimplementedMetricsServiceServer
		*Receiver
	}
	logsReceiver struct {
		logs.UnimplementedLogsServiceServer
		*Receiver
	}
)

func (r metricsReceiver) Export(_ context.Context, request *metrics.ExportMetricsServiceRequest,
) (*metrics.ExportMetricsServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = request
	return &metrics.ExportMetricsServiceResponse{}, nil
}

func (r logsReceiver) Export(_ context.Context, request *logs.ExportLogsServiceRequest,
) (*logs.ExportLogsServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = request
	return &logs.ExportLogsServiceResponse{}, nil
}
