package mcpgo

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

func TestTraceContextIsInsertedIntoJSON(t *testing.T) {
	trace := instrument.TraceContext{Traceparent: "00-a-b-01", Baggage: `a="b"`, Others: map[string]string{"b3": "a-b-1"}}
	for meta, want := range map[string]string{
		``:                             `{}`,
		`null`:                         `{}`,
		`{}`:                           `{}`,
		` { }`[1:]:                     `{}`,
		`{"a":1}`:                      `{"a":1}`,
		`{ "progressToken" : "t" }`:    `{"progressToken":"t"}`,
		`{"traceparent":"x","a":[{}]}`: `{"a":[{}]}`,
		`{"tracestate":"old"}`:         `{}`,
		`{"b3":"old","a":"b3"}`:        `{"a":"b3"}`,
		`{"a":"my baggage"}`:           `{"a":"my baggage"}`,
		`{"my.baggage":{"b":1}}`:       `{"my.baggage":{"b":1}}`,
	} {
		raw, ok := withTraceJSON(&trace, json.RawMessage(meta))
		var got, rest map[string]any
		if err := json.Unmarshal(raw, &got); err != nil || !ok {
			t.Errorf("%s: want JSON, got %s, %v", meta, raw, err)
			continue
		}
		if got["traceparent"] != "00-a-b-01" || got["baggage"] != `a="b"` || got["tracestate"] != nil ||
			got["b3"] != "a-b-1" {
			t.Errorf("%s: want the trace context, got %s", meta, raw)
		}
		delete(got, "traceparent")
		delete(got, "baggage")
		delete(got, "b3")
		if err := json.Unmarshal([]byte(want), &rest); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, rest) {
			t.Errorf("%s: want the rest as it was, %s, got %s", meta, want, raw)
		}
	}
}

func TestOutcomeIsReadFromResult(t *testing.T) {
	for result, want := range map[string]said{
		`{"content":[]}`: {},
		`{"content":[{"type":"text","text":"\"isError\":true"}]}`: {},
		`{"isError":true,"content":[]}`:                           {IsError: true},
		`{"resultType":"complete","content":[],"isError":false}`:  {ResultType: "complete"},
		`{"resultType":"input_required","requestState":"s","inputRequests":{}}`: {ResultType: "input_required",
			RequestState: "s"},
		`[`: {},
		``:  {},
	} {
		if got := read("tools/call", json.RawMessage(result)); got != want {
			t.Errorf("%s: got %+v, want %+v", result, got, want)
		}
	}
}
