package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Options configure the sending of a load.
type Options struct {
	// Endpoint is an address for OTLP over gRPC, "host:port".
	Endpoint string

	// Rate is the number of traces to begin per second. Zero means the maximum that the endpoint accepts.
	Rate float64

	// AllSignals also sends metrics and logs with each batch of traces.
	AllSignals bool

	// Senders is the number of concurrent senders. Zero means 4.
	Senders int

	// Patience is the time for which a refused request is retried before its spans are dropped. The default is 10 s, as in
	// the SDK.
	Patience time.Duration
}

// Sent is the result of sending a load.
type Sent struct {
	Spans   uint64 // total
	Dropped uint64 // not acknowledged

	acknowledged set
}

// Send sends batches until ctx ends, and returns when all are acknowledged or dropped. It numbers the batches from
// first; next is the first number for another Send. The error is the last one that is not a refusal.
func (l *Load) Send(ctx context.Context, first uint64, o Options) (_ *Sent, next uint64, err error) {
	if o.Senders == 0 {
		o.Senders = 4
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	var mu sync.Mutex // guards sent and failed
	sent := &Sent{}
	var failed error
	var batches atomic.Uint64
	batches.Store(first)
	begun := time.Now()
	var senders sync.WaitGroup
	for range o.Senders {
		conn, err := grpc.NewClient(o.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, first, err
		}
		senders.Go(func() {
			defer conn.Close()
			for ctx.Err() == nil {
				batch := batches.Add(1) - 1
				if o.Rate > 0 {
					due := begun.Add(time.Duration(float64((batch-first)*TracesOfBatch) / o.Rate * float64(time.Second)))
					if Wait(ctx, time.Until(due)) != nil {
						return
					}
				}
				if o.AllSignals {
					for _, other := range l.others {
						_ = export(ctx, conn, other.method, other.text, o.Patience) // not counted
					}
				}
				for i := range l.requests {
					t := &l.requests[i]
					err := export(ctx, conn, collector.TraceService_Export_FullMethodName, t.fill(batch), o.Patience)
					mu.Lock()
					sent.Spans += uint64(t.spans)
					if err == nil {
						t.add(batch, &sent.acknowledged)
					} else {
						sent.Dropped += uint64(t.spans)
						if !refusal(err) {
							failed = err
						}
					}
					mu.Unlock()
				}
			}
		})
	}
	senders.Wait()
	return sent, batches.Load(), failed
}

// Wait waits for d. If ctx ends first, it returns the cause.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// export sends a request until it is acknowledged or patience ends. The end of ctx does not end it.
func export(ctx context.Context, conn *grpc.ClientConn, method string, request []byte, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for again := 50 * time.Millisecond; ; again = min(2*again, time.Second) {
		var reply mem.Buffer
		err := conn.Invoke(ctx, method, request, &reply, grpc.ForceCodecV2(encoded{}))
		if err == nil {
			return rejected(reply)
		}
		if !refusal(err) {
			return err
		}
		if Wait(ctx, again) != nil {
			return err
		}
	}
}

// refusal reports whether an SDK would retry after this error.
func refusal(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded, codes.Aborted:
		return true
	default:
		return false
	}
}

// rejected returns an error if the reply reports rejected spans.
func rejected(reply mem.Buffer) error {
	var response collector.ExportTraceServiceResponse // responses for metrics and logs have the same form
	if err := proto.Unmarshal(reply.ReadOnlyData(), &response); err != nil {
		return err
	}
	if n := response.GetPartialSuccess().GetRejectedSpans(); n > 0 {
		return fmt.Errorf("%d spans are rejected: %s", n, response.GetPartialSuccess().GetErrorMessage())
	}
	return nil
}

// encoded is a codec that passes on requests that are already encoded, and replies that are decoded elsewhere.
type encoded struct{}

func (encoded) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (encoded) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*mem.Buffer) = mem.SliceBuffer(data.Materialize())
	return nil
}

func (encoded) Name() string { return "proto" }

var _ encoding.CodecV2 = encoded{}
