package instrument_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/contrib/processors/baggagecopy"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// network is a network with all facts.
var network = instrument.Network{
	Transport: "tcp", Protocol: "http", ProtocolVersion: "2", Address: "mcp.example", Port: 443,
}

// legacy is a connection to a server with sessions.
var legacy = instrument.Facts{Network: network, MCPVersion: "2025-06-18"}

var errBroken = errors.New("broken pipe")

// stack is the stack of a handler that panics.
const stack = "goroutine 34 [running]:\nmain.answer(...)\n\t/src/main.go:52 +0x1d\n"

// passes advances virtual time.
func passes(d time.Duration) { time.Sleep(d) }

// tooLarge is a frame that exceeds the limit.
var tooLarge = instrument.Violation{
	Reason: "frame_too_large", Size: 5 << 20, Limit: 4 << 20, Direction: telemetry.DirectionReceived,
	Head: []byte(`{"jsonrpc":"2.0"`),
}

// lost is an error with an ErrorType method.
type lost struct{}

func (lost) Error() string     { return "the server went away" }
func (lost) ErrorType() string { return names.ErrorConnectionLost }

// TestEverythingInTheSchemaIsEmitted runs every event in the life of a client and a server. Every Recorder checks that
// nothing outside of the schema is emitted.
func TestEverythingInTheSchemaIsEmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := auditLog(t)
		rec := telemetrytest.Recorder(t, telemetry.WithAudit(log), telemetry.WithSlowThreshold(time.Second),
			telemetry.WithExecuteToolDuration(),
			telemetry.WithBaggageLabel(agentLabel), telemetry.WithContextCost(),
			telemetry.WithContentCapture(func(_ context.Context, c telemetry.Content) (string, bool) {
				return string(c.Data),
					true
			}))
		lifeOfClient(t, rec.Telemetry())
		lifeOfServer(t, rec.Telemetry())
		conversing(t, rec)
		probing(t, rec.Telemetry())
		failingOften(t, rec.Telemetry())
		auditing(t, rec.Telemetry(), log)
		for _, m := range rec.Missing() {
			if !strings.Contains(m, "=") { // tests of clients and servers cover all values
				t.Errorf("the scenario does not emit %s of the schema", m)
			}
		}
	})
}

