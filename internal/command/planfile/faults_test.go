package planfile

import (
	"reflect"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

const wholePlan = `
seed: 7
faults:
  - {kind: latency, method: "tools/*", delay: 300ms, jitter: 100ms}
  - kind: busy
    on: request
    tool: "read_*"
    skip: 1
    every: 3
    probability: 0.5
    limit: 10
    after: 1m
    for: 5m
    code: 429
    retry_after: 2s
  - {kind: drip, rate: 1000}
`

func TestAPlanIsRead(t *testing.T) {
	want := &chaos.Plan{Seed: 7, Faults: []chaos.Fault{
		{Kind: chaos.Latency, Method: "tools/*", Delay: 300 * time.Millisecond, Jitter: 100 * time.Millisecond},
		{Kind: chaos.Busy, On: chaos.OnRequest, Tool: "read_*", Skip: 1, Every: 3, Probability: 0.5, Limit: 10,
			After: time.Minute, For: 5 * time.Minute, Code: 429, RetryAfter: 2 * time.Second},
		{Kind: chaos.Drip, Rate: 1000},
	}}
	got, lines, err := Faults([]byte(wholePlan))
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(lines, []int{4, 5, 16}) {
		t.Errorf("got %+v, %v, %v, want %+v", got, lines, err, want)
	}
}

func TestFaultPlanErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "the file has no faults",
		"seed: 1\n":                          "the file has no faults",
		"faults:\n- kind: drop\n  evry: 2\n": "line 3: unknown key evry",
		"seed: x\n":                          "line 1: not understood: str `x`",
		"faults:\n- kind: latency\n  delay: soon\n": "line 3: not understood: str `soon`",
		"faults: [\n":           "line 1: did not find expected node content",
		"faults: []\n---\n{}\n": "the file has more than one document",
		"faults:\n- kind: drop\n- kind: latncy\n": "line 3: fault 2, latncy: kind: is none of latency, drip, drop, " +
			"duplicate, reorder, truncate, garbage, oversize, error, busy, expire, freeze, cut, death, refuse " +
			"(did you mean latency?)",
		"faults:\n- kind: latency\n":                "line 2: fault 1, latency: delay: is missing",
		"faults:\n- kind: drop\n  probability: 2\n": "line 2: fault 1, drop: probability: 2 is not between 0 and 1",
		"faults:\n- kind: drop\n  tool: '['\n": `line 2: fault 1, drop: tool: "[" is not a valid pattern; want one such as read_*: ` +
			"syntax error in pattern",
		"faults:\n\n- kind: drop\n  on: response\n": `line 3: fault 1, drop: on: "response" does not apply to this kind; ` +
			"want answer, request, notification",
	} {
		if _, _, err := Faults([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
