package chaos

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestPlanErrorNamesTheFaultAndTheReason(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{}, "kind: want one of latency, drip, drop, duplicate"},
		{Fault{Kind: "latencies"}, "kind: want one of latency"},
		{Fault{Kind: Latency}, "delay: is missing"},
		{Fault{Kind: Latency, Delay: -1}, "delay: is negative"},
		{Fault{Kind: Latency, Delay: 1, Jitter: -1}, "jitter: is negative"},
		{Fault{Kind: Latency, Delay: 1, Rate: 1}, "rate: this kind does not use it"},
		{Fault{Kind: Drip}, "rate: is missing"},
		{Fault{Kind: Drop, Delay: 1}, "delay: this kind does not use it"},
		{Fault{Kind: Drop, On: "response"}, `on: "response" does not apply to this kind; want answer, request, notification`},
		{Fault{Kind: Truncate, On: OnRequest}, `on: "request" does not apply to this kind; want answer, notification`},
		{Fault{Kind: Busy, Code: 500}, "code: 500 is neither 429 nor 503"},
		{Fault{Kind: Busy, RetryAfter: -1}, "retry_after: is negative"},
		{Fault{Kind: Drop, Probability: 1.5}, "probability: 1.5 is not between 0 and 1"},
		{Fault{Kind: Drop, Probability: -0.1}, "probability: -0.1 is not between 0 and 1"},
		{Fault{Kind: Drop, Probability: math.NaN()}, "probability: NaN is not between 0 and 1"},
		{Fault{Kind: Drop, Every: -1}, "every: is negative"},
		{Fault{Kind: Drop, Skip: -1}, "skip: is negative"},
		{Fault{Kind: Drop, Limit: -1}, "limit: is negative"},
		{Fault{Kind: Drop, After: -1}, "after: is negative"},
		{Fault{Kind: Drop, For: -1}, "for: is negative"},
		{Fault{Kind: Drop, Tool: "["}, `tool: "[" is not a valid pattern`},
		{Fault{Kind: Drop, Method: "["}, `method: "[" is not a valid pattern`},
		{Fault{Kind: Refuse, Method: "*"}, "method: an attempt to connect has no method and no tool"},
		{Fault{Kind: Refuse, Tool: "*"}, "tool: an attempt to connect has no method and no tool"},
	} {
		p := &Plan{Faults: []Fault{{Kind: Drop}, c.fault}}
		err := p.Check()
		e, ok := errors.AsType[*PlanError](err)
		if want := fmt.Sprintf("fault 2, %s: %s", c.fault.Kind, c.want); !ok || e.Fault != 1 ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s…", c.fault, err, want)
		}
		if _, wrapped := Wrap(transport.InMemory(nothing), p); wrapped == nil {
			t.Errorf("%+v: Wrap accepts a plan that Check rejects", c.fault)
		}
	}
}

func TestOnlySessionsOverHTTPExpire(t *testing.T) {
	p := &Plan{Faults: []Fault{{Kind: Expire}}}
	if _, err := Wrap(transport.InMemory(nothing), p); err == nil || !strings.Contains(err.Error(), "over HTTP") {
		t.Errorf("in memory: got %v, want an error", err)
	}
	if _, err := Wrap(&transport.HTTP{URL: "http://localhost/mcp"}, p); err != nil {
		t.Errorf("over HTTP: %v", err)
	}
}

// TestEachFaultKindHasTableRow checks each kind of fault, with its required members, for each kind of message that it
// can hit.
func TestEachFaultKindHasTableRow(t *testing.T) {
	for _, row := range table {
		for _, on := range row.on {
			f := Fault{Kind: row.kind, On: on}
			switch row.needs {
			case "delay":
				f.Delay = time.Second
			case "rate":
				f.Rate = 1
			}
			if err := (&Plan{Faults: []Fault{f}}).Check(); err != nil {
				t.Error(err)
			}
		}
	}
}
