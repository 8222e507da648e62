package mcp

import (
	"math"
	"testing"
	"time"
)

func TestCacheHintTTL(t *testing.T) {
	for _, c := range []struct {
		ms   *int64
		want time.Duration
	}{
		{nil, 0},
		{new(int64(0)), 0},
		{new(int64(-5)), 0},
		{new(int64(1500)), 1500 * time.Millisecond},
		{new(int64(math.MaxInt64)), math.MaxInt64 / time.Millisecond * time.Millisecond},
	} {
		if got := (CacheHint{TTLMs: c.ms}).TTL(); got != c.want {
			t.Errorf("TTL of %v ms = %v, want %v", c.ms, got, c.want)
		}
	}
}

func TestBaseSetsMembersOfEveryResult(t *testing.T) {
	for _, g := range goldens(t) {
		v := g.new()
		r, ok := v.(interface{ Base() *Result })
		if !ok {
			continue
		}
		r.Base().ResultType = "reached"
		text, err := AppendResult(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ResultTypeOf(text); err != nil || got != "reached" {
			t.Errorf("%s: setting the type through Base gives %s, want it in there", g.name, text)
		}
	}
	for m := range Methods() {
		if m.Kind != KindRequest || m.Name == MethodTaskResult {
			continue
		}
		if _, ok := m.Result.MethodByName("Base"); ok {
			t.Errorf("%s: Base works on a copy, want it on pointers only", m.Name)
		}
	}
}

func TestTerminalTasks(t *testing.T) {
	for status, want := range map[TaskStatus]bool{
		TaskWorking: false, TaskInputRequired: false, TaskCompleted: true, TaskFailed: true, TaskCancelled: true,
		"newer": false,
	} {
		if got := status.Terminal(); got != want {
			t.Errorf("%s is terminal: %v, want %v", status, got, want)
		}
	}
}

func TestErrorTextContainsMessageAndCode(t *testing.T) {
	err := &Error{Code: CodeInvalidParams, Message: "unknown tool"}
	if got, want := err.Error(), "unknown tool (-32602)"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func TestRequestIDsKeepTheirType(t *testing.T) {
	for want, id := range map[string]RequestID{`{"requestId":7}`: IntID(7), `{"requestId":"7"}`: StringID("7"), `{}`: {}} {
		text, err := AppendParams(nil, &CancelledParams{RequestID: id})
		if err != nil || string(text) != want {
			t.Errorf("%v is written %s, %v, want %s", id, text, err, want)
		}
		var p CancelledParams
		if _, err := Decode(text, &p); err != nil || p.RequestID != id {
			t.Errorf("%s decodes to %v, %v, want %v", want, p.RequestID, err, id)
		}
	}
}
