// Command service is a web service that calls a tool for each request: GET /wear?city=Oslo. It keeps one connection to
// the MCP server at -mcp for all requests, is ready when that connection is, and serves a debug page at /debug/mcp/.
//
//	go run ./examples/server -http 127.0.0.1:8080 &
//	go run ./examples/service -mcp http://127.0.0.1:8080/mcp -http 127.0.0.1:8081
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

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Forecast has the fields of the tool's output that this program uses.
type Forecast struct {
	Celsius int `json:"celsius"`
}

func main() {
	mcpURL := flag.String("mcp", "http://127.0.0.1:8080/mcp", "the MCP server's `URL`")
	address := flag.String("http", "127.0.0.1:8081", "serve HTTP on this `address`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *mcpURL, *address); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, mcpURL, address string) (err error) {
	// docs:run
	providers, err := otlp.Setup(ctx, otlp.WithServiceName("wear"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, providers.Shutdown(context.Background())) }()

	// New, not Connect: the service starts even if the server is down, and connects once the server is up.
	c, err := mcpclient.New(&transport.HTTP{URL: mcpURL},
		&mcpclient.Options{Name: "weather", Telemetry: providers.Telemetry()})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /wear", wear(c))
	mux.Handle("GET /ready", mcpclient.HealthHandler(c))
	mux.Handle("/debug/mcp/", debugpage.Handler(debugpage.LocalOnly()))
	err = listen(ctx, address, mux)

	patience, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(err, c.Shutdown(patience))
	// docs:end
}

// docs:call

// wear calls the tool on behalf of an HTTP request: within its deadline and its trace.
func wear(c *mcpclient.Client) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := otel.GetTextMapPropagator().Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := otel.Tracer("examples/service").Start(ctx, "GET /wear")
		defer span.End()
		f, err := mcpclient.CallToolAs[Forecast](ctx, c, "forecast", map[string]any{"city": r.FormValue("city")},
			mcpclient.WithTimeout(2*time.Second), mcpclient.WaitForReady(), mcpclient.Retry(2))
		refused, isRefused := errors.AsType[*mcp.ToolError](err)
		switch {
		case isRefused:
			http.Error(w, refused.Error(), http.StatusBadRequest)
		case err != nil:
			http.Error(w, "no forecast: "+err.Error(), http.StatusBadGateway)
		case f.Celsius < 10:
			_, _ = fmt.Fprintln(w, "a coat")
		default:
			_, _ = fmt.Fprintln(w, "a shirt")
		}
	}
}

// docs:end

// listen serves until ctx ends, and then until the requests in flight are answered.
func listen(ctx context.Context, address string, h http.Handler) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s/wear?city=Oslo\n", l.Addr())
	web := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		patience, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		done <- web.Shutdown(patience)
	}()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}
