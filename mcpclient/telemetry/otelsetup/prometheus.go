package otelsetup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/mcpotel/mcpotel/internal/scrape"
)

const (
	hostKey = "OTEL_EXPORTER_PROMETHEUS_HOST"
	portKey = "OTEL_EXPORTER_PROMETHEUS_PORT"
)

// scraped is a metric reader that serves metrics over HTTP. It owns the HTTP server, which Shutdown ends.
type scraped struct {
	sdkmetric.Reader
	server *scrape.Server
}

// newPrometheus listens on the address in the variables.
func newPrometheus(ctx context.Context) (sdkmetric.Reader, error) {
	env := func(key string) string { return strings.TrimSpace(os.Getenv(key)) }
	reader, err := scrape.NewReader()
	if err != nil {
		return nil, err
	}
	at := net.JoinHostPort(cmp.Or(env(hostKey), "localhost"), cmp.Or(env(portKey), "9464"))
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s, %s: %w", hostKey, portKey, err), reader.Shutdown(ctx))
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+scrape.Path, reader.Handler())
	return &scraped{reader, scrape.Serve(l, mux, func(err error) {
		otel.Handle(fmt.Errorf("metrics for Prometheus: %w", err))
	})}, nil
}

// Shutdown lets running scrapes finish until ctx ends.
func (s *scraped) Shutdown(ctx context.Context) error {
	return errors.Join(s.server.Shutdown(ctx), s.Reader.Shutdown(ctx))
}
