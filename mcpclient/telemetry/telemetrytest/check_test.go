package telemetrytest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// seconds creates a histogram with its row's description and buckets, so that each test case has only one error.
func seconds(t *testing.T, r *Recording, name string) metric.Float64Histogram {
	t.Helper()
	i := slices.IndexFunc(schema.Current.Metrics, func(m schema.Metric) bool { return m.Name == name })
	row := schema.Current.Metrics[i]
	h, err := r.meters.Meter(telemetry.ScopeName).Float64Histogram(name, metric.WithUnit(row.Unit),
		metric.WithDescription(row.Brief), metric.WithExplicitBucketBoundaries(row.Buckets...))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// request starts a span like a span of the library.
func request(r *Recording, name string, attrs ...attribute.KeyValue) trace.Span {
	_, span := r.tracers.Tracer(telemetry.ScopeName).Start(context.Background(), name,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("mcp.method.name", "tools/list")))
	span.SetAttributes(
		attribute.String("mcp_client.name", "x"), attribute.String("mcp_client.instance.id",
			"1"), attribute.String("mcp_client.corr_id", "y"))
	span.SetAttributes(attrs...)
	return span
}

// TestProblemsReportsEachDifference emits one error at a time, without the library, and expects a report of it. Names
// of the semantic conventions are checked like the module's own names.
func TestProblemsReportsEachDifference(t *testing.T) {
	debug := func(r *Recording, msg string, attrs ...slog.Attr) {
		slog.New(&handler{log: r.logs}).LogAttrs(t.Context(), slog.LevelDebug, msg, attrs...)
	}
	retry := func(attrs ...slog.Attr) []slog.Attr {
		return append([]slog.Attr{
			slog.String("event.name", "mcp_client.tombstone.added"), slog.String("mcp_client.name",
				"x"), slog.String("mcp_client.instance.id", "1"),
		}, attrs...)
	}
	sent := func(attrs ...attribute.KeyValue) metric.MeasurementOption { return metric.WithAttributes(attrs...) }
	method := attribute.String("mcp.method.name", "ping")

	for _, tt := range []struct {
		name, want string
		emit       func(*Recording)
	}{
		{"undeclared attribute of a convention's metric", `"mcp.client.operation.duration": mcp.session.id is not declared`,
			func(r *Recording) {
				seconds(t, r, "mcp.client.operation.duration").Record(t.Context(), 1,
					sent(method, attribute.String("mcp.session.id", "s")))
			}},
		{"missing attribute of a convention's metric", `"mcp.server.operation.duration": mcp.method.name is missing`,
			func(r *Recording) { seconds(t, r, "mcp.server.operation.duration").Record(t.Context(), 1) }},
		{"value outside a closed set", `mcp_client.connection.attempt.kind is "third"`,
			func(r *Recording) {
				seconds(t, r, "mcp_client.connection.attempt.duration").Record(t.Context(), 1, sent(
					attribute.String("mcp_client.name", "x"), attribute.String("mcp_client.connection.attempt.kind", "third")))
			}},
		{"wrong type", `mcp.method.name is a int, want string`,
			func(r *Recording) {
				seconds(t, r, "mcp.client.operation.duration").Record(t.Context(), 1, sent(attribute.Int("mcp.method.name", 1)))
			}},
		{"wrong buckets and unit", `buckets [1 2], want`,
			func(r *Recording) {
				h, err := r.meters.Meter(telemetry.ScopeName).Float64Histogram("mcp.client.operation.duration",
					metric.WithUnit("ms"), metric.WithExplicitBucketBoundaries(1, 2))
				if err != nil {
					t.Fatal(err)
				}
				h.Record(t.Context(), 1, sent(method))
			}},
		{"name of a step that another attribute names", `its name is not of the form mcp_client.auth {mcp_client.auth.step}`,
			func(r *Recording) {
				_, span := r.tracers.Tracer(telemetry.ScopeName).Start(t.Context(), "mcp_client.auth token",
					trace.WithAttributes(attribute.String("mcp_client.auth.step", "refresh")))
				span.End()
			}},
		{"unknown metric", `metric "mcp_client.made.up" is not in the schema`,
			func(r *Recording) {
				c, err := r.meters.Meter(telemetry.ScopeName).Int64Counter("mcp_client.made.up")
				if err != nil {
					t.Fatal(err)
				}
				c.Add(t.Context(), 1)
			}},
		{"wrong instrument", `its data are a rising sum, want sum`,
			func(r *Recording) {
				c, err := r.meters.Meter(telemetry.ScopeName).Int64Counter("mcp_client.tombstone.kept")
				if err != nil {
					t.Fatal(err)
				}
				c.Add(t.Context(), 1, sent(attribute.String("mcp_client.name", "x")))
			}},
		{"attribute without a bound", `"mcp_client.tombstone.kept": mcp.session.id is unbounded`,
			func(r *Recording) {
				c, err := r.meters.Meter(telemetry.ScopeName).Int64UpDownCounter("mcp_client.tombstone.kept")
				if err != nil {
					t.Fatal(err)
				}
				c.Add(t.Context(), 0, sent(attribute.String("mcp_client.name", "x"), attribute.String("mcp.session.id", "s")))
			}},
		{"more values than the limit", `105 values of mcp.method.name of mcp_client.name=x, want at most 104`,
			func(r *Recording) {
				h := seconds(t, r, "mcp.client.operation.duration")
				for i := range 105 {
					h.Record(t.Context(), 1, sent(attribute.String("mcp_client.name", "x"),
						attribute.String("mcp.method.name", fmt.Sprint(i))))
				}
			}},
		{"more series than the table allows", `2 series of mcp_client.name=x, want at most 1`,
			func(r *Recording) {
				h := seconds(t, r, "mcp_client.connection.backoff")
				for _, method := range []string{"a", "b"} {
					h.Record(t.Context(), 1, sent(attribute.String("mcp_client.name", "x"),
						attribute.String("mcp.method.name", method)))
				}
			}},
		{"value that the row does not have", `error.type is "panic", want one of`,
			func(r *Recording) {
				seconds(t, r, "mcp.client.session.duration").Record(t.Context(), 1, sent(
					attribute.String("mcp_client.name", "x"), attribute.String("error.type", "panic")))
			}},
		{"values of another type", `its values are double`,
			func(r *Recording) {
				c, err := r.meters.Meter(telemetry.ScopeName).Float64UpDownCounter("mcp_client.tombstone.kept")
				if err != nil {
					t.Fatal(err)
				}
				c.Add(t.Context(), 0, sent(attribute.String("mcp_client.name", "x")))
			}},
		{"description of a metric", `unit "" and description "", want "{tombstone}" and`,
			func(r *Recording) {
				c, err := r.meters.Meter(telemetry.ScopeName).Int64UpDownCounter("mcp_client.tombstone.kept")
				if err != nil {
					t.Fatal(err)
				}
				c.Add(t.Context(), 0, sent(attribute.String("mcp_client.name", "x")))
			}},
		{"count that does not return to zero", `mcp_server.task.active is 1 after all operations have ended`,
			func(r *Recording) {
				c, err := r.meters.Meter(telemetry.ScopeName).Int64UpDownCounter("mcp_server.task.active")
				if err != nil {
					t.Fatal(err)
				}
				c.Add(t.Context(), 1, sent(attribute.String("mcp_server.name", "x"), attribute.String("gen_ai.tool.name", "y")))
			}},
		{"undeclared attribute of a span", `as mcp_client.request: made.up is not declared`,
			func(r *Recording) { request(r, "tools/list", attribute.String("made.up", "x")).End() }},
		{"name of a span", `its name is not of the form`,
			func(r *Recording) { request(r, "tools/list everything").End() }},
		{"late attribute that samplers need", `at start: mcp.method.name is missing`,
			func(r *Recording) {
				_, span := r.tracers.Tracer(telemetry.ScopeName).Start(t.Context(), "ping",
					trace.WithSpanKind(trace.SpanKindClient))
				span.SetAttributes(method, attribute.String("mcp_client.name", "x"), attribute.String("mcp_client.corr_id", "y"))
				span.End()
			}},
		{"error without a type", `status Error with error.type present: false`,
			func(r *Recording) {
				span := request(r, "tools/list")
				span.SetStatus(codes.Error, "")
				span.End()
			}},
		{"span event", `it has span events`,
			func(r *Recording) {
				span := request(r, "tools/list")
				span.AddEvent("x")
				span.End()
			}},
		{"kind of a span", `no row has kind PRODUCER`,
			func(r *Recording) {
				_, span := r.tracers.Tracer(telemetry.ScopeName).Start(t.Context(), "x", trace.WithSpanKind(trace.SpanKindProducer))
				span.End()
			}},
		{"open span", `span "tools/list" has not ended`,
			func(r *Recording) { request(r, "tools/list") }},
		{"unknown event", `event.name "" is not in the schema`,
			func(r *Recording) { debug(r, "hello") }},
		{"message of an event", `its message is "a tombstone"`,
			func(r *Recording) { debug(r, "a tombstone", retry(slog.Int("mcp_client.tombstone.count", 1))...) }},
		{"missing field", `mcp_client.tombstone.count is missing`,
			func(r *Recording) { debug(r, "mcp_client.tombstone.added", retry()...) }},
		{"field twice", `mcp_client.name twice`,
			func(r *Recording) {
				debug(r, "mcp_client.tombstone.added",
					retry(slog.Int("mcp_client.tombstone.count", 1), slog.String("mcp_client.name", "x"))...)
			}},
		{"empty field", `mcp_client.name is empty`,
			func(r *Recording) {
				debug(r, "mcp_client.tombstone.added", slog.String("event.name", "mcp_client.tombstone.added"),
					slog.String("mcp_client.name", ""), slog.Int("mcp_client.tombstone.count", 1))
			}},
		{"level of an event", `level WARN, want one of [DEBUG]`,
			func(r *Recording) {
				slog.New(&handler{log: r.logs}).LogAttrs(t.Context(), slog.LevelWarn, "mcp_client.tombstone.added",
					retry(slog.Int("mcp_client.tombstone.count", 1))...)
			}},
		{"group", `group "mcp"`,
			func(r *Recording) {
				slog.New(&handler{log: r.logs}).WithGroup("mcp").LogAttrs(t.Context(), slog.LevelDebug,
					"mcp_client.tombstone.added",
					retry(slog.Int("mcp_client.tombstone.count", 1))...)
			}},
		{"start without an end", `mcp_client.request of x: the starts exceed the stops and exceptions by +1`,
			func(r *Recording) {
				debug(r, "mcp_client.request.start", slog.String("event.name", "mcp_client.request.start"),
					slog.String("mcp_client.name", "x"), slog.String("mcp_client.corr_id", "y"), slog.String("mcp.method.name",
						"ping"))
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecording(t, nil)
			r.strict = true
			tt.emit(r)
			problems := r.Problems()
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, tt.want) }) {
				t.Errorf("got problems %q, want one with %q", problems, tt.want)
			}
		})
	}
}

