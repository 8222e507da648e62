package examples

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// TestServiceCallProducesTheTraceOfTheGuide follows docs/guides/trace-a-call.md with a receiver instead of Jaeger, and
// compares the trace of a request with the drawing in the guide.
func TestServiceCallProducesTheTraceOfTheGuide(t *testing.T) {
	page, err := os.ReadFile("../docs/guides/trace-a-call.md")
	if err != nil {
		t.Fatal(err)
	}
	_, want, ok := strings.Cut(string(page), "```trace\n")
	if !ok {
		t.Fatal("the guide draws no trace")
	}
	want, _, _ = strings.Cut(want, "```")

	sink, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(t.Context())
	environ := append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+sink.Endpoint(), "OTEL_BSP_SCHEDULE_DELAY=50")
	server, stop := start(t, environ, "server", "-http", "127.0.0.1:0")
	defer stop()
	oslo, stop := start(t, environ, "service", "-mcp", server, "-http", "127.0.0.1:0")
	defer stop()
	answer, err := http.Get(oslo)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := ""
	_, err = sink.WaitFor(ctx, func(s otlpsink.Snapshot) bool {
		for _, root := range s.SpansNamed("GET /wear") {
			got = drawn(s.Trace(root.TraceID), root, "")
		}
		return got == want
	})
	if err != nil {
		t.Errorf("want the trace\n%s\ngot\n%s(%v)", want, got, err)
	}
}

// drawn draws a span and its descendants.
func drawn(trace []otlpsink.Span, s otlpsink.Span, indent string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-15s %-8s %s\n", s.Service(), s.Kind, indent+s.Name)
	slices.SortFunc(trace, func(a, b otlpsink.Span) int { return a.Start.Compare(b.Start) })
	for _, child := range trace {
		if child.ParentID == s.SpanID {
			text.WriteString(drawn(slices.Clone(trace), child, indent+"  "))
		}
	}
	return text.String()
}