// probing sends the probe to an old server. The refusal of the server is expected.
func probing(t *testing.T, tel *telemetry.Telemetry) {
	c := instrument.NewClient(tel, "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "server/discover"})
	op.End(instrument.Result{Code: -32601, HasCode: true, Message: "Method not found", Expected: true, Told: true})
}

// conversing makes a call in a conversation, in a program that copies baggage to its spans.
func conversing(t *testing.T, rec *telemetrytest.Recording) {
	rec.TracerProvider().RegisterSpanProcessor(baggagecopy.NewSpanProcessor(baggagecopy.AllowAllMembers))
	ctx, err := telemetry.ContextWithConversation(t.Context(),
		telemetry.Conversation{ID: "c-1", Agent: "planner", Session: "s-1", User: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	s := instrument.NewServer(rec.Telemetry(), "files", pipe)
	_, op := c.StartRequest(ctx, instrument.Request{Method: "ping"})
	_, served := s.StartHandler(t.Context(), instrument.Incoming{Method: "ping", TraceContext: op.TraceContext()})
	served.End(instrument.Result{})
	op.End(instrument.Result{})
}

func lifeOfClient(t *testing.T, tel *telemetry.Telemetry) {
	c := instrument.NewClient(tel, "files", network, instrument.WithGroup("tenant-1"))
	authorizing(t, c)
	c.Queue(func() int { return 3 })
	c.Process(os.Getpid)
	p := connecting(t, c)
	calling(t, c, p)
	answering(t, c, p)
	notifying(t, c, p)
	misbehaving(c)
	failing(t, c, p)
	p.SessionEnd(time.Hour, "")
	p.SessionEnd(time.Hour, names.ErrorConnectionLost)
	hearing(t, c)
	injecting(t, c)
	c.ProcessExit(instrument.ProcessExit{PID: 17})
	c.ProcessExit(instrument.ProcessExit{PID: 18, Code: -1, Signal: "SIGKILL"})
	c.CloseFailed(errors.New("process 17 does not end"))
	c.ListsUncached(errors.New("the file is ignored: it belongs to another server"))
	c.Untold(3)
	c.OutputUnchecked("search", errors.New("unsupported regular expression: invalid or unsupported Perl syntax: `(?=`"))
	c.ToolRejected("search", errors.New("the header name must not be empty"))
	c.IconsRejected("tools/list",
		errors.New("rejected icons: 1; the first: source has the unsafe scheme \"javascript\""))
	c.SubscriptionLost("file:///etc/motd", errors.New("not supported by the server"))
	c.StreamOpened(names.StreamGet)(nil)
	ended := c.StreamOpened(names.StreamSSE)
	passes(90 * time.Second)
	ended(lost{})
	c.CacheLookup("tools/list", false)
	c.CacheLookup("tools/list", true)
	tools := c.NewToolList()
	tools.Add("search", instrument.ToolSize{Bytes: 120, EstimatedTokens: 30},
		instrument.ToolSize{Bytes: 400, EstimatedTokens: 90})
	c.ToolsListed(tools)
	c.ToolChanged("search", names.ChangeChanged, "description,input_schema", errors.New("not without a person"))
	c.ToolChanged("search", names.ChangeRemoved, "", nil)
	for range 6 { // one more than the limiter allows at once
		c.ToolChanged("search", names.ChangeAdded, "", nil)
	}
	for range 6 {
		c.ChangeGap(names.GapStream)
	}
	passes(time.Second)
	c.ToolChanged("search", names.ChangeAdded, "", nil)
	c.ChangeGap(names.GapStream)
	// c is ready and stays open, because a closed client is not included in the gauges.
	c.Transition(instrument.Transition{Transition: connstate.Transition{
		From: connstate.Initializing, To: connstate.Ready, Reason: connstate.ReasonNegotiated, Attempt: 1, Epoch: 3,
	}})
}

// hearing logs events of a transport outside of calls.
func hearing(t *testing.T, c *instrument.Client) {
	for event, fields := range map[string][]slog.Attr{
		"mcp_client.process.stderr": {slog.String("mcp_client.process.stderr.line", "starting")},
		"mcp_client.stream.refused": {slog.String("mcp_client.stream.kind", "get"),
			slog.String("exception.message", "405 Method Not Allowed")},
		"mcp_client.message.refused": {slog.String("mcp_client.message.kind", "notification"),
			slog.String("mcp.method.name", "notifications/cancelled"), slog.String("exception.message",
				"503 Service Unavailable")},
	} {
		c.Logger().LogAttrs(t.Context(), slog.LevelDebug, event, append(fields, slog.String("event.name", event))...)
	}
}

// injecting sends a request that a fault plan disturbs.
func injecting(t *testing.T, c *instrument.Client) {
	search := instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "search"}
	ctx, op := c.StartRequest(t.Context(), search)
	defer op.End(instrument.Result{})
	instrument.Injected(ctx, c.Logger(), instrument.InjectedFault{
		Kind: names.FaultLatency, Method: "tools/call", Tool: "search",
	})
}

// authorizing runs one successful and one failed step within an attempt to connect.
func authorizing(t *testing.T, c *instrument.Client) {
	ctx, attempt := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
	defer attempt.End(nil)
	for _, err := range []error{nil, errBroken} {
		_, end := instrument.StartAuthStep(ctx, names.AuthDiscoverServer)
		end(err)
	}
}

// connecting makes a failed and a successful attempt.
func connecting(t *testing.T, c *instrument.Client) *instrument.Peer {
	ctx, first := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
	_, op := c.StartRequest(ctx, instrument.Request{Method: "initialize"})
	op.Admit(nil, 1)
	passes(30 * time.Millisecond)
	op.End(instrument.Result{Err: lost{}})
	first.End(lost{})
	c.Transition(instrument.Transition{
		Transition: connstate.Transition{
			From: connstate.Initializing, To: connstate.Backoff, Reason: connstate.ReasonTransportDown, Attempt: 1, Epoch: 1,
			Duration: 30 * time.Millisecond,
		},
		Attempt: first.Ref(), Err: lost{},
	})
	c.Backoff(time.Second, 2)

	_, second := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 2, Reconnect: true, Previous: first.Ref()})
	second.Ready(c.Peer(legacy, "session-1"), "weather-server", "1.4.0")
	c.Transition(instrument.Transition{
		Transition: connstate.Transition{
			From: connstate.Initializing, To: connstate.Ready, Reason: connstate.ReasonNegotiated, Attempt: 2, Epoch: 2,
			Duration: time.Millisecond,
		},
		Attempt: second.Ref(),
	})
	return c.Peer(legacy, "session-1")
}

