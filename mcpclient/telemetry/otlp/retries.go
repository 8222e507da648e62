package otlp

import (
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// retries configures the retries of exporters. By default, the SDK retries after up to half a minute, and gRPC
// reconnects after up to two minutes. So a collector would get nothing for that time after a short outage.
// OTEL_EXPORTER_OTLP_TIMEOUT and OTEL_BSP_EXPORT_TIMEOUT bound an export; MaxElapsedTime is higher than any value that
// users set there.
var retries = otlptracegrpc.RetryConfig{
	Enabled:         true,
	InitialInterval: time.Second,
	MaxInterval:     5 * time.Second,
	MaxElapsedTime:  time.Hour,
}

// dialing configures the connections of exporters.
func dialing(l *link) []grpc.DialOption {
	again := backoff.DefaultConfig
	again.MaxDelay = retries.MaxInterval
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(l.intercept),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: retries.MaxInterval}),
	}
}
