package fleet

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// Span is an ended span from any source. Ids are hexadecimal; the ParentID of a root is empty.
type Span struct {
	TraceID, ID, ParentID string
	Name, Kind, Status    string // Kind is CLIENT, SERVER or INTERNAL; Status is UNSET or ERROR
	Start, End            time.Time
	Attributes            map[string]string
	Links                 []string // ids of the linked spans
}

func (s Span) String() string {
	return fmt.Sprintf("%s %q %s %.8s<-%.8s %v to %v %s", s.Kind, s.Name, s.Status, s.ID, s.ParentID,
		s.Start.Format("05.000000"), s.End.Format("05.000000"), s.Attributes["error.type"])
}

// Spans collects the spans of this process and those received from other processes.
type Spans struct {
	Recorded []*telemetrytest.Recording
	Sink     *otlpsink.Sink // nil if there are no other processes
}

// Tracer returns a tracer for the test's own spans.
func (s *Spans) Tracer() trace.Tracer { return s.Recorded[0].TracerProvider().Tracer("fleet") }

// All returns the spans that have ended so far.
func (s *Spans) All() (all []Span) {
	for _, r := range s.Recorded {
		for _, span := range r.Spans() {
			all = append(all, ofSDK(span))
		}
	}
	if s.Sink != nil {
		for _, span := range s.Sink.Snapshot().Spans {
			all = append(all, ofSink(&span))
		}
	}
	return all
}

// Trace returns the spans of one trace.
func (s *Spans) Trace(id string) []Span {
	return slices.DeleteFunc(s.All(), func(span Span) bool { return span.TraceID != id })
}

// Await waits until good reports true for the spans of a trace, and returns these spans.
func (s *Spans) Await(t testing.TB, id, what string, good func([]Span) bool) []Span {
	t.Helper()
	var spans []Span
	Until(t, what, func() bool {
		spans = s.Trace(id)
		return good(spans)
	}, func() string { return fmt.Sprintf("%v", spans) })
	return spans
}

// Until calls happened repeatedly until happened reports true.
func Until(t testing.TB, what string, happened func() bool, got func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !happened() {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("want %s, got %s", what, got())
		}
	}
}

// Named returns the spans with a kind and a name.
func Named(spans []Span, kind, name string) []Span {
	return slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Kind != kind || s.Name != name })
}

// Orphans returns the spans with a missing parent.
func (s *Spans) Orphans() []Span {
	all := s.All()
	known := map[string]bool{"": true}
	for _, span := range all {
		known[span.TraceID+span.ID] = true
	}
	return slices.DeleteFunc(all, func(span Span) bool { return span.ParentID == "" || known[span.TraceID+span.ParentID] })
}

func ofSDK(s sdktrace.ReadOnlySpan) Span {
	out := Span{
		TraceID: s.SpanContext().TraceID().String(), ID: s.SpanContext().SpanID().String(), Name: s.Name(),
		Kind:   map[trace.SpanKind]string{trace.SpanKindClient: "CLIENT", trace.SpanKindServer: "SERVER"}[s.SpanKind()],
		Status: map[string]string{"Unset": "UNSET", "Error": "ERROR", "Ok": "OK"}[s.Status().Code.String()],
		Start:  s.StartTime(), End: s.EndTime(), Attributes: map[string]string{},
	}
	if out.Kind == "" {
		out.Kind = "INTERNAL"
	}
	if s.Parent().HasSpanID() {
		out.ParentID = s.Parent().SpanID().String()
	}
	for _, kv := range s.Attributes() {
		out.Attributes[string(kv.Key)] = kv.Value.String()
	}
	for _, l := range s.Links() {
		out.Links = append(out.Links, l.SpanContext.SpanID().String())
	}
	return out
}

func ofSink(s *otlpsink.Span) Span {
	out := Span{
		TraceID: s.TraceID, ID: s.SpanID, ParentID: s.ParentID, Name: s.Name, Kind: s.Kind, Status: s.Status,
		Start: s.Start, End: s.End, Attributes: map[string]string{},
	}
	for key, v := range s.Attributes {
		out.Attributes[key] = fmt.Sprint(v)
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, l.SpanID)
	}
	return out
}
