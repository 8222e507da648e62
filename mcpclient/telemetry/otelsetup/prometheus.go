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
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

const (
	hostKey = "OTEL_EXPORTER_PROMETHEUS_HOST"
	portKey = "OTEL_EXPORTER_PROMETHEUS_PORT"
)

// scraped is a metric reader that serves metrics over HTTP. It owns the HTTP server, which Shutdown ends.
type scraped struct {
	sdkmetric.Reader
	server *http.Server
	at     net.Addr
	serve  sync.WaitGroup
}

// newPrometheus listens on the address in the variables.
func newPrometheus(ctx context.Context) (sdkmetric.Reader, error) {
	env := func(key string) string { return strings.TrimSpace(os.Getenv(key)) }
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	at := net.JoinHostPort(cmp.Or(env(hostKey), "localhost"), cmp.Or(env(portKey), "9464"))
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s, %s: %w", hostKey, portKey, err), reader.Shutdown(ctx))
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry,
		EnableOpenMetrics: true}))
	s := &scraped{Reader: reader, at: l.Addr(), server: &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
	}}
	// The goroutine ends when Shutdown ends the server. Shutdown waits for the goroutine.
	s.serve.Go(func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			otel.Handle(fmt.Errorf("metrics for Prometheus: %w", err))
		}
	})
	return s, nil
}

// Shutdown lets running scrapes finish until ctx ends.
func (s *scraped) Shutdown(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	_ = s.server.Close()
	s.serve.Wait()
	return errors.Join(err, s.Reader.Shutdown(ctx))
}
