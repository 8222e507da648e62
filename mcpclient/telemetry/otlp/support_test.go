package otlp

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// patience bounds how long a test waits for an event that must happen.
const patience = 20 * time.Second

// cleanEnv removes the OpenTelemetry variables of the developer's environment during the test.
func cleanEnv(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if key, _, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "OTEL_") {
			t.Setenv(key, "")
		}
	}
}

func listen(t *testing.T) *otlpsink.Sink {
	t.Helper()
	s, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// setup calls Setup without globals and with a discarded console, unless opts override these settings.
func setup(t *testing.T, opts ...Option) *Providers {
	t.Helper()
	p, err := Setup(t.Context(), append([]Option{WithGlobals(false), WithConsole(nil, nil)}, opts...)...)
	if err != nil {
		t.Fatalf("Setup: %v", err)
	}
	t.Cleanup(func() { p.Shutdown(patient(t)) })
	return p
}

// record makes a span, a count, and a log record within the span.
func record(t *testing.T, p *Providers) trace.SpanContext {
	t.Helper()
	ctx, span := p.TracerProvider().Tracer("test").Start(t.Context(), "work")
	counter, err := p.MeterProvider().Meter("test").Int64Counter("works")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 1)
	p.Logger().InfoContext(ctx, "work done", "event.name", "work.done", "pieces", 3)
	span.End()
	return span.SpanContext()
}

func shutdown(t *testing.T, p *Providers) {
	t.Helper()
	if err := p.Shutdown(patient(t)); err != nil {
		t.Fatalf("Shutdown: %v", err)
	}
}
