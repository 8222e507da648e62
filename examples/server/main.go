// Command server is an MCP server with one tool, on standard input and output or, with -http, over HTTP. It exports its
// telemetry as the OTEL_* variables define.
//
//	OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317 go run ./examples/server -http 127.0.0.1:8080
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Query and Forecast define the tool's schemas.
type Query struct {
	City string `json:"city" jsonschema:"the name of the city"`
}

// Forecast is the result of the tool.
type Forecast struct {
	City    string `json:"city"`
	Celsius int    `json:"celsius"`
}

var celsius = map[string]int{"Oslo": 4, "Madrid": 17, "Nairobi": 24}

// forecast is the tool. The model reads its error, so the error explains the correct use of the tool.
func forecast(_ context.Context, q Query) (Forecast, error) {
	t, ok := celsius[q.City]
	if !ok {
		return Forecast{}, fmt.Errorf("no forecast for %q: ask for Oslo, Madrid or Nairobi", q.City)
	}
	return Forecast{q.City, t}, nil
}

func main() {
	address := flag.String("http", "", "serve HTTP on this `address`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *address); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address string) (err error) {
	providers, err := otlp.Setup(ctx, otlp.WithServiceName("weather-server"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, providers.Shutdown(context.Background())) }()
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"},
		&mcpserver.Options{Telemetry: providers.Telemetry()})
	err = mcpserver.AddTool(s, &mcp.Tool{Name: "forecast", Description: "The temperature in a city tomorrow."}, forecast)
	if err != nil {
		return err
	}
	if address == "" {
		if err := s.ServeStdio(ctx); ctx.Err() == nil {
			return err
		}
		return nil // a signal is a normal end
	}
	// The traces of calling programs continue here. A public server must not set TrustTraceContext: with package bearer,
	// the traces of authenticated clients continue without it.
	return listen(ctx, address, s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true}))
}

// listen serves until ctx ends, and then until the requests in flight are answered.
func listen(ctx context.Context, address string, h *mcpserver.HTTPHandler) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s/mcp\n", l.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		patience, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		done <- errors.Join(h.Shutdown(patience), web.Shutdown(patience)) // ends the streams of listening clients at once
	}()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}
