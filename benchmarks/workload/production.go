package workload

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Installation holds the OpenTelemetry providers and the logger of a program.
type Installation struct {
	Tracers     trace.TracerProvider
	Meters      metric.MeterProvider
	Propagators propagation.TextMapPropagator
	Logger      *slog.Logger
}

// inProduction is a program with the telemetry of a typical service: a tenth of the traces in batches, and metrics
// every second, both over OTLP/gRPC to a receiver in this process. So the measurement includes the receiver. JSON logs
// at Info are encoded and dropped.
var inProduction = Use{"telemetry=production", func(ctx context.Context) (context.Context, func(), error) {
	sink, err := otlpsink.Listen("")
	if err != nil {
		return nil, nil, err
	}
	spans, err1 := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(sink.Endpoint()), otlptracegrpc.WithInsecure())
	metrics, err2 := otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(sink.Endpoint()), otlpmetricgrpc.WithInsecure())
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, errors.Join(err, sink.Close(ctx))
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(0.1))))
	meters := sdkmetric.NewMeterProvider(
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics, sdkmetric.WithInterval(time.Second))))
	in := &Installation{tracers, meters, propagation.TraceContext{}, slog.New(slog.NewJSONHandler(io.Discard, nil))}
	return WithInstallation(ctx, in), func() {
		_ = tracers.Shutdown(context.Background()) // losses now are not part of the measurement
		_ = meters.Shutdown(context.Background())
		_ = sink.Close(context.Background())
	}, nil
}}

type installationKey struct{}

// WithInstallation returns a context for a connection that uses this installation.
func WithInstallation(ctx context.Context, in *Installation) context.Context {
	return context.WithValue(ctx, installationKey{}, in)
}

// InstallationOf returns the installation, or nil.
func InstallationOf(ctx context.Context) *Installation {
	in, _ := ctx.Value(installationKey{}).(*Installation)
	return in
}

func (in *Installation) telemetry() *telemetry.Telemetry {
	return telemetry.New(telemetry.WithTracerProvider(in.Tracers), telemetry.WithMeterProvider(in.Meters),
		telemetry.WithPropagators(in.Propagators), telemetry.WithLogger(in.Logger))
}

// byHand returns a client with the code that users write around each call of a library without telemetry: a span and a
// histogram. The server gets no trace context, and no span shows the work inside the library.
func (in *Installation) byHand(c Client) (Client, error) {
	duration, err := in.Meters.Meter("app").Float64Histogram("app.tool.duration", metric.WithUnit("s"))
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &observedByHand{c, in.Tracers.Tracer("app"), duration}, nil
}

type observedByHand struct {
	Client
	tracer   trace.Tracer
	duration metric.Float64Histogram
}

func (c *observedByHand) Call(ctx context.Context, tool string) (int, error) {
	began, what := time.Now(), []attribute.KeyValue{
		attribute.String("mcp.method.name", "tools/call"), attribute.String("gen_ai.tool.name", tool),
	}
	ctx, span := c.tracer.Start(ctx, "tools/call "+tool, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(what...))
	defer span.End()
	n, err := c.Client.Call(ctx, tool)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
		what = append(what, attribute.String("error.type", "tool"))
	}
	c.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(what...))
	return n, err
}
