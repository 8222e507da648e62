package otlpsink

import (
	"strings"
	"testing"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// TestJSONIsWeighedBeforeDecoding sends small requests that become large: by objects, by numbers, and by strings in
// lists, with names in both spellings and with escapes.
func TestJSONIsWeighedBeforeDecoding(t *testing.T) {
	s := startHTTP(t)
	const histogram = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"histogram":{"dataPoints":[{`
	for name, bomb := range map[string]struct{ path, head, each, tail string }{
		"spans":        {"/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{}`, ",{}", "]}]}]}"},
		"by old names": {"/v1/traces", `{"resource_spans":[{"scope_spans":[{"spans":[{}`, ",{}", "]}]}]}"},
		"by escapes":   {"/v1/traces", `{"resource\u0053pans":[{"scopeSpans":[{"spans":[{}`, ",{}", "]}]}]}"},
		"counts":       {"/v1/metrics", histogram + `"bucketCounts":[0`, ",0", "]}]}}]}]}]}"},
		"bounds":       {"/v1/metrics", histogram + `"explicitBounds":[0`, ",0", "]}]}}]}]}]}"},
		"values": {"/v1/logs", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"arrayValue":{"values":[{}`, ",{}",
			"]}}}]}]}]}"},
	} {
		body := zipped(t, []byte(bomb.head+strings.Repeat(bomb.each, 60<<20/len(bomb.each))+bomb.tail))
		size := body.Len()
		var code int
		allocated := heap.Allocated(func() {
			code, _ = post(t, s, bomb.path, "application/json", body, encoding("gzip"))
		})
		if code != 413 || allocated > 160<<20 {
			t.Errorf("%s: %d bytes, got %d and %d MiB allocated, want 413 and 160 MiB at most", name, size, code, allocated>>20)
		}
	}
}

// TestALargeBatchInJSONFits sends as many spans as an exporter may have in one batch.
func TestALargeBatchInJSONFits(t *testing.T) {
	s := startHTTP(t)
	var spans []*trace.Span
	for range 8192 {
		span := &trace.Span{Name: "tools/call radar", TraceId: make([]byte, 16), SpanId: make([]byte, 8)}
		for range 20 {
			span.Attributes = append(span.Attributes, &common.KeyValue{Key: "mcp.method.name", Value: &common.AnyValue{
				Value: &common.AnyValue_StringValue{StringValue: "tools/call"}}})
		}
		spans = append(spans, span)
	}
	raw, err := protojson.Marshal(&coltrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{
		{ScopeSpans: []*trace.ScopeSpans{{Spans: spans}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if code, answer := post(t, s, "/v1/traces", "application/json", strings.NewReader(string(raw))); code != 200 {
		t.Errorf("%d MiB: got %d %s", len(raw)>>20, code, answer)
	}
}
