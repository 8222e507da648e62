package peers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// BenchmarkObserved measures the cost of telemetry for a cheap call: with this project, with otelgrpc and with
// otelhttp. Both ends of a call are in this process and have the same telemetry; the network is the loopback, or none.
func BenchmarkObserved(b *testing.B) {
	for _, call := range []struct {
		name string
		open func(*testing.B, *installation) (func() error, error)
	}{
		{"otelgrpc", overGRPC}, {"otelhttp", overHTTP}, {"mcpotel-http", mcpOverHTTP}, {"mcpotel-in-memory", mcpInMemory},
	} {
		for _, in := range installations() {
			b.Run("call="+call.name+"/peer="+in.name, func(b *testing.B) {
				one, err := call.open(b, in)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for range 100 { // until connections and buffers exist
					if err := one(); err != nil {
						b.Fatal(err)
					}
				}
				cpu := workload.StartCPU()
				for b.Loop() {
					if err := one(); err != nil {
						b.Fatal(err)
					}
				}
				cpu.Report(b)
			})
		}
	}
}

// An installation is the OpenTelemetry setup of a program.
type installation struct {
	name    string
	tracers trace.TracerProvider
	meters  metric.MeterProvider
	context propagation.TextMapPropagator
}

const absent = "absent" // no instrumentation

// installations are the measured setups. A setup without an SDK uses the no-op providers of package otel.
func installations() []*installation {
	sdk := func(name string, s sdktrace.Sampler) *installation {
		return &installation{name: name,
			tracers: sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(nowhere{})),
			meters:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
			context: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})}
	}
	return []*installation{{name: absent}, {name: "no-sdk"}, sdk("unsampled", sdktrace.NeverSample()),
		sdk("sampled", sdktrace.AlwaysSample())}
}

// nowhere is a span exporter that drops all spans.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

func overGRPC(b *testing.B, in *installation) (func() error, error) {
	var serving []grpc.ServerOption
	dialing := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if in.name != absent {
		var opts []otelgrpc.Option
		if in.tracers != nil {
			opts = append(opts, otelgrpc.WithTracerProvider(in.tracers), otelgrpc.WithMeterProvider(in.meters),
				otelgrpc.WithPropagators(in.context))
		}
		serving = append(serving, grpc.StatsHandler(otelgrpc.NewServerHandler(opts...)))
		dialing = append(dialing, grpc.WithStatsHandler(otelgrpc.NewClientHandler(opts...)))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := grpc.NewServer(serving...)
	healthpb.RegisterHealthServer(s, health.NewServer())
	go s.Serve(l) // ends with Stop
	b.Cleanup(s.Stop)
	conn, err := grpc.NewClient(l.Addr().String(), dialing...)
	if err != nil {
		return nil, err
	}
	b.Cleanup(func() { _ = conn.Close() })
	c := healthpb.NewHealthClient(conn)
	ctx := b.Context()
	return func() error {
		_, err := c.Check(ctx, &healthpb.HealthCheckRequest{})
		return err
	}, nil
}

func overHTTP(b *testing.B, in *installation) (func() error, error) {
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	})
	var t http.RoundTripper = http.DefaultTransport.(*http.Transport).Clone()
	if in.name != absent {
		var opts []otelhttp.Option
		if in.tracers != nil {
			opts = append(opts, otelhttp.WithTracerProvider(in.tracers), otelhttp.WithMeterProvider(in.meters),
				otelhttp.WithPropagators(in.context))
		}
		h, t = otelhttp.NewHandler(h, "echo", opts...), otelhttp.NewTransport(t, opts...)
	}
	srv := httptest.NewServer(h)
	b.Cleanup(srv.Close)
	ctx, url := b.Context(), srv.URL
	c := &http.Client{Transport: t}
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`
	return func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}, nil
}

// telemetry returns the Telemetry of a client or a server.
func (in *installation) telemetry() *telemetry.Telemetry {
	switch {
	case in.name == absent:
		return telemetry.Off()
	case in.tracers == nil:
		return telemetry.New()
	}
	return telemetry.New(telemetry.WithTracerProvider(in.tracers), telemetry.WithMeterProvider(in.meters),
		telemetry.WithPropagators(in.context))
}

type text struct {
	Text string `json:"text"`
}

func echo(in *installation) (*mcpserver.Server, error) {
	s := mcpserver.New(mcp.Implementation{Name: "echo", Version: "1"}, &mcpserver.Options{Telemetry: in.telemetry()})
	return s, mcpserver.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, t text) (string, error) {
		return t.Text, nil
	})
}

func mcpOverHTTP(b *testing.B, in *installation) (func() error, error) {
	s, err := echo(in)
	if err != nil {
		return nil, err
	}
	srv := httptest.NewServer(s.HTTPHandler(&mcpserver.HTTPOptions{Stateless: true, TrustTraceContext: true}))
	b.Cleanup(srv.Close)
	return mcpCalls(b, in, &transport.HTTP{URL: srv.URL})
}

func mcpInMemory(b *testing.B, in *installation) (func() error, error) {
	s, err := echo(in)
	if err != nil {
		return nil, err
	}
	serve := func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }
	return mcpCalls(b, in, transport.InMemory(serve))
}

func mcpCalls(b *testing.B, in *installation, t transport.Transport) (func() error, error) {
	ctx := b.Context()
	c, err := mcpclient.Connect(ctx, t, &mcpclient.Options{Telemetry: in.telemetry()})
	if err != nil {
		return nil, err
	}
	b.Cleanup(func() { _ = c.Close() })
	arguments := text{"hello"}
	return func() error {
		r, err := c.CallTool(ctx, "echo", &arguments)
		if err == nil && r.IsError {
			err = fmt.Errorf("the tool failed: %v", r.Content)
		}
		return err
	}, nil
}
