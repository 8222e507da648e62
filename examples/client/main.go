// Command client starts the server in examples/server, lists its tools, and calls one of them. With -url it uses a
// running server instead. The call is a trace, exported as the OTEL_* variables define.
//
//	go run ./examples/client Oslo
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/otel"

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
	url := flag.String("url", "", "connect to the server at this `URL` instead of starting one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *url, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, city string) (err error) {
	providers, err := otlp.Setup(ctx, otlp.WithServiceName("weather-client"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, providers.Shutdown(context.Background())) }()

	var server transport.Transport = transport.Stdio{Command: "go", Args: []string{"run", "./examples/server"},
		TraceContext: true}
	if url != "" {
		server = &transport.HTTP{URL: url}
	}
	ctx, span := otel.Tracer("examples/client").Start(ctx, "what to wear")
	defer span.End()
	c, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Name: "weather", Telemetry: providers.Telemetry()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	for tool, err := range c.Tools(ctx) {
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", tool.Name, tool.Description)
	}
	f, err := mcpclient.CallToolAs[Forecast](ctx, c, "forecast", map[string]any{"city": city})
	if refused, ok := errors.AsType[*mcp.ToolError](err); ok {
		return fmt.Errorf("the tool failed: %w", refused)
	} else if err != nil {
		return err
	}
	fmt.Printf("%s tomorrow: %d °C\n", city, f.Celsius)
	return nil
}
