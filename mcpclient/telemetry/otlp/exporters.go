package otlp

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/credentials/insecure"
)

// The three exporters read OTEL_EXPORTER_OTLP_* and connect when they first have something to send. For a direct
// endpoint the options undo what the environment may hold: credentials (which would beat "insecure") and headers.

func newSpanExporter(ctx context.Context, endpoint string, l *link) (sdktrace.SpanExporter, error) {
	opts := []otlptracegrpc.Option{otlptracegrpc.WithDialOption(dialing(l)...), otlptracegrpc.WithRetry(retries)}
	if endpoint != "" {
		opts = append(opts, otlptracegrpc.WithEndpoint(endpoint), otlptracegrpc.WithHeaders(nil),
			otlptracegrpc.WithTLSCredentials(insecure.NewCredentials()))
	}
	e, err := otlptracegrpc.New(ctx, opts...)
	return spanExporter{e, l}, err
}

func newMetricExporter(ctx context.Context, endpoint string, l *link) (sdkmetric.Exporter, error) {
	opts := []otlpmetricgrpc.Option{otlpmetricgrpc.WithDialOption(dialing(l)...),
		otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig(retries))}
	if endpoint != "" {
		opts = append(opts, otlpmetricgrpc.WithEndpoint(endpoint), otlpmetricgrpc.WithHeaders(nil),
			otlpmetricgrpc.WithTLSCredentials(insecure.NewCredentials()))
	}
	e, err := otlpmetricgrpc.New(ctx, opts...)
	return metricExporter{e, l}, err
}

func newLogExporter(ctx context.Context, endpoint string, l *link) (sdklog.Exporter, error) {
	opts := []otlploggrpc.Option{otlploggrpc.WithDialOption(dialing(l)...),
		otlploggrpc.WithRetry(otlploggrpc.RetryConfig(retries))}
	if endpoint != "" {
		opts = append(opts, otlploggrpc.WithEndpoint(endpoint), otlploggrpc.WithHeaders(nil),
			otlploggrpc.WithTLSCredentials(insecure.NewCredentials()))
	}
	e, err := otlploggrpc.New(ctx, opts...)
	return logExporter{e, l}, err
}

type spanExporter struct {
	sdktrace.SpanExporter
	link *link
}

func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return e.link.do(ctx, func(ctx context.Context) error { return e.SpanExporter.ExportSpans(ctx, spans) })
}

type metricExporter struct {
	sdkmetric.Exporter
	link *link
}

// Export passes over the end of a periodic export that the reader cancels when it is shut down: it exports once more,
// and what it exports is cumulative.
func (e metricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	err := e.link.do(ctx, func(ctx context.Context) error { return e.Exporter.Export(ctx, rm) })
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}

type logExporter struct {
	sdklog.Exporter
	link *link
}

func (e logExporter) Export(ctx context.Context, records []sdklog.Record) error {
	return e.link.do(ctx, func(ctx context.Context) error { return e.Exporter.Export(ctx, records) })
}
