package otelsetup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/otelconf"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

const configFile = "OTEL_CONFIG_FILE"

// Setup is [otlp.Setup] with two additions: it reads a configuration file if OTEL_CONFIG_FILE names one, and otherwise
// supports the exporter prometheus. Setup returns an error if the file, a variable or an option is invalid; then
// nothing is left running. ctx bounds only Setup.
func Setup(ctx context.Context, opts ...otlp.Option) (*otlp.Providers, error) {
	if strings.TrimSpace(os.Getenv(configFile)) == "" {
		return otlp.Setup(ctx, append([]otlp.Option{otlp.WithMetricReader("prometheus", newPrometheus)}, opts...)...)
	}
	file := []otelconf.ConfigurationOption{otelconf.WithContext(ctx),
		otelconf.WithMeterProviderOptions(sdkmetric.WithCardinalityLimit(words.SetLimit))}
	if spans, records := otlp.BaggageProcessors(opts...); spans != nil {
		file = append(file, otelconf.WithTracerProviderOptions(sdktrace.WithSpanProcessor(spans)),
			otelconf.WithLoggerProviderOptions(sdklog.WithProcessor(records)))
	}
	sdk, err := otelconf.NewSDK(file...)
	if err != nil {
		return nil, fmt.Errorf("otelsetup: %s: %w", configFile, err)
	}
	p, err := otlp.Setup(ctx, append(opts[:len(opts):len(opts)], otlp.WithSDK(otlp.SDK{
		TracerProvider: sdk.TracerProvider(),
		MeterProvider:  sdk.MeterProvider(),
		LoggerProvider: sdk.LoggerProvider(),
		Propagator:     sdk.Propagator(),
		ForceFlush:     func(ctx context.Context) error { return flush(ctx, &sdk) },
		Shutdown:       sdk.Shutdown,
	}))...)
	if err != nil {
		return nil, errors.Join(err, sdk.Shutdown(ctx))
	}
	return p, nil
}

// flush flushes the providers that can be flushed; providers of signals that the file does not configure do nothing.
func flush(ctx context.Context, sdk *otelconf.SDK) error {
	var errs []error
	for _, provider := range []any{sdk.TracerProvider(), sdk.MeterProvider(), sdk.LoggerProvider()} {
		if p, ok := provider.(interface{ ForceFlush(context.Context) error }); ok {
			errs = append(errs, p.ForceFlush(ctx))
		}
	}
	return errors.Join(errs...)
}
