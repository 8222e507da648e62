package instrument_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// eventLog is a LoggerProvider that stores records.
type eventLog struct {
	embedded.LoggerProvider

	mu    sync.Mutex
	scope string              // guarded by mu
	conf  log.LoggerConfig    // guarded by mu
	asked []log.Severity      // levels passed to Enabled
	got   []log.Record        // guarded by mu
	spans []trace.SpanContext // guarded by mu; from the contexts of the records
}

func (e *eventLog) Logger(name string, opts ...log.LoggerOption) log.Logger {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.scope, e.conf = name, log.NewLoggerConfig(opts...)
	return eventLogger{e: e}
}

type eventLogger struct {
	embedded.Logger
	e *eventLog
}

func (l eventLogger) Enabled(_ context.Context, p log.EnabledParameters) bool {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	l.e.asked = append(l.e.asked, p.Severity)
	return true
}

func (l eventLogger) Emit(ctx context.Context, r log.Record) {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	l.e.got = append(l.e.got, r)
	l.e.spans = append(l.e.spans, trace.SpanContextFromContext(ctx))
}

// names returns the event names of the records.
func (e *eventLog) names() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.got {
		all = append(all, r.EventName())
	}
	return all
}

// failedCall makes a call fail.
func failedCall(ctx context.Context, tel *telemetry.Telemetry) {
	c := instrument.NewClient(tel, "files", pipe)
	_, op := c.StartRequest(ctx, instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "read"})
	op.Admit(nil, 7)
	op.End(instrument.Result{ErrorType: names.ErrorTimeout, Err: context.DeadlineExceeded})
	c.Close()
}

func TestLoggerProviderGetsEvents(t *testing.T) {
	var events eventLog
	tracers := sdktrace.NewTracerProvider()
	failedCall(t.Context(), telemetry.New(telemetry.WithLoggerProvider(&events), telemetry.WithTracerProvider(tracers)))
	if got := events.names(); !slices.Equal(got, []string{names.EventMCPClientRequestException}) {
		t.Fatalf("records: got %q, want the exception", got)
	}
	if events.scope != telemetry.ScopeName || events.conf.InstrumentationVersion() != telemetry.Version ||
		events.conf.SchemaURL() != names.SchemaURL {
		t.Errorf("scope: got %s %s of %s", events.scope, events.conf.InstrumentationVersion(), events.conf.SchemaURL())
	}
	if slices.ContainsFunc(events.asked, func(s log.Severity) bool { return s < log.SeverityInfo }) {
		t.Errorf("Enabled: got calls with %v, want none below Info", events.asked)
	}
	r := events.got[0]
	if r.Severity() != log.SeverityWarn || r.Timestamp().IsZero() || !events.spans[0].IsValid() {
		t.Errorf("got severity %v at %v in span %v, want a warning with a time in a span", r.Severity(), r.Timestamp(),
			events.spans[0])
	}
	got := map[attribute.Key]attribute.Value{}
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		got[kv.Key] = kv.Value
		return true
	})
	for key, want := range map[attribute.Key]string{
		names.KeyMCPClientName: "files", names.KeyErrorType: names.ErrorTimeout, names.KeyGenAIToolName: "read",
		names.KeyExceptionType: "context.deadlineExceededError", names.KeyExceptionMessage: "context deadline exceeded",
	} {
		if got[key].AsString() != want {
			t.Errorf("%s: got %q, want %q", key, got[key].AsString(), want)
		}
	}
	if got[names.KeyMCPClientDuration].Type() != attribute.FLOAT64 {
		t.Errorf("%s: got a %v, want a number", names.KeyMCPClientDuration, got[names.KeyMCPClientDuration].Type())
	}
	if _, there := got[names.KeyEventName]; there {
		t.Errorf("got an attribute %s, want the name only in the record's field", names.KeyEventName)
	}
}

func TestLoggerProviderSetsLogLevel(t *testing.T) {
	for _, tt := range []struct {
		level slog.Leveler
		want  []string
	}{
		{slog.LevelError, nil},
		{nil, []string{names.EventMCPClientRequestException}},
		{slog.LevelDebug, []string{names.EventMCPClientRequestStart, names.EventMCPClientRequestException}},
	} {
		var events eventLog
		failedCall(t.Context(), telemetry.New(telemetry.WithLoggerProvider(&events), telemetry.WithLogLevel(tt.level)))
		if got := events.names(); !slices.Equal(got, tt.want) {
			t.Errorf("level %v: got %q, want %q", tt.level, got, tt.want)
		}
	}
}

// TestOptionsSelectLogDestination sets the global LoggerProvider, so it runs in its own process.
func TestOptionsSelectLogDestination(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	var global eventLog
	otel.SetLoggerProvider(&global)
	for _, tt := range []struct {
		name                      string
		withLogger, withProvider  bool
		global, provider, slogged int
	}{
		{"neither", false, false, 1, 0, 0},
		{"a logger", true, false, 0, 0, 1},
		{"a provider", false, true, 0, 1, 0},
		{"both", true, true, 0, 1, 1},
	} {
		global.got = nil
		var provider eventLog
		var slogged strings.Builder
		var opts []telemetry.Option
		if tt.withLogger {
			opts = append(opts, telemetry.WithLogger(slog.New(slog.NewTextHandler(&slogged, nil))))
		}
		if tt.withProvider {
			opts = append(opts, telemetry.WithLoggerProvider(&provider))
		}
		failedCall(t.Context(), telemetry.New(opts...))
		lines := strings.Count(slogged.String(), "\n")
		if len(global.got) != tt.global || len(provider.got) != tt.provider || lines != tt.slogged {
			t.Errorf("%s: got %d records at the global provider, %d at the given one and %d lines, want %d, %d and %d", tt.name,
				len(global.got), len(provider.got), lines, tt.global, tt.provider, tt.slogged)
		}
	}
}
