package workload

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestEveryPeerGetsTheRightAnswersInEveryUse(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range asUsed() {
		if seen[r.use.Name+string(r.transport)] || r.use.Name == largeHeap.Name {
			continue
		}
		seen[r.use.Name+string(r.transport)] = true
		for _, p := range peers() {
			t.Run(fmt.Sprintf("%s/%s/%s", p.Name, r.transport, r.use.Name), func(t *testing.T) {
				ctx := t.Context()
				if r.use.With != nil {
					with, end, err := r.use.With(ctx)
					if err != nil {
						t.Fatal(err)
					}
					defer end()
					ctx = with
				}
				rightAnswers(t, ctx, p, r.transport, Canned{r.canned.Era, Text, KiB}, 8)
				rightAnswers(t, ctx, p, r.transport, Canned{r.canned.Era, Mixed, MixedSize}, 8)
			})
		}
	}
}

// TestCaseNamesAreUnique checks that no two cases have the same name.
func TestCaseNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range asUsed() {
		if seen[r.String()] {
			t.Errorf("%s occurs twice", r)
		}
		seen[r.String()] = true
	}
}

func TestTLSServerUsesTheHTTPVersionOfTheUse(t *testing.T) {
	for want, u := range map[string]Use{"HTTP/1.1": tlsClient, "HTTP/2.0": h2Client} {
		ctx, end, err := u.With(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		url, stop, err := listenerOf(ctx)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprint(w, r.Proto, " ", r.TLS != nil)
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		resp, err := HTTPClientOf(ctx).Get(url)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(got) != want+" true" {
			t.Errorf("%s: want %s with TLS, got %s, %v", u.Name, want, got, err)
		}
		HTTPClientOf(ctx).CloseIdleConnections()
	}
}

// TestInstallationRecordsSpansAndDurations checks that the production profile records a span and a duration for each
// call.
func TestInstallationRecordsSpansAndDurations(t *testing.T) {
	for _, p := range []Peer{FloorJSON, Ours} {
		t.Run(p.Name, func(t *testing.T) {
			spans, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
			ctx := WithInstallation(t.Context(), &Installation{
				Tracers:     sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
				Meters:      sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
				Propagators: propagation.TraceContext{}, Logger: slog.New(slog.DiscardHandler),
			})
			rightAnswers(t, ctx, p, Pipe, Canned{Modern, Text, Tiny}, 1)
			calls := 0
			for _, s := range spans.Ended() {
				if s.Name() == "tools/call "+TinyTool {
					calls++
				}
			}
			if calls != 3 {
				t.Errorf("want a span for each of three calls, got %d", calls)
			}
			if n := recorded(t, reader); n < 3 {
				t.Errorf("want three durations, got %d", n)
			}
		})
	}
}

// recorded returns the number of values in all histograms.
func recorded(t *testing.T, reader sdkmetric.Reader) (n uint64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok {
				for _, point := range h.DataPoints {
					n += point.Count
				}
			}
		}
	}
	return n
}

func TestMixedResultsHaveTheMeanSize(t *testing.T) {
	k, sum := newResponder(Canned{Modern, Mixed, MixedSize}), 0
	for range mix {
		sum += len(k.answer(request(Modern, "tools/call", callParams))) - len("\n")
	}
	if mean := sum / len(mix); mean != MixedSize {
		t.Errorf("want %d bytes on average, got %d", MixedSize, mean)
	}
}
