package stack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// TestProofDetectsWrongTraces tampers with a correct trace.
func TestProofDetectsWrongTraces(t *testing.T) {
	want := node{kind: "INTERNAL", name: "caller", service: "c", below: []node{
		{kind: "CLIENT", name: "call", service: "c", label: "first", attributes: map[string]any{"a": "b", "absent": nil},
			below: []node{
				{kind: "SERVER", name: "call", service: "s", errorType: "tool_error"},
			}},
		{kind: "CLIENT", name: "again", service: "c", link: "first", message: ""},
	}}
	right := func() *jaeger.Trace {
		at := func(cs int) time.Time { return time.Unix(1, 0).Add(time.Duration(cs) * 10 * time.Millisecond) }
		resource := map[string]any{"telemetry.sdk.language": "go"}
		span := func(id, parent, service, kind, name string, start, end int) *jaeger.Span {
			return &jaeger.Span{TraceID: "t", ID: id, ParentID: parent, Service: service, Kind: kind, Name: name,
				Status: "UNSET",
				Start:  at(start), Duration: at(end).Sub(at(start)), Attributes: map[string]any{}, Resource: resource}
		}
		tr := &jaeger.Trace{ID: "t", Spans: []*jaeger.Span{
			span("1", "", "c", "INTERNAL", "caller", 0, 100), span("2", "1", "c", "CLIENT", "call", 10, 50),
			span("3", "2", "s", "SERVER", "call", 20, 40), span("4", "1", "c", "CLIENT", "again", 60, 90),
		}}
		tr.Spans[1].Attributes["a"] = "b"
		tr.Spans[2].Status, tr.Spans[2].Attributes["error.type"] = "ERROR", "tool_error"
		tr.Spans[3].Links = []jaeger.Link{{TraceID: "t", SpanID: "2"}}
		return tr
	}
	if wrong := verify(right(), want); wrong != nil {
		t.Fatalf("want nothing wrong, got %v", wrong)
	}
	for name, tc := range map[string]struct {
		tamper func(tr *jaeger.Trace)
		want   string
	}{
		"an orphan":       {func(tr *jaeger.Trace) { tr.Spans[2].ParentID = "9" }, "orphan"},
		"a wrong parent":  {func(tr *jaeger.Trace) { tr.Spans[2].ParentID = "4" }, "no SERVER call"},
		"a wrong kind":    {func(tr *jaeger.Trace) { tr.Spans[2].Kind = "INTERNAL" }, "no SERVER call"},
		"a wrong name":    {func(tr *jaeger.Trace) { tr.Spans[1].Name = "other" }, "no CLIENT call"},
		"a wrong service": {func(tr *jaeger.Trace) { tr.Spans[2].Service = "c" }, "no SERVER call of s"},
		"a missing span":  {func(tr *jaeger.Trace) { tr.Spans = tr.Spans[:3] }, "no CLIENT again"},
		"one too many": {func(tr *jaeger.Trace) {
			s := *tr.Spans[3]
			s.ID = "5"
			tr.Spans = append(tr.Spans, &s)
		}, "too much"},
		"a wrong status": {func(tr *jaeger.Trace) { tr.Spans[1].Status = "ERROR" }, "want status UNSET"},
		"no error":       {func(tr *jaeger.Trace) { tr.Spans[2].Status = "UNSET" }, "want status ERROR"},
		"another error": {func(tr *jaeger.Trace) {
			tr.Spans[2].Attributes["error.type"] = "timeout"
		}, `"tool_error", got`},
		"a wrong attribute": {func(tr *jaeger.Trace) { tr.Spans[1].Attributes["a"] = "c" }, "want a = b"},
		"one that is there": {func(tr *jaeger.Trace) { tr.Spans[1].Attributes["absent"] = "c" }, "want absent"},
		"no link":           {func(tr *jaeger.Trace) { tr.Spans[3].Links = nil }, "want one link"},
		"a wrong link":      {func(tr *jaeger.Trace) { tr.Spans[3].Links[0].SpanID = "1" }, "want one link"},
		"a link too many":   {func(tr *jaeger.Trace) { tr.Spans[1].Links = tr.Spans[3].Links }, "want no link"},
		"an early start":    {func(tr *jaeger.Trace) { tr.Spans[2].Start = tr.Spans[0].Start }, "begins"},
		"a late end":        {func(tr *jaeger.Trace) { tr.Spans[2].Duration = 450 * time.Millisecond }, "ends 150ms after"},
		"links out of time": {func(tr *jaeger.Trace) {
			tr.Spans[1].Duration = 650 * time.Millisecond
		}, "before first has ended"},
		"a slow foreigner": {func(tr *jaeger.Trace) {
			tr.Spans[2].Resource, tr.Spans[2].Duration = nil, 550*time.Millisecond
		}, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := right()
			tc.tamper(tr)
			if got := strings.Join(verify(tr, want), "\n"); !strings.Contains(got, tc.want) {
				t.Errorf("want a complaint with %q, got %q", tc.want, got)
			}
		})
	}
}