// calling makes one request for each possible end.
func calling(t *testing.T, c *instrument.Client, p *instrument.Peer) {
	tool := instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "read"}
	_, op := c.StartRequest(t.Context(), tool)
	op.Admit(p, 2)
	op.Retry(names.RetryBusy)
	op.Arguments([]byte(`{"path":"/etc/motd"}`))
	op.Sent(100)
	passes(12 * time.Millisecond)
	op.Received(300)
	op.Answer([]byte(`{"content":[]}`))
	op.Result(14)
	for i := range 8 { // more than the limiter allows
		op.Loops(instrument.Loop{Kind: names.LoopSameCall, Calls: 5 + i})
	}
	passes(2 * time.Second)
	op.Loops(instrument.Loop{Kind: names.LoopSameCall, Calls: 13})
	op.Decoded(time.Microsecond, nil)
	op.Decoded(time.Microsecond, errBroken)
	op.End(instrument.Result{ResultType: "input_required"})

	tool.Link, tool.Corr, tool.Round = op.Ref(), op.Corr(), 1
	_, op = c.StartRequest(t.Context(), tool)
	op.Admit(p, 3)
	op.End(instrument.Result{ResultType: "input_required"})

	_, again := c.StartRequest(t.Context(), instrument.Request{Method: "subscriptions/listen", Link: op.Ref(),
		Reissue: true})
	again.Admit(p, 9)
	again.End(instrument.Result{})
	tool.Link, tool.Round = op.Ref(), 0
	for _, r := range []instrument.Result{
		{ToolError: true},
		{Code: -32603, HasCode: true, Message: "internal error"},
		{ErrorType: names.ErrorTimeout, Err: context.DeadlineExceeded},
		{ErrorType: names.ErrorCancelled, CallerLeft: true},
	} {
		_, op := c.StartRequest(t.Context(), tool)
		op.Admit(p, 3)
		op.Sent(100)
		passes(12 * time.Millisecond)
		op.End(r)
	}
	prompt := instrument.Request{Method: "prompts/get", TargetKind: instrument.Prompt, Target: "greet"}
	_, refused := c.StartRequest(t.Context(), prompt)
	refused.Admit(p, 4)
	refused.Retry(names.RetryServerBusy)
	refused.End(instrument.Result{ErrorType: names.ErrorTransportBusy})
	for _, r := range []instrument.Request{
		prompt,
		{Method: "resources/read", URI: "file:///etc/motd"},
	} {
		_, op := c.StartRequest(t.Context(), r)
		op.Admit(p, 4)
		op.Arguments([]byte(`{"name":"Ada","times":3}`))
		op.Sent(10)
		passes(2 * time.Second) // slow
		op.Received(20)
		op.End(instrument.Result{ResultType: "input_required"})
	}
	c.Tombstones(2)
	c.Tombstones(-1)
	c.Dropped(instrument.Drop{Reason: names.DropLateTimeout, ID: "3", Age: time.Second, Ref: op.Ref()})
	c.QueueWait(time.Millisecond)
}

// answering handles requests of the server.
func answering(t *testing.T, c *instrument.Client, p *instrument.Peer) {
	for _, r := range []instrument.Result{
		{},
		{Code: -32602, HasCode: true, Message: "no such root"},
		{Code: -32603, HasCode: true, Message: "internal error", Err: errBroken},
		{ErrorType: names.ErrorTimeout},
		{ErrorType: names.ErrorCancelled},
	} {
		_, op := c.StartHandler(t.Context(), instrument.Incoming{
			Method: "sampling/createMessage", Known: true, ID: "7", Size: 100, Peer: p, URI: "file:///x",
			TraceContext: traceparent("00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01"),
		})
		op.Sent(50)
		passes(2 * time.Second) // slow
		op.End(r)
	}
	ctx, op := c.StartHandler(t.Context(), instrument.Incoming{
		Method: "sampling/createMessage", Known: true, ID: "8", Peer: p,
	})
	c.HandlerPanic(ctx, "sampling/createMessage", "boom", []byte(stack))
	op.End(instrument.Result{})
	refusing(t, c.StartHandler, p)
}

// refusing refuses more requests of one kind than the limiter allows warnings.
func refusing(t *testing.T, start func(context.Context, instrument.Incoming) (context.Context, instrument.Op),
	p *instrument.Peer) {
	for i := range 8 {
		if i == 7 {
			passes(time.Second) // the limiter allows one more
		}
		_, op := start(t.Context(), instrument.Incoming{Method: "roots/list", Known: true, ID: "9", Peer: p})
		passes(time.Millisecond)
		op.End(instrument.Result{Code: -32021, HasCode: true, Message: "capability missing"})
	}
}

