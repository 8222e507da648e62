package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/scrape"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// metricsFlag is the flag --metrics: the address of the page for Prometheus, or empty.
type metricsFlag struct{ address string }

func (m *metricsFlag) flags(f *pflag.FlagSet) {
	f.StringVar(&m.address, "metrics", "", "serve metrics for Prometheus at this `ADDRESS`, such as :9464, under "+
		"/metrics, and the health of the servers under /healthz. Without a host it listens on all interfaces. The page is "+
		"unauthenticated; it contains names of tools and servers, but no arguments")
}

// metricsPage is the page for Prometheus. All methods of a nil page do nothing.
type metricsPage struct {
	listener net.Listener
	reader   *scrape.Reader
}

// open listens at the address. Requests wait until serve. open returns nil without the flag.
func (m *metricsFlag) open() (*metricsPage, error) {
	if m.address == "" {
		return nil, nil
	}
	if strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true") {
		return nil, misuse("--metrics needs metrics, but OTEL_SDK_DISABLED is true: unset the variable")
	}
	address := withColon(m.address)
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, taken("metrics", address, err)
	}
	if err != nil {
		return nil, misuse("--metrics: %w; give a port, such as :9464, or an address of this machine with a port", err)
	}
	reader, err := scrape.NewReader()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &metricsPage{l, reader}, nil
}

// options returns the options that send the metrics of the command to the page.
func (p *metricsPage) options() []otlp.Option {
	if p == nil {
		return nil
	}
	return []otlp.Option{otlp.WithReader(p.reader)}
}

// lastScrape is the time for scrapes in flight to finish when the command ends.
const lastScrape = time.Second

// serve serves the page until the caller calls stop. health answers /healthz until ctx ends; then /healthz reports
// that the command is not usable. serve prints the URL to stderr, because standard output may belong to a host.
func (p *metricsPage) serve(ctx context.Context, health http.Handler, stderr io.Writer) (stop func()) {
	if p == nil {
		return func() {}
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+scrape.Path, p.reader.Handler())
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "the command is ending", http.StatusServiceUnavailable)
			return
		}
		health.ServeHTTP(w, r)
	})
	handler, readers := http.Handler(mux), ", for every program that reaches this address"
	if at := p.listener.Addr(); hostname.LoopbackAddr(at) { // web pages must not read it by DNS rebinding
		handler, readers = loopback.Named(mux), ""
	}
	failed := func(err error) { _ = printLine(stderr, "mcpotel: --metrics: "+err.Error()) }
	server := scrape.Serve(p.listener, handler, failed)
	_ = printLine(stderr, fmt.Sprintf("mcpotel: metrics are at http://%v%s%s", p.listener.Addr(), scrape.Path, readers))
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastScrape)
		defer cancel()
		_ = server.Shutdown(ctx) // on failure, a scrape was cut
	}
}

// close closes the listener, if serve was not called.
func (p *metricsPage) close() {
	if p != nil {
		p.listener.Close()
	}
}
