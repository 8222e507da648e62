package otlp

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/credentials/insecure"
)

// A destination is the receiver of the exporter otlp for one signal. The SDK's exporters read OTEL_EXPORTER_OTLP_* and
// connect when they first send. For a direct endpoint, options override the headers and the credentials of the
// environment, because these credentials would override "insecure".
type destination struct {
	protocol protocol
	direct   string // host:port; empty if the environment decides
	link     *link
}

func newSpanExporter(ctx context.Context, d destination) (sdktrace.SpanExporter, error) {
	if d.protocol != overGRPC {
		client, err := newHTTPClient(traces, d.link)
		if err != nil {
			return nil, err
		}
		encoding, limit := otlptracehttp.EncodingProtobuf, maxBatch
		if d.protocol == overJSON {
			encoding, limit = otlptracehttp.EncodingJSON, maxBatch/2 // JSON is larger than protobuf
		}
		e, err := otlptracehttp.New(ctx, otlptracehttp.WithHTTPClient(client), otlptracehttp.WithEncoding(encoding),
			otlptracehttp.WithRetry(otlptracehttp.RetryConfig(retries)))
		return spanExporter{e, d.link, limit}, err
	}
	opts := []otlptracegrpc.Option{otlptracegrpc.WithDialOption(dialing(d.link)...), otlptracegrpc.WithRetry(retries)}
	if d.direct != "" {
		opts = append(opts, otlptracegrpc.WithEndpoint(d.direct), otlptracegrpc.WithHeaders(nil),
			otlptracegrpc.WithTLSCredentials(insecure.NewCredentials()))
	}
	e, err := otlptracegrpc.New(ctx, opts...)
	return spanExporter{e, d.link, maxBatch}, err
}

func newMetricExporter(ctx context.Context, d destination) (sdkmetric.Exporter, error) {
	if d.protocol != overGRPC {
		client, err := newHTTPClient(metrics, d.link)
		if err != nil {
			return nil, err
		}
		e, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithHTTPClient(client),
			otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig(retries)))
		return metricExporter{e, d.link}, err
	}
	opts := []otlpmetricgrpc.Option{otlpmetricgrpc.WithDialOption(dialing(d.link)...),
		otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig(retries))}
	if d.direct != "" {
		opts = append(opts, otlpmetricgrpc.WithEndpoint(d.direct), otlpmetricgrpc.WithHeaders(nil),
			otlpmetricgrpc.WithTLSCredentials(insecure.NewCredentials()))
	}
	e, err := otlpmetricgrpc.New(ctx, opts...)
	return metricExporter{e, d.link}, err
}

func newLogExporter(ctx context.Context, d destination) (sdklog.Exporter, error) {
	if d.protocol != overGRPC {
		client, err := newHTTPClient(logs, d.link)
		if err != nil {
			return nil, err
		}
		e, err := otlploghttp.New(ctx, otlploghttp.WithHTTPClient(client),
			otlploghttp.WithRetry(otlploghttp.RetryConfig(retries)))
		return logExporter{e, d.link}, err
	}
	opts := []otlploggrpc.Option{otlploggrpc.WithDialOption(dialing(d.link)...),
		otlploggrpc.WithRetry(otlploggrpc.RetryConfig(retries))}
	if d.direct != "" {
		opts = append(opts, otlploggrpc.WithEndpoint(d.direct), otlploggrpc.WithHeaders(nil),
			otlploggrpc.WithTLSCredentials(insecure.NewCredentials()))
	}
	e, err := otlploggrpc.New(ctx, opts...)
	return logExporter{e, d.link}, err
}

type spanExporter struct {
	sdktrace.SpanExporter
	link  *link
	limit int // maximum of the estimated size of one message, in bytes
}

func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	return e.link.do(ctx, func(ctx context.Context) error {
		return inParts(ctx, spans, e.limit-resourceSize(spans[0].Resource()), spanSize, e.SpanExporter.ExportSpans)
	})
}

type metricExporter struct {
	sdkmetric.Exporter
	link *link
}

// Export ignores the error of a periodic export that the reader cancels at shutdown. Nothing is lost: the reader
// exports once more, and cumulative metrics include the data of the cancelled export.
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
	if len(records) == 0 {
		return nil
	}
	return e.link.do(ctx, func(ctx context.Context) error {
		return inParts(ctx, records, maxBatch-resourceSize(records[0].Resource()), logSize, e.Exporter.Export)
	})
}
