package instrument_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

var update = flag.Bool("update", false, "write the file of sample records")

// samplesFile has one line for each event, with a record of the event. The schema's tests generate the pages of
// docs/telemetry from it.
const samplesFile = "schema/testdata/samples.jsonl"

// TestSamplesMatchScenarioRecords runs the scenario that emits everything, at a fixed time and with fixed ids. It
// stores one record of each event: the first one with the most fields.
func TestSamplesMatchScenarioRecords(t *testing.T) {
	var text bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 7, 28, 9, 30, 0, 0, time.UTC))) // virtual
		tracers := sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(new(countingIDs)))
		log := auditLog(t)
		tel := telemetry.New(telemetry.WithAudit(log), telemetry.WithSlowThreshold(time.Second), telemetry.WithTracerProvider(tracers),
			telemetry.WithPropagators(propagation.TraceContext{}),
			telemetry.WithLogger(slog.New(&traceIDs{slog.NewJSONHandler(&text,
				&slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: printed})})))
		lifeOfClient(t, tel)
		lifeOfServer(t, tel)
		auditing(t, tel, log)
		if err := tel.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
	got := richest(t, text.Bytes())
	if *update {
		if err := os.WriteFile(samplesFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(samplesFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run go generate ./mcpclient/telemetry/... (-file +scenario):\n%s", diff)
	}
}

// richest returns the line with the most fields for each event, in the order of the schema.
func richest(t *testing.T, log []byte) string {
	t.Helper()
	best, fields := map[string]string{}, map[string]int{}
	for line := range bytes.Lines(log) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		event, _ := record[names.KeyEventName].(string)
		if len(record) > fields[event] {
			best[event], fields[event] = string(line), len(record)
		}
	}
	var all strings.Builder
	for _, e := range schema.Current.Events {
		all.WriteString(best[e.Name])
	}
	return all.String()
}

// maxText bounds the length of a text in a sample.
const maxText = 240

// printed replaces random ids with fixed ones, and cuts long texts at the end of a line.
func printed(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case names.KeyMCPClientCorrID:
		return slog.String(a.Key, "9f86d081884c7d659a2feaa0c55ad015")
	case names.KeyMCPClientAuditHash, names.KeyMCPServerAuditHash:
		return slog.String(a.Key, "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab")
	case names.KeyMCPClientInstanceID, names.KeyMCPServerInstanceID:
		return slog.String(a.Key, "b1946ac92492d234")
	}
	if text := a.Value.String(); a.Value.Kind() == slog.KindString && len(text) > maxText {
		return slog.String(a.Key, text[:strings.LastIndexByte(text[:maxText], '\n')+1]+"…")
	}
	return a
}

// countingIDs generates consecutive trace and span ids.
type countingIDs struct{ last uint64 }

func (g *countingIDs) NewIDs(ctx context.Context) (id trace.TraceID, _ trace.SpanID) {
	g.last++
	binary.BigEndian.PutUint64(id[:8], 0x4bf92f3577b34da6)
	binary.BigEndian.PutUint64(id[8:], g.last)
	return id, g.NewSpanID(ctx, id)
}

func (g *countingIDs) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	g.last++
	binary.BigEndian.PutUint64(id[:], 0x00f067aa<<32|g.last)
	return id
}

// traceIDs appends the ids of the record's span to its fields, like the console of package otlp. OTLP has separate
// fields for them.
type traceIDs struct{ slog.Handler }

func (h *traceIDs) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h *traceIDs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &traceIDs{h.Handler.WithAttrs(attrs)}
}
