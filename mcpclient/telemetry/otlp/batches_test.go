package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// received counts the data of a receiver with gRPC's default limits.
type received struct {
	mu             sync.Mutex
	spans, records int
	largest        int // message, in bytes
}

func (r *received) message(m any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.largest = max(r.largest, proto.Size(m.(proto.Message)))
	switch m := m.(type) {
	case *coltrace.ExportTraceServiceRequest:
		for _, rs := range m.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				r.spans += len(ss.Spans)
			}
		}
	case *collogs.ExportLogsServiceRequest:
		for _, rl := range m.ResourceLogs {
			for _, sl := range rl.ScopeLogs {
				r.records += len(sl.LogRecords)
			}
		}
	}
}

// overGRPC starts a receiver with gRPC's default limit of 4 MiB for a message.
func (r *received) overGRPC(t *testing.T) (url string) {
	return "http://" + run(t, func(context.Context, signal) error { return nil },
		grpc.UnaryInterceptor(func(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			r.message(m)
			return next(ctx, m)
		}))
}

// overHTTP starts a receiver with the same limit.
func (r *received) overHTTP(t *testing.T) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 4<<20))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		var m proto.Message
		switch req.URL.Path {
		case "/v1/traces":
			m = &coltrace.ExportTraceServiceRequest{}
		case "/v1/logs":
			m = &collogs.ExportLogsServiceRequest{}
		default:
			return
		}
		if req.Header.Get("Content-Type") == "application/json" {
			err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, m)
		} else {
			err = proto.Unmarshal(body, m)
		}
		if err != nil {
			t.Errorf("%s: %v", req.URL.Path, err)
		}
		r.message(m)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestLargeBatchesReachReceiverWithDefaultLimits(t *testing.T) {
	const items, size = 1000, 16 << 10
	for _, tc := range []struct {
		protocol string
		start    func(*received, *testing.T) string
	}{
		{"grpc", (*received).overGRPC},
		{"http/protobuf", (*received).overHTTP},
		{"http/json", (*received).overHTTP},
	} {
		t.Run(tc.protocol, func(t *testing.T) {
			cleanEnv(t)
			var got received
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", tc.start(&got, t))
			t.Setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", tc.protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", strings.Replace(tc.protocol, "json", "protobuf", 1))
			t.Setenv("OTEL_METRICS_EXPORTER", "none")
			p := setup(t, WithLogLevel(slog.LevelDebug))
			content := strings.Repeat("x", size)
			tracer := p.TracerProvider().Tracer("test")
			for range items {
				_, span := tracer.Start(t.Context(), "work", trace.WithAttributes(attribute.String("content", content)))
				span.End()
				p.Logger().Info("work", "content", content)
			}
			shutdown(t, p)
			if got.spans != items || got.records != items {
				t.Errorf("%d spans and %d records arrived, want %d of each", got.spans, got.records, items)
			}
			if got.largest > maxBatch || got.largest < maxBatch/3 {
				t.Errorf("the largest message has %d bytes, want at most %d and at least a third of that", got.largest, maxBatch)
			}
		})
	}
}

func TestPartsKeepOrderAndLimit(t *testing.T) {
	size := func(n *int) int { return *n }
	for _, tc := range []struct {
		name  string
		batch []int
		want  string
	}{
		{"small", []int{1, 2, 3}, "[[1 2 3]]"},
		{"just full", []int{5, 5, 1}, "[[5 5] [1]]"},
		{"one above the limit is sent alone", []int{1, 99, 2, 3}, "[[1] [99] [2 3]]"},
		{"all above the limit", []int{11, 12}, "[[11] [12]]"},
		{"one", []int{11}, "[[11]]"},
	} {
		if got := fmt.Sprint(slices.Collect(parts(tc.batch, 10, size))); got != tc.want {
			t.Errorf("%s: parts of at most 10: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestFailedPartIsCountedAndOthersAreSent(t *testing.T) {
	size := func(*int) int { return 1 }
	refused := errors.New("refused")
	for _, tc := range []struct {
		name      string
		batch     []int
		fails     func(context.CancelFunc, int) error
		delivered []int
		want      string
	}{
		{"all arrive", []int{1, 2, 3}, func(context.CancelFunc, int) error { return nil }, []int{1, 2, 3}, "<nil>"},
		{"one is refused", []int{1, 2, 3}, func(_ context.CancelFunc, n int) error {
			if n == 2 {
				return refused
			}
			return nil
		}, []int{1, 3}, "1 of 3 items were not delivered: refused"},
		{"all are refused", []int{1, 2, 3}, func(context.CancelFunc, int) error { return refused }, nil,
			"3 of 3 items were not delivered: refused"},
		{"the context ends", []int{1, 2, 3}, func(end context.CancelFunc, n int) error { end(); return nil }, []int{1},
			"2 of 3 items were not delivered: context canceled"},
		{"one part", []int{1}, func(context.CancelFunc, int) error { return refused }, nil, "refused"},
	} {
		ctx, end := context.WithCancel(t.Context())
		var delivered []int
		err := inParts(ctx, tc.batch, 1, size, func(_ context.Context, part []int) error {
			err := tc.fails(end, part[0])
			if err == nil {
				delivered = append(delivered, part...)
			}
			return err
		})
		end()
		if got := fmt.Sprint(err); got != tc.want || !slices.Equal(delivered, tc.delivered) {
			t.Errorf("%s: got %v and error %q, want %v and %q", tc.name, delivered, got, tc.delivered, tc.want)
		}
	}
}

// everyValue has an attribute of each type, with sizes from r.
func everyValue(r *rand.Rand) []attribute.KeyValue {
	text := func() string { return strings.Repeat("é", r.IntN(200)) }
	nested := attribute.MapValue(attribute.String(text(), text()), attribute.Int64(text(), -r.Int64()))
	return []attribute.KeyValue{
		attribute.Bool(text(), true), attribute.Int64(text(), -r.Int64()), attribute.Float64(text(), r.Float64()),
		attribute.String(text(), text()), attribute.BoolSlice(text(), make([]bool, r.IntN(9))),
		attribute.Int64Slice(text(), []int64{-r.Int64(), -1, 0}), attribute.Float64Slice(text(), make([]float64, r.IntN(9))),
		attribute.StringSlice(text(), []string{text(), "", text()}), attribute.ByteSlice(text(), []byte(text())),
		{Key: attribute.Key(text()), Value: attribute.SliceValue(nested, attribute.StringValue(text()), nested)},
		{Key: attribute.Key(text()), Value: nested}, {Key: attribute.Key(text())},
	}
}

// everySpan returns spans with all parts that a span may have.
func everySpan(r *rand.Rand) []sdktrace.ReadOnlySpan {
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("scope",
		trace.WithInstrumentationVersion("1.2.3"), trace.WithSchemaURL("https://example.com/1"),
		trace.WithInstrumentationAttributes(everyValue(r)...))
	state, err := trace.ParseTraceState("a=" + strings.Repeat("x", 200) + ",b=1")
	if err != nil {
		panic(err)
	}
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1},
		TraceFlags: trace.FlagsSampled, TraceState: state, Remote: true})
	for range 1 + r.IntN(20) {
		_, span := tracer.Start(trace.ContextWithSpanContext(context.Background(), sc), strings.Repeat("n", r.IntN(99)),
			trace.WithAttributes(everyValue(r)...),
			trace.WithLinks(trace.Link{SpanContext: sc, Attributes: everyValue(r)}, trace.Link{SpanContext: sc}))
		span.AddEvent("event", trace.WithAttributes(everyValue(r)...))
		span.AddEvent("")
		span.SetStatus(codes.Error, strings.Repeat("s", r.IntN(999)))
		span.End()
	}
	return recorder.Ended()
}