// TestRecorderChecksNamesAddedByProgram emits additions of a program, valid and invalid ones.
func TestRecorderChecksNamesAddedByProgram(t *testing.T) {
	logged := func(r *Recording, attrs ...slog.Attr) {
		slog.New(&handler{log: r.logs}).LogAttrs(t.Context(), slog.LevelDebug, "mcp_client.tombstone.added",
			append(attrs, slog.String("event.name", "mcp_client.tombstone.added"), slog.String("mcp_client.name", "x"),
				slog.String("mcp_client.instance.id", "1"), slog.Int("mcp_client.tombstone.count", 1))...)
	}
	span := func(change func(trace.Span), attrs ...attribute.KeyValue) func(*Recording) {
		return func(r *Recording) {
			s := request(r, "tools/list", attrs...)
			if change != nil {
				change(s)
			}
			s.End()
		}
	}
	for _, tt := range []struct {
		name, want string // empty for no problem
		emit       func(*Recording)
	}{
		{"an attribute", "", span(nil, attribute.String("tenant.id", "acme"), attribute.Bool("empty", false))},
		{"an attribute of an unused convention", "", span(nil, attribute.String("gen_ai.request.model", "m"))},
		{"an event", "", span(func(s trace.Span) { s.AddEvent("x") })},
		{"an exception and its status", "", span(func(s trace.Span) {
			s.RecordError(context.Canceled)
			s.SetStatus(codes.Error, "x")
		})},
		{"links", "", span(func(s trace.Span) {
			for range 5 {
				s.AddLink(trace.Link{SpanContext: s.SpanContext()})
			}
		})},
		{"status OK of a failed operation", "", span(func(s trace.Span) { s.SetStatus(codes.Ok, "") },
			attribute.String("error.type", "timeout"))},
		{"a field of a record", "", func(r *Recording) { logged(r, slog.String("tenant.id", "acme")) }},
		{"a child", "", func(r *Recording) {
			_, s := r.tracers.Tracer("app").Start(t.Context(), "mine", trace.WithSpanKind(trace.SpanKindProducer))
			s.End()
		}},

		{"the client's namespace", "mcp_client.mine is not declared", span(nil, attribute.Int("mcp_client.mine", 1))},
		{"the server's namespace", "mcp_server.mine is not declared", span(nil, attribute.Int("mcp_server.mine", 1))},
		{"the namespace of the conventions", "mcp.mine is not declared", span(nil, attribute.Int("mcp.mine", 1))},
		{"the client's namespace in a record", "mcp_client.mine is not declared",
			func(r *Recording) { logged(r, slog.Int("mcp_client.mine", 1)) }},
		{"a schema name in the wrong place", "client.port is not declared", span(nil, attribute.Int("client.port", 1))},
		{"a schema name with the wrong type", "mcp_client.send.retries is a string",
			span(nil, attribute.String("mcp_client.send.retries", "1"))},
		{"an error without a status", "status Unset with error.type", span(nil, attribute.String("error.type", "timeout"))},
		{"an attribute of a metric", "tenant.id is not declared", func(r *Recording) {
			seconds(t, r, "mcp.client.operation.duration").Record(t.Context(), 1, metric.WithAttributes(
				attribute.String("mcp.method.name", "ping"), attribute.String("tenant.id", "acme")))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecording(t, nil)
			r.strict = false
			tt.emit(r)
			problems := r.Problems()
			if tt.want == "" && len(problems) > 0 || !strings.Contains(strings.Join(problems, "\n"), tt.want) {
				t.Errorf("got problems %q, want %q", problems, tt.want)
			}
		})
	}
}

