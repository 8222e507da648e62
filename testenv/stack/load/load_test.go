package load

import (
	"context"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// TestSentTracesAreReceived sends traces without a Collector in between, and counts the arrivals.
func TestSentTracesAreReceived(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := Record(ctx)
	if err != nil {
		t.Fatal(err)
	}
	type seen struct{ spans, roots, failed int }
	traces := map[string]*seen{}
	parents, ids := map[string]bool{}, map[string]bool{}
	services := map[string]int{}
	r, err := receive("127.0.0.1:0", func(all []*tracepb.ResourceSpans) {
		for _, resource := range all {
			services[serviceOf(resource)]++
		}
		for span := range spansOf(all) {
			s := traces[string(span.GetTraceId())]
			if s == nil {
				s = &seen{}
				traces[string(span.GetTraceId())] = s
			}
			s.spans++
			if span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
				s.failed++
			}
			ids[string(span.GetSpanId())] = true
			if len(span.GetParentSpanId()) == 0 {
				s.roots++
			} else {
				parents[string(span.GetParentSpanId())] = true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// At 1,000 traces a second, the second batch is due after a quarter of a second. Sending ends before that, so the
	// second batch is not sent, however long the first one takes.
	sending, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	defer stop()
	sent, next, err := l.Send(sending, 7, Options{Endpoint: r.address, Rate: 1000, Senders: 1})
	if err != nil {
		t.Fatal(err)
	}
	if next < 8 || next > 9 || sent.Dropped != 0 || sent.Spans != r.Spans() || r.Missing(sent) != 0 {
		t.Errorf("sent %d spans up to batch %d, dropped %d, %d arrived, %d are missing", sent.Spans, next, sent.Dropped,
			r.Spans(), r.Missing(sent))
	}
	if len(traces) != TracesOfBatch || len(ids) != int(sent.Spans) {
		t.Errorf("%d traces of %d spans arrived, want %d of %d", len(traces), len(ids), TracesOfBatch, sent.Spans)
	}
	failed := 0
	for id, s := range traces {
		if s.roots != 1 || s.spans < 3 {
			t.Errorf("trace %x has %d spans and %d roots", id, s.spans, s.roots)
		}
		if s.failed > 0 {
			failed++
		}
	}
	if failed != failuresOfBatch {
		t.Errorf("%d traces have errors, want %d", failed, failuresOfBatch)
	}
	for parent := range parents {
		if !ids[parent] {
			t.Errorf("the parent %x has not arrived", parent)
		}
	}
	if services[clientService] != 1 || services[serverService] != 1 {
		t.Errorf("a request of each process is wanted, got %v", services)
	}
	t.Logf("%.2f spans of %.0f bytes a trace", l.SpansOfTrace(), l.BytesOfSpan())
}

func TestReceiverCountsMissingTraces(t *testing.T) {
	var sent Sent
	var r Receiver
	for n := range uint64(1000) {
		sent.acknowledged.add(n)
		if n%7 != 0 {
			r.arrived.add(n)
		}
	}
	r.arrived.add(5000)
	if got, want := r.Missing(&sent), uint64(143); got != want {
		t.Errorf("%d are missing, want %d", got, want)
	}
}
