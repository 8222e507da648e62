package otlp

import (
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// retries is how exporters try again. The SDK's own would try after up to half a minute, and gRPC would connect again
// after up to two: a collector that was away for a short time would be back and get nothing. How long an export is
// tried in all is for OTEL_EXPORTER_OTLP_TIMEOUT and OTEL_BSP_EXPORT_TIMEOUT to say; the limit here is beyond what
// users set.
var retries = otlptracegrpc.RetryConfig{
	Enabled:         true,
	InitialInterval: time.Second,
	MaxInterval:     5 * time.Second,
	MaxElapsedTime:  time.Hour,
}

// dialing is how exporters connect.
func dialing(l *link) []grpc.DialOption {
	again := backoff.DefaultConfig
	again.MaxDelay = retries.MaxInterval
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(l.intercept),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: retries.MaxInterval}),
	}
}
