//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mcpserver_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/testsupport/propagators"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// asPropagating is an environment variable. Its value names the propagator with which this program then runs as a
// server.
const asPropagating = "MCPSERVER_TEST_PROPAGATOR"

func servePropagating(name string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s := mcpserver.New(mcp.Implementation{Name: "tracing", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.New(
		telemetry.WithTracerProvider(sdktrace.NewTracerProvider()), telemetry.WithPropagators(propagators.All()[name]))})
	err := s.AddTool(&mcp.Tool{Name: "trace"},
		func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return toldBy("%s %s%s%s", trace.SpanContextFromContext(ctx).TraceID(), os.Getenv("TRACEPARENT"),
				os.Getenv("B3"), os.Getenv("X_AMZN_TRACE_ID"))
		})
	if err == nil {
		err = s.ServeStdio(ctx)
	}
	return err
}

// A child gets the trace of each request in the message, and the trace of the connection attempt in its environment.
func TestChildProcessGetsTraceWithAnyPropagator(t *testing.T) {
	exe, err := os.Executable()
	must(t, err)
	for _, tt := range []struct {
		name    string
		version mcp.Version
	}{
		{"tracecontext", mcp.Version20260728}, {"b3", mcp.Version20260728}, {"b3", mcp.Version20251125},
		{"xray", mcp.Version20260728}, {"made up", mcp.Version20251125},
	} {
		t.Run(fmt.Sprint(tt.name, " ", tt.version), func(t *testing.T) {
			p := propagators.All()[tt.name]
			rec := telemetrytest.Recorder(t, telemetry.WithPropagators(p))
			o := mcpclient.Options{Telemetry: rec.Telemetry(), Versions: []mcp.Version{tt.version}}
			c, err := mcpclient.Connect(t.Context(), transport.Stdio{Command: exe, TraceContext: true,
				Env: append(os.Environ(), asPropagating+"="+tt.name, "B3=another's")}, &o)
			must(t, err)
			text := callText(t, c, "trace")
			must(t, c.Close())

			attempt := propagation.MapCarrier{}
			p.Inject(trace.ContextWithSpanContext(t.Context(), rec.Span("mcp_client.connect").SpanContext()), attempt)
			want := arrived(p, rec, "tools/call trace") + " " + attempt["traceparent"]
			if tt.name != "b3" {
				want += "another's" // the value of B3, which this propagator does not use
			}
			if want += attempt["b3"] + attempt["X-Amzn-Trace-Id"]; text != want {
				t.Errorf("the child got %q, want %q", text, want)
			}
		})
	}
}
