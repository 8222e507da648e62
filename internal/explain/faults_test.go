package explain_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// laboratory returns all faults that telemetry can distinguish from each other.
func laboratory() []fault {
	return slices.Concat(answers, silences, messages, connections, successes, starts, urls, webCalls, policies, injected)
}

// Minimum numbers of faults: in total, explained by flight recorders alone, and explained by spans alone.
const (
	wantFaults   = 77
	wantRecorder = 72
	wantSpans    = 70
)

func TestEachFaultIsExplained(t *testing.T) {
	named := map[string]string{} // fault by the text of its cause
	var recorder, spans []string // faults that one source explains alone
	for _, f := range laboratory() {
		t.Run(f.name, func(t *testing.T) {
			facts := f.run(t)
			x := explain.Explain(&facts)
			if !f.isNamed(&facts) {
				t.Fatalf("want the cause %s with the text %q, got\n%s", f.cause, f.says, x)
			}
			if other := named[x.Causes[0].Text]; other != "" {
				t.Errorf("has the same cause text as %q: %s", other, x.Causes[0].Text)
			}
			named[x.Causes[0].Text] = f.name
			if f.isNamed(&explain.Facts{TraceID: facts.TraceID, Peers: facts.Peers}) {
				recorder = append(recorder, f.name)
			}
			if f.isNamed(&explain.Facts{TraceID: facts.TraceID, Spans: facts.Spans}) {
				spans = append(spans, f.name)
			}
		})
	}
	all := len(laboratory())
	t.Logf("explained: %d of %d faults; %d by the flight recorders alone, %d by the spans alone",
		len(named), all, len(recorder), len(spans))
	if all < wantFaults || len(named) != all || len(recorder) < wantRecorder || len(spans) < wantSpans {
		t.Errorf("want at least %d faults, all explained; %d by the flight recorders alone, %d by the spans alone",
			wantFaults, wantRecorder, wantSpans)
	}
}

// isNamed reports whether the explanation names the cause of the fault, with evidence.
func (f *fault) isNamed(facts *explain.Facts) bool {
	x := explain.Explain(facts)
	if len(x.Causes) == 0 {
		return false
	}
	c := x.Causes[0]
	return c.ID == f.cause && strings.Contains(c.Text, f.says) && len(c.Evidence) > 0
}

// twins are faults with equal telemetry, so that both have one cause: telemetry keeps no message content, and all
// deadlines end a call with the same error.
var twins = []struct {
	fault
	of string
}{
	{fault{"an answer that is cut off", "message_invalid_json", "cut off", false,
		sent(func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[` })},
		"garbage instead of an answer"},
	{fault{"the caller's deadline passes", "server_slow", "after 1.00s", false, func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{}), mcpclient.Options{})
		ctx, cancel := context.WithTimeout(l.ctx, time.Second)
		defer cancel()
		_, _ = c.CallTool(ctx, "stuck", nil)
	}}, "a slow tool"},
}

func TestFaultsWithEqualTelemetryHaveOneCause(t *testing.T) {
	if len(twins) > 2 {
		t.Errorf("want at most 2, got %d", len(twins))
	}
	for _, f := range twins {
		t.Run(f.name, func(t *testing.T) {
			facts := f.run(t)
			i := slices.IndexFunc(laboratory(), func(o fault) bool { return o.name == f.of })
			other := laboratory()[i].run(t)
			x, y := explain.Explain(&facts), explain.Explain(&other)
			if !f.isNamed(&facts) || x.Causes[0].Text != y.Causes[0].Text {
				t.Errorf("want one cause, got\n%s\nand\n%s", x, y)
			}
		})
	}
}