// notifying sends and receives notifications.
func notifying(t *testing.T, c *instrument.Client, p *instrument.Peer) {
	for _, r := range []instrument.Result{{}, {Err: lost{}}} {
		_, op := c.StartRequest(t.Context(), instrument.Request{
			Method: "notifications/roots/list_changed", Notification: true,
		})
		op.Admit(p, 0)
		op.Sent(40)
		op.End(r)
		_, op = c.StartHandler(t.Context(), instrument.Incoming{
			Method: "notifications/resources/updated", Known: true, Notification: true, URI: "file:///x", Peer: p,
		})
		passes(time.Millisecond)
		op.End(r)
	}
	c.Notification(telemetry.DirectionReceived, "notifications/progress")
	for range 7 {
		c.NotificationDropped("notifications/message", names.DropQueueFull)
	}
	passes(time.Second) // the limiter allows one more
	c.NotificationDropped("notifications/message", names.DropQueueFull)
	c.NotificationDropped("notifications/tools/list_changed", names.DropCoalesced)
}

// misbehaving violates the protocol more often than the limiter allows warnings.
func misbehaving(c *instrument.Client) {
	for range 7 {
		c.Violation(tooLarge)
		c.Dropped(instrument.Drop{Reason: names.DropUnknownID, ID: "99"})
	}
	passes(time.Second)
	c.Violation(tooLarge)
	c.Dropped(instrument.Drop{Reason: names.DropUnknownID, ID: "99"})
	c.MessageSize(telemetry.DirectionReceived, instrument.KindResponse, 100)
}

func lifeOfServer(t *testing.T, tel *telemetry.Telemetry) {
	s := instrument.NewServer(tel, "demo", network)
	defer s.Close()
	s.Lose(3)
	s.NoDeadlines()
	p := s.Peer(legacy, "session-1")
	serving(t, s, p)
	refusing(t, s.StartHandler, p)
	asking(t, s, p)
	change := s.StartChange("notifications/resources/updated", "file:///x")
	defer change.End()
	for _, r := range []instrument.Result{{}, {Err: lost{}}} {
		_, op := s.StartRequest(t.Context(), instrument.Request{
			Method: "notifications/resources/updated", URI: "file:///x", Notification: true, Parent: change.Ref(),
		})
		op.Admit(p, 0)
		op.Sent(40)
		op.End(r)
		_, op = s.StartHandler(t.Context(), instrument.Incoming{
			Method: "notifications/initialized", Known: true, Notification: true, Peer: p,
		})
		passes(time.Millisecond)
		op.End(r)
	}
	s.Notification(telemetry.DirectionReceived, "notifications/progress")
	for range 7 {
		s.Violation(tooLarge)
		s.Dropped(instrument.Drop{Reason: names.DropUnknownID, ID: "99"})
	}
	s.Dropped(instrument.Drop{Reason: names.DropLateCancelled, Age: time.Second})
	breaking(t, s, p)
	s.MessageSize(telemetry.DirectionSent, instrument.KindNotification, 100)
	s.QueueWait(time.Millisecond)
	s.Connected(instrument.Connection{Queued: func() int { return 1 },
		InSession: func() bool { return true }, Limits: func(yield func(string, int, int)) {
			yield(names.CapacitySession, 8, 10)
			yield(names.MemoryBody, 1<<10, 1<<20)
		}}) // stays open
	for range 6 { // one more than the limiter allows at once
		s.Refused(t.Context(), instrument.Refusal{Reason: names.RefusalOverloaded, Status: 503,
			Err: errBroken, RemoteAddr: "192.0.2.1:4711"})
	}
	passes(time.Second)
	s.Refused(t.Context(), instrument.Refusal{Reason: names.RefusalOverloaded, Status: 503,
		Err: errBroken, RemoteAddr: "192.0.2.1:4711"})
	s.Refused(t.Context(), instrument.Refusal{Reason: names.RefusalMethod, Status: 405})
	ended := s.StreamOpened(names.StreamListen)
	passes(90 * time.Second)
	ended()
	for range 7 {
		s.NotificationDropped("notifications/message", names.DropQueueFull)
	}
	passes(time.Second) // the limiter allows one more
	s.NotificationDropped("notifications/message", names.DropQueueFull)
	s.NotificationDropped("notifications/message", names.DropNoStream)
	s.Undecodable(time.Microsecond, errBroken)
	p.SessionEnd(time.Hour, "")
	p.SessionEnd(time.Hour, names.ErrorConnectionLost)
	working(t, s)
	deciding(t, s)
	_, linked := s.StartHandler(t.Context(), instrument.Incoming{Method: "ping", Known: true, Untrusted: true,
		TraceContext: instrument.TraceContext{Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}})
	linked.End(instrument.Result{})
}

