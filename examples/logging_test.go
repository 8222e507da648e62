package examples

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/log"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/logging.md.

func quietConsole(ctx context.Context, stderr io.Writer) (*otlp.Providers, error) {
	// docs:quiet
	providers, err := otlp.Setup(ctx, otlp.WithConsole(stderr, slog.LevelWarn)) // WithConsole(nil, nil): no console
	// docs:end
	return providers, err
}

func exportedLevel(ctx context.Context) (*otlp.Providers, error) {
	// docs:exported
	level := new(slog.LevelVar) // Info; the running program may call level.Set(slog.LevelDebug)
	providers, err := otlp.Setup(ctx, otlp.WithLogLevel(level), otlp.WithConsole(nil, nil))
	// docs:end
	return providers, err
}

func ownLogger(out io.Writer) *telemetry.Telemetry {
	// docs:own
	handler := slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelWarn})
	logger := slog.New(telemetry.NewTraceHandler(handler)) // adds trace_id and span_id
	tel := telemetry.New(telemetry.WithLogger(logger))
	// docs:end
	return tel
}

func ownProvider(provider log.LoggerProvider) *telemetry.Telemetry {
	// docs:provider
	tel := telemetry.New(telemetry.WithLoggerProvider(provider), telemetry.WithLogLevel(slog.LevelWarn))
	// docs:end
	return tel
}

// docs:without

// without drops the records of some events. The message of a record is the name of its event.
type without struct {
	slog.Handler
	events []string
}

func (h without) Handle(ctx context.Context, r slog.Record) error {
	if slices.Contains(h.events, r.Message) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h without) WithAttrs(attrs []slog.Attr) slog.Handler {
	return without{h.Handler.WithAttrs(attrs), h.events}
}
func (h without) WithGroup(name string) slog.Handler {
	return without{h.Handler.WithGroup(name), h.events}
}

// docs:end

func TestGuideLoggersOmitTransitions(t *testing.T) {
	t.Setenv("OTEL_SDK_DISABLED", "true")
	transitions := func(tel *telemetry.Telemetry, out *bytes.Buffer) int {
		client, err := mcpclient.Connect(t.Context(), mcptest.NewServer(t, nil), &mcpclient.Options{Telemetry: tel})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		return strings.Count(out.String(), "mcp_client.connection.transition")
	}
	var out bytes.Buffer
	quiet, err := quietConsole(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	if n := transitions(quiet.Telemetry(), &out); n != 0 {
		t.Errorf("the quiet console has %d transitions", n)
	}
	if n := transitions(ownLogger(&out), &out); n != 0 {
		t.Errorf("the own logger has %d transitions", n)
	}
	if _, err := exportedLevel(t.Context()); err != nil {
		t.Error(err)
	}
	transitions(ownProvider(nil), &out)
	all := slog.NewTextHandler(&out, nil)
	if n := transitions(telemetry.New(telemetry.WithLogger(slog.New(all))), &out); n == 0 {
		t.Error("there are no transitions to drop")
	}
	out.Reset()
	dropping := without{all, []string{"mcp_client.connection.transition"}}
	if n := transitions(telemetry.New(telemetry.WithLogger(slog.New(dropping))), &out); n != 0 {
		t.Errorf("the handler has let %d transitions pass", n)
	}
}
