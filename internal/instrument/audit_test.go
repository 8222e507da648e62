package instrument_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/auditlog"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

var auditKey = []byte("a key for the tests, of 32 bytes")

// auditLog returns an audit log without a file.
func auditLog(t *testing.T) *audit.Log {
	t.Helper()
	l, err := audit.Open("", auditKey)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// auditing makes audited calls with every field of their records, and then closes the log.
func auditing(t *testing.T, tel *telemetry.Telemetry, log *audit.Log) {
	ctx, err := telemetry.ContextWithConversation(t.Context(),
		telemetry.Conversation{ID: "c-1", Agent: "planner", User: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	c := instrument.NewClient(tel, "files", network, instrument.WithGroup("tenant-1"))
	s := instrument.NewServer(tel, "files", network)
	params := []byte(`{"name":"search","arguments":{"q":"otter"}}`)
	call := func(r instrument.Result) {
		_, op := c.StartRequest(ctx, instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "search",
			Params: params})
		op.Admit(nil, 7)
		op.Sent(100)
		op.End(r)
		within, served := s.StartHandler(ctx, instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool,
			Target: "search", Known: true, TargetKnown: true, IntID: 7, HasIntID: true, Principal: "ada@example.com",
			Params: params})
		s.Decided(within, instrument.Decision{Kind: names.PolicyRedacted, Method: "tools/call", Tool: "search",
			Redactions: 1, Request: true})
		served.End(r)
	}
	call(instrument.Result{})
	call(instrument.Result{ResultType: "input_required"})
	call(instrument.Result{ErrorType: names.ErrorTimeout, Err: errBroken})
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	call(instrument.Result{})
	c.Close()
	s.Close()
}

// audited is a client and a server with a common audit file.
type audited struct {
	t    *testing.T
	path string
	log  *audit.Log
	rec  *telemetrytest.Recording
	c    *instrument.Client
	s    *instrument.Server
}

func newAudited(t *testing.T) *audited {
	a := &audited{t: t, path: filepath.Join(t.TempDir(), "audit.jsonl")}
	var err error
	if a.log, err = audit.Open(a.path, auditKey); err != nil {
		t.Fatal(err)
	}
	a.rec = telemetrytest.Recorder(t, telemetry.WithAudit(a.log))
	a.c = instrument.NewClient(a.rec.Telemetry(), "c", pipe)
	a.s = instrument.NewServer(a.rec.Telemetry(), "s", pipe)
	t.Cleanup(a.c.Close)
	return a
}

// lines returns the records of calls in the file, in order.
func (a *audited) lines() (all []map[string]any) {
	a.t.Helper()
	text, err := os.ReadFile(a.path)
	if err != nil {
		a.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			a.t.Fatal(err)
		}
		if strings.HasSuffix(m["event"].(string), ".audit.call") {
			all = append(all, m)
		}
	}
	return all
}

// outcomes returns the outcomes in the file, in order.
func (a *audited) outcomes() string {
	var all []string
	for _, m := range a.lines() {
		for _, key := range []string{names.KeyMCPClientAuditOutcome, names.KeyMCPServerAuditOutcome} {
			if outcome, ok := m[key]; ok {
				all = append(all, outcome.(string))
			}
		}
	}
	return strings.Join(all, " ")
}

const paramsOfSearch = `{"arguments":{"b":1,"a":2},"name":"search"}`

func (a *audited) handled(ctx context.Context) (context.Context, instrument.Op) {
	return a.s.StartHandler(ctx, instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool, Target: "search",
		Known: true, TargetKnown: true, ID: "x", ReportsTool: true, Principal: "ada", Params: []byte(paramsOfSearch)})
}

func (a *audited) sent(ctx context.Context) instrument.Op {
	_, op := a.c.StartRequest(ctx, instrument.Request{Method: "tools/call", Params: []byte(paramsOfSearch)})
	return op
}