func TestProblemsMatchesStartAndEndPerInstance(t *testing.T) {
	r := newRecording(t, nil)
	for _, one := range [][2]string{{"mcp_client.request.start", "1"}, {"mcp_client.request.stop", "2"}} {
		slog.New(&handler{log: r.logs}).LogAttrs(t.Context(), slog.LevelDebug, one[0], slog.String("event.name", one[0]),
			slog.String("mcp_client.name", "x"), slog.String("mcp_client.instance.id", one[1]))
	}
	for _, want := range []string{
		"mcp_client.request of x 1: the starts exceed the stops and exceptions by +1",
		"mcp_client.request of x 2: the starts exceed the stops and exceptions by -1",
	} {
		if all := r.Problems(); !slices.ContainsFunc(all, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("want a problem with %q, got %q", want, all)
		}
	}
}

func TestProblemsIgnoresMissingEndsIfRecordsAreLost(t *testing.T) {
	r := newRecording(t, nil)
	debug := func(event string, fields ...slog.Attr) {
		fields = append(fields, slog.String("event.name", event), slog.String("mcp_client.name", "x"))
		slog.New(&handler{log: r.logs}).LogAttrs(t.Context(), slog.LevelDebug, event, fields...)
	}
	debug("mcp_client.request.start", slog.String("mcp_client.corr_id", "y"), slog.String("mcp.method.name", "ping"))
	debug("mcp_client.log.lost")
	for _, problem := range r.Problems() {
		if strings.Contains(problem, "the starts exceed") {
			t.Errorf("want no problem, because the end may be among the lost records, got %q", problem)
		}
	}
}

func TestEmptyRecordingHasNoProblems(t *testing.T) {
	r := newRecording(t, nil)
	if problems := r.Problems(); len(problems) > 0 {
		t.Errorf("nothing was emitted: want no problem, got %q", problems)
	}
	missing := r.Missing()
	for _, want := range []string{
		"span mcp_client.request", "metric mcp_client.tombstone.kept with mcp_client.name",
		"event mcp_client.request.stop at DEBUG",
		"span mcp_client.request with status Error", "span mcp_client.request with a link",
	} {
		if !slices.Contains(missing, want) {
			t.Errorf("want %q among the missing parts", want)
		}
	}
}
