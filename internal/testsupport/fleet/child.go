package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// Environment variables that make a test binary a server.
const (
	envServer   = "FLEET_SERVER"
	envEndpoint = "FLEET_ENDPOINT"
)

// Served must be the first call in TestMain. If [Child] has started this process, Served runs the server with the given
// name and then exits. A server serves standard input until its end and reports to tel, which is nil for a server
// without telemetry.
func Served(servers map[string]func(ctx context.Context, tel *telemetry.Telemetry) error) {
	name := os.Getenv(envServer)
	if name == "" {
		return
	}
	if err := serve(servers[name]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(server func(context.Context, *telemetry.Telemetry) error) (err error) {
	ctx := context.Background()
	endpoint := os.Getenv(envEndpoint)
	if endpoint == "" {
		return server(ctx, telemetry.Off())
	}
	p, err := otlp.Setup(ctx, otlp.WithServiceName(ServerName), otlp.WithEndpoint(endpoint), otlp.WithGlobals(false),
		otlp.WithConsole(os.Stderr, slog.LevelError))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Shutdown(ctx)) }()
	return server(ctx, p.Telemetry())
}

// Child returns the command that starts this test binary as a server, and the variables to add to its environment. The
// server sends its spans to sink; nil means a server without telemetry.
func Child(t testing.TB, server string, sink *otlpsink.Sink) (command string, env []string) {
	t.Helper()
	command, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env = []string{envServer + "=" + server}
	if sink != nil {
		env = append(env, envEndpoint+"="+sink.Endpoint(), "OTEL_BSP_SCHEDULE_DELAY=20", "OTEL_EXPORTER_OTLP_INSECURE=true")
	}
	return command, env
}

// Sink returns a receiver for the spans of a child process.
func Sink(t testing.TB) *otlpsink.Sink {
	t.Helper()
	s, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}