func TestFileAndLogRecordAgree(t *testing.T) {
	a := newAudited(t)
	op := a.sent(t.Context())
	op.Sent(10)
	op.End(instrument.Result{})
	_, served := a.handled(t.Context())
	served.ToolBegins()
	served.ToolEnds(instrument.Ran)
	served.End(instrument.Result{})
	if err := a.s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.log.Close(); err != nil {
		t.Fatal(err)
	}
	lines := a.lines()
	if len(lines) != 2 {
		t.Fatalf("got %d records, want 2", len(lines))
	}
	if one, other := lines[0][names.KeyMCPClientAuditArgumentsHash], lines[1][names.KeyMCPServerAuditArgumentsHash]; one != other {
		t.Errorf("the hashes of the client and the server are %v and %v", one, other)
	}
	var heads []auditlog.Head
	for i, event := range []string{names.EventMCPClientAuditCall, names.EventMCPServerAuditCall} {
		r, side := a.rec.Log(event), strings.TrimSuffix(event, "call")
		for key, value := range fieldsOf(r) {
			switch key {
			case names.KeyEventName, side + "sequence", side + "hash":
			default:
				if got := fmt.Sprint(lines[i][key]); got != value {
					t.Errorf("%s is %q in the file and %q in the log record", key, got, value)
				}
			}
		}
		head, err := auditlog.ParseHead(fmt.Sprint(lines[i]["sequence"], ":", lines[i]["hash"]))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Text(side + "hash"); got != head.Hash.String() {
			t.Errorf("the log record has the hash %s, the file has %v", got, head)
		}
		heads = append(heads, head)
		if lines[i]["trace_id"] == nil || lines[i]["gen_ai.tool.name"] != "search" {
			t.Errorf("the record lacks trace or tool: %v", lines[i])
		}
	}
	f, err := os.Open(a.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if r, err := auditlog.Verify(f, heads...); err != nil || r.Calls != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestServersKnowWhetherTheirToolRan(t *testing.T) {
	failed := instrument.Result{HasCode: true, Code: -32603, Err: errBroken}
	for _, test := range []struct {
		name string
		run  func(op *instrument.Op)
		end  instrument.Result
		want string
	}{
		{"refused before the tool", func(*instrument.Op) {}, failed, "did_not_run"},
		{"answered without the tool", func(*instrument.Op) {}, instrument.Result{}, "did_not_run"},
		{"result", func(op *instrument.Op) { op.ToolBegins(); op.ToolEnds(instrument.Ran) }, instrument.Result{}, "ran"},
		{"result, answer lost", func(op *instrument.Op) { op.ToolBegins(); op.ToolEnds(instrument.Ran) },
			instrument.Result{ErrorType: names.ErrorConnectionLost, Err: errBroken}, "ran"},
		{"invalid arguments", func(op *instrument.Op) { op.ToolBegins(); op.ToolEnds(instrument.DidNotRun) },
			instrument.Result{ToolError: true}, "did_not_run"},
		{"error", func(op *instrument.Op) { op.ToolBegins(); op.ToolEnds(instrument.MayHaveRun) }, failed, "may_have_run"},
		{"still running", (*instrument.Op).ToolBegins, failed, "may_have_run"},
		{"first invalid, then run", func(op *instrument.Op) {
			op.ToolBegins()
			op.ToolEnds(instrument.DidNotRun)
			op.ToolBegins()
			op.ToolEnds(instrument.Ran)
		}, instrument.Result{}, "ran"},
	} {
		a := newAudited(t)
		_, op := a.handled(t.Context())
		test.run(&op)
		op.End(test.end)
		if got := a.outcomes(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestToolThatBeginsAfterItsCallHasEndedCorrectsTheRecord(t *testing.T) {
	a := newAudited(t)
	_, op := a.handled(t.Context())
	op.End(instrument.Result{})
	op.ToolBegins()
	op.ToolEnds(instrument.Ran)
	if got := a.outcomes(); got != "did_not_run may_have_run" {
		t.Errorf("got %s", got)
	}
}

func TestRelayedCallHasOneRecord(t *testing.T) {
	lost := instrument.Result{ErrorType: names.ErrorConnectionLost, Err: errBroken}
	send := func(r instrument.Result, sent bool) func(*audited, context.Context) {
		return func(a *audited, ctx context.Context) {
			op := a.sent(ctx)
			if sent {
				op.Sent(10)
			}
			op.End(r)
		}
	}
	unsent := lost
	unsent.Unsent = true
	for _, test := range []struct {
		name  string
		below []func(*audited, context.Context)
		want  string
	}{
		{"nothing is sent", nil, "did_not_run"},
		{"answered", []func(*audited, context.Context){send(instrument.Result{}, true)}, "ran"},
		{"lost", []func(*audited, context.Context){send(lost, true)}, "may_have_run"},
		{"not ready", []func(*audited, context.Context){send(lost, false)}, "did_not_run"},
		{"repeated after a safe failure", []func(*audited, context.Context){send(unsent, true),
			send(instrument.Result{ToolError: true}, true)}, "ran"},
		{"still open", []func(*audited, context.Context){func(a *audited, ctx context.Context) {
			op := a.sent(ctx)
			t.Cleanup(func() { op.End(lost) })
		}}, "may_have_run"},
	} {
		a := newAudited(t)
		ctx, op := a.handled(t.Context())
		a.s.Relays(ctx)
		for _, f := range test.below {
			f(a, ctx)
		}
		op.ToolBegins() // of the gateway's own handler
		op.ToolEnds(instrument.Ran)
		op.End(lost)
		if got := a.outcomes(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		send(instrument.Result{}, true)(a, ctx)
		if got := a.outcomes(); got != test.want+" ran" {
			t.Errorf("%s: a request after the end: got %s, want a record of its own", test.name, got)
		}
	}
}

func TestCallsOfAToolHandlerHaveOwnRecords(t *testing.T) {
	a := newAudited(t)
	ctx, op := a.handled(t.Context())
	op.ToolBegins()
	inner := a.sent(ctx)
	inner.Sent(10)
	inner.End(instrument.Result{HasCode: true, Code: -32602, Err: errBroken})
	op.ToolEnds(instrument.Ran)
	op.End(instrument.Result{})
	if got := a.outcomes(); got != "may_have_run ran" {
		t.Errorf("got %s", got)
	}
}

func TestContinuedRequestThatIsNotSentHasNoRecord(t *testing.T) {
	a := newAudited(t)
	first := a.sent(t.Context())
	first.Sent(10)
	_, second := a.c.StartRequest(t.Context(), instrument.Request{Method: "tools/call", Corr: first.Corr()})
	first.End(instrument.Result{ErrorType: names.ErrorConnectionLost, Err: errBroken})
	second.End(instrument.Result{ErrorType: names.ErrorTimeout, Err: errBroken})
	if got := a.outcomes(); got != "may_have_run" {
		t.Errorf("got %s, want the record of the first request only", got)
	}
}

func TestStrongestPolicyDecisionIsRecorded(t *testing.T) {
	for _, test := range []struct{ decisions, want string }{
		{"", "<nil>"}, {"redacted", "redacted"}, {"denied redacted", "denied"}, {"redacted timed_out redacted", "timed_out"},
	} {
		a := newAudited(t)
		ctx, op := a.handled(t.Context())
		for kind := range strings.FieldsSeq(test.decisions) {
			a.s.Decided(ctx, instrument.Decision{Kind: kind, Method: "tools/call", Request: true})
		}
		a.s.Decided(ctx, instrument.Decision{Kind: names.PolicyDenied, Method: "acme/do"}) // of another message
		op.End(instrument.Result{})
		if got := fmt.Sprint(a.lines()[0][names.KeyMCPServerPolicyDecision]); got != test.want {
			t.Errorf("%q: got %s, want %s", test.decisions, got, test.want)
		}
	}
}

func TestLostAuditRecordIsVisible(t *testing.T) {
	a := newAudited(t)
	if err := a.log.Close(); err != nil {
		t.Fatal(err)
	}
	op := a.sent(t.Context())
	op.Sent(10)
	op.End(instrument.Result{})
	if got := a.rec.Value(names.MetricMCPClientAuditLosses); got != 1 {
		t.Errorf("the counter is %v, want 1", got)
	}
	r := a.rec.Log(names.EventMCPClientAuditCall)
	if got := r.Text(names.KeyExceptionMessage); got != auditlog.ErrClosed.Error() {
		t.Errorf("the record has the error %q", got)
	}
	if got := r.Text(names.KeyMCPClientAuditHash); got != "" {
		t.Errorf("the record has the hash %q, want none", got)
	}
}

func TestOtherRequestsAreNotAudited(t *testing.T) {
	a := newAudited(t)
	_, op := a.c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	op.Sent(10)
	op.End(instrument.Result{})
	_, served := a.s.StartHandler(t.Context(), instrument.Incoming{Method: "prompts/get", ID: "1"})
	served.End(instrument.Result{})
	_, noted := a.s.StartHandler(t.Context(), instrument.Incoming{Method: "tools/call", Notification: true})
	noted.End(instrument.Result{Err: errors.New("no id")})
	if got := a.outcomes(); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestHostileTextsStayWithinTheirBounds(t *testing.T) {
	a := newAudited(t)
	long := strings.Repeat("\x00é", auditlog.MaxLine)
	ctx, err := telemetry.ContextWithConversation(t.Context(), telemetry.Conversation{ID: strings.Repeat("\"", 256)})
	if err != nil {
		t.Fatal(err)
	}
	name, _ := json.Marshal(long)
	_, op := a.s.StartHandler(ctx, instrument.Incoming{Method: "tools/call", ID: long, Principal: long, ClientName: long,
		Params: []byte(`{"name":` + string(name) + `,"arguments":` + string(name) + `}`)})
	op.End(instrument.Result{ErrorType: long, ResultType: long})
	if got := a.outcomes(); got != "may_have_run" {
		t.Errorf("got %q, want a record", got)
	}
}