func TestEstimatedSizesAreUpperBounds(t *testing.T) {
	var sent int
	endpoint := run(t, func(context.Context, signal) error { return nil },
		grpc.UnaryInterceptor(func(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			sent = proto.Size(m.(proto.Message))
			return next(ctx, m)
		}))
	cleanEnv(t)
	d := destination{overGRPC, endpoint, newLink()}
	spans, err := newSpanExporter(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer spans.Shutdown(patient(t))
	records, err := newLogExporter(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Shutdown(patient(t))
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		batch := everySpan(r)
		sum := resourceSize(batch[0].Resource())
		for i := range batch {
			sum += spanSize(&batch[i])
		}
		if err := spans.ExportSpans(patient(t), batch); err != nil {
			t.Fatal(err)
		}
		if sent > sum || sum > 2*sent {
			t.Errorf("seed %d: %d spans take %d bytes, estimated %d; want at least that and at most twice", seed, len(batch),
				sent, sum)
		}
		logged := everyRecord(r)
		sum = resourceSize(logged[0].Resource())
		for i := range logged {
			sum += logSize(&logged[i])
		}
		if err := records.Export(patient(t), logged); err != nil {
			t.Fatal(err)
		}
		if sent > sum || sum > 2*sent {
			t.Errorf("seed %d: %d records take %d bytes, estimated %d; want at least that and at most twice", seed,
				len(logged), sent, sum)
		}
	}
}

// kept is a processor that stores records.
type kept struct{ all []sdklog.Record }

func (k *kept) OnEmit(_ context.Context, r *sdklog.Record) error {
	k.all = append(k.all, r.Clone())
	return nil
}
func (*kept) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }
func (*kept) Shutdown(context.Context) error                         { return nil }
func (*kept) ForceFlush(context.Context) error                       { return nil }

// everyRecord returns records with attributes of each type.
func everyRecord(r *rand.Rand) []sdklog.Record {
	k := &kept{}
	log := slog.New(newExport(sdklog.NewLoggerProvider(sdklog.WithProcessor(k)), slog.LevelDebug))
	for range 1 + r.IntN(20) {
		attrs := []slog.Attr{slog.String(names.KeyEventName, "work.done"), slog.Duration("d", -1),
			slog.Group("g", "a", 1, "b", "2"),
			slog.Any("any", map[string]any{"list": []string{"a", strings.Repeat("b", r.IntN(999))}}), slog.Uint64("u", 1<<63)}
		log.LogAttrs(context.Background(), slog.LevelWarn, strings.Repeat("m", r.IntN(99)), attrs...)
	}
	return k.all
}

func BenchmarkBatchSizes(b *testing.B) {
	span := tracetest.SpanStub{Name: "tools/call add", Attributes: make([]attribute.KeyValue, 15)}
	for i := range span.Attributes {
		span.Attributes[i] = attribute.String("mcp.method.name", "tools/call")
	}
	batch := slices.Repeat([]sdktrace.ReadOnlySpan{span.Snapshot()}, 512)
	b.ReportAllocs()
	for b.Loop() {
		_ = inParts(b.Context(), batch, maxBatch-resourceSize(batch[0].Resource()), spanSize,
			func(context.Context, []sdktrace.ReadOnlySpan) error { return nil })
	}
}