// deciding makes policy decisions about a call and about messages outside of calls. It makes more of them than the
// limiter allows.
func deciding(t *testing.T, s *instrument.Server) {
	ctx, op := s.StartHandler(t.Context(), instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool,
		Target: "search", TargetKnown: true})
	for range 6 { // one more than the limiter allows at once
		s.Decided(ctx, instrument.Decision{Kind: names.PolicyRedacted, Method: "tools/call", Tool: "search", Redactions: 2,
			Request: true})
	}
	passes(time.Second)
	s.Decided(ctx, instrument.Decision{Kind: names.PolicyRedacted, Method: "notifications/message", Redactions: 1})
	for _, kind := range []string{names.PolicyDenied, names.PolicyLimited, names.PolicyTimedOut} {
		s.Decided(ctx, instrument.Decision{Kind: kind, Method: "tools/call", Tool: "search", Request: true})
	}
	s.Decided(t.Context(), instrument.Decision{Kind: names.PolicyHidden, Method: "tools/list"})
	for range 6 {
		s.Decided(ctx, instrument.Decision{Kind: names.PolicyDenied, Method: "tools/call", Tool: "search"})
	}
	op.End(instrument.Result{Code: -32602, HasCode: true})
}

// working ends a task with each status.
func working(t *testing.T, s *instrument.Server) {
	for _, end := range []struct {
		status string
		result instrument.Result
	}{
		{"completed", instrument.Result{}},
		{"cancelled", instrument.Result{ErrorType: names.ErrorCancelled, CallerLeft: true}},
		{"failed", instrument.Result{Code: -32603, HasCode: true, Message: "internal error", Err: errBroken}},
	} {
		_, task := s.StartTask(t.Context(), "add")
		passes(40 * time.Second)
		task.End(end.status, end.result)
		task.End("failed", instrument.Result{}) // a second end does not count
	}
}

// asking sends the client one request for each possible end.
func asking(t *testing.T, s *instrument.Server, p *instrument.Peer) {
	for _, r := range []instrument.Result{
		{},
		{Code: -1, HasCode: true, Message: "the user says no"},
		{ErrorType: names.ErrorCancelled, CallerLeft: true},
	} {
		_, op := s.StartRequest(t.Context(), instrument.Request{Method: "elicitation/create"})
		op.Admit(p, 1)
		op.Sent(60)
		passes(400 * time.Millisecond)
		op.Received(80)
		op.End(r)
	}
	_, op := s.StartRequest(t.Context(), instrument.Request{Method: "roots/list"})
	op.Admit(p, 2)
	op.Sent(60)
	passes(2 * time.Second) // slow
	op.Received(80)
	op.End(instrument.Result{})
}

// serving handles one request for each possible end.
func serving(t *testing.T, s *instrument.Server, p *instrument.Peer) {
	for _, r := range []instrument.Result{
		{},
		{ResultType: "input_required"},
		{ToolError: true},
		{Code: -32602, HasCode: true, Message: "a is not a number"},
		{Code: -32603, HasCode: true, Message: "internal error", Err: errBroken},
		{ErrorType: names.ErrorTimeout},
		{ErrorType: names.ErrorCancelled},
	} {
		ctx, op := s.StartHandler(t.Context(), instrument.Incoming{
			Method: "tools/call", TargetKind: instrument.Tool, Target: "add", Known: true, TargetKnown: true, ID: "1",
			Size: 100, Peer: p,
		})
		op.Decoded(time.Microsecond, r.Err)
		op.Arguments([]byte(`{"a":1}`))
		op.Answer([]byte(`{}`))
		passes(8 * time.Millisecond)
		if r.ResultType != "" {
			passes(2 * time.Second) // slow
		}
		if r.HasCode {
			s.HandlerPanic(ctx, "tools/call", errBroken, []byte(stack))
		}
		op.Sent(50)
		op.End(r)
		r.ToolError = false

		ctx, op = s.StartHandler(ctx, instrument.Incoming{ // within another span and with another parent
			Method: "prompts/get", TargetKind: instrument.Prompt, Target: "greet", Known: true, TargetKnown: true, ID: "2",
			Peer: p, TraceContext: traceparent("00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01"),
		})
		op.Arguments([]byte(`{"name":"Ada"}`))
		op.End(r)
		_, op = s.StartHandler(ctx, instrument.Incoming{Method: "resources/read", URI: "file:///x", Known: true, ID: "3",
			RemoteAddr: "192.0.2.1:4711", ClientName: "ide", ClientVersion: "1.4.0",
			Peer: p})
		op.End(r)
	}
}
