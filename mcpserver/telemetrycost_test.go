package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// withSDK returns a Telemetry with the SDK, configured as in a program: batches of spans, metrics, W3C propagation,
// and logs at level Info.
func withSDK(t testing.TB, s sdktrace.Sampler) *telemetry.Telemetry {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(nowhere{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	t.Cleanup(func() {
		_ = tracers.Shutdown(context.Background())
		_ = meters.Shutdown(context.Background())
	})
	return telemetry.New(
		telemetry.WithTracerProvider(tracers), telemetry.WithMeterProvider(meters),
		telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{},
			propagation.Baggage{})),
		telemetry.WithLogger(slog.New(infoOnly{slog.DiscardHandler})),
	)
}

// nowhere is a span exporter that discards all spans.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// infoOnly is a handler for records of level Info and above.
type infoOnly struct{ slog.Handler }

func (infoOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func budgetServer(t testing.TB, tel *telemetry.Telemetry) *mcpserver.Server {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "budget", Version: "1"}, &mcpserver.Options{Telemetry: tel})
	must(t, s.AddTool(&mcp.Tool{Name: "tool"}, echo))
	return s
}

// costOnAStream returns the number of allocations of a call on a connection that itself allocates nothing.
func costOnAStream(t testing.TB, tel *telemetry.Telemetry) float64 {
	s := budgetServer(t, tel)
	c := &steadyConn{requests: make(chan []byte), answers: make(chan struct{}, 1)}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), c) }()
	frame := []byte(callOf(7, "tool", `{}`))
	c.requests <- []byte(initialize)
	<-c.answers
	n := testing.AllocsPerRun(1000, func() {
		c.requests <- frame
		<-c.answers
	})
	close(c.requests)
	must(t, <-served)
	return n
}

// bin is an http.ResponseWriter with deadlines, like the writer of net/http.
type bin struct{ header http.Header }

func (b *bin) Header() http.Header         { return b.header }
func (b *bin) Write(p []byte) (int, error) { return len(p), nil }
func (b *bin) WriteHeader(int)             {}

func (b *bin) SetReadDeadline(time.Time) error  { return nil }
func (b *bin) SetWriteDeadline(time.Time) error { return nil }

// costOverHTTP returns the number of allocations of a modern call, without the allocations of net/http.
func costOverHTTP(t testing.TB, tel *telemetry.Telemetry) float64 {
	h := budgetServer(t, tel).HTTPHandler(nil)
	body, headers := askedCall(7, "tool", "{}")
	r := request(t, context.Background(), http.MethodPost, "", headers...)
	reader := bytes.NewReader(nil)
	r.Body = io.NopCloser(reader)
	r.ContentLength = int64(len(body))
	frame, w := []byte(body), &bin{http.Header{}}
	n := testing.AllocsPerRun(1000, func() {
		reader.Reset(frame)
		clear(w.header)
		h.ServeHTTP(w, r)
	})
	must(t, h.Shutdown(context.Background()))
	return n
}

// TestTelemetryStaysWithinItsBudget compares the allocations of a call, on each path, with the allocations in a server
// without telemetry.
func TestTelemetryStaysWithinItsBudget(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates")
	}
	for path, cost := range map[string]func(testing.TB, *telemetry.Telemetry) float64{"stream": costOnAStream,
		"http": costOverHTTP} {
		t.Run(path, func(t *testing.T) {
			absent := cost(t, telemetry.Off())
			for _, in := range []struct {
				name string
				tel  *telemetry.Telemetry
				most float64
			}{
				{"no SDK", telemetry.New(), 3},
				{"unsampled", withSDK(t, sdktrace.NeverSample()), 3},
				{"sampled", withSDK(t, sdktrace.AlwaysSample()), 12},
			} {
				more := cost(t, in.tel) - absent
				t.Logf("%s: %v allocations more than the %v of a call without", in.name, more, absent)
				if more > in.most {
					t.Errorf("%s: telemetry adds %v allocations to the %v of a call, want %v at most", in.name, more, absent, in.most)
				}
			}
			// the handler needs four, and the _meta of its result some more
			if most := map[string]float64{"stream": 6, "http": 9}[path]; absent > most {
				t.Errorf("a call takes %v allocations, want %v at most", absent, most)
			}
		})
	}
}
