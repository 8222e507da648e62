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

// maxRequest is the size of the largest request that a Receiver takes, in bytes.
const maxRequest = 64 << 20

// A Receiver takes spans by OTLP over gRPC and notes which. Its methods may be called from any goroutine.
type Receiver struct {
	collector.UnimplementedTraceServiceServer

	address string
	server  *grpc.Server
	served  chan struct{} // closed when the server has ended

	mu      sync.Mutex
	arrived set                                  // guarded by mu; the numbers of the spans
	spans   uint64                               // guarded by mu; how many came, again and again included
	metrics *metrics.ExportMetricsServiceRequest // guarded by mu; the last
	logs    *logs.ExportLogsServiceRequest       // guarded by mu; the last
	keep    func([]*tracepb.ResourceSpans)       // called under mu for each request, if not nil
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

// Close ends what is received and waits for it.
func (r *Receiver) Close() {
	r.server.Stop()
	<-r.served
}

// Export is called by the server for each request.
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

// Spans is how many spans came, those that came again included.
func (r *Receiver) Spans() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spans
}

// Missing is how many of the spans that were acknowledged have not arrived.
func (r *Receiver) Missing(s *Sent) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.acknowledged.without(&r.arrived)
}

// metricsReceiver and logsReceiver are the receiver's services for what is not counted.
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
