// Package scrape serves metrics to Prometheus. The command (--metrics) and package otelsetup use it. Other packages do
// not, because it links the Prometheus client library.
package scrape

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// Path is the path at which Prometheus scrapes by default.
const Path = "/metrics"

// maxScrapes bounds concurrent scrapes. Further scrapes get 503.
const maxScrapes = 10

// Reader is a metric reader for one MeterProvider. Its handler answers each scrape with the present metrics of the
// provider. Before the reader has a provider, and after its Shutdown, a scrape has no metrics.
type Reader struct {
	sdkmetric.Reader
	registry *prometheus.Registry
}

// NewReader returns a reader. The names of metrics and labels are the names in the dashboards: see package promname.
func NewReader() (*Reader, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	return &Reader{reader, registry}, nil
}

// Handler returns the handler for [Path]. It answers in the Prometheus text format or, if the client accepts it, in
// OpenMetrics, which includes exemplars. If a metric is invalid, the handler omits and counts the metric.
func (r *Reader) Handler() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{
		Registry: r.registry, EnableOpenMetrics: true, ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}

// Server serves a handler at an address until Shutdown.
type Server struct {
	server *http.Server
	serve  sync.WaitGroup
}

// Serve serves h at l, with limits for the duration of requests. If serving fails, it calls failed.
func Serve(l net.Listener, h http.Handler, failed func(error)) *Server {
	s := &Server{server: &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      10 * time.Second, // Prometheus waits no longer by default
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}}
	// The goroutine ends when Shutdown ends the server. Shutdown waits for the goroutine.
	s.serve.Go(func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
	return s
}

// Shutdown closes the listener, and lets running requests finish until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	_ = s.server.Close()
	s.serve.Wait()
	return err
}
