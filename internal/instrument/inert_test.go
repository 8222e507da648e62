package instrument_test

import (
	"context"
	"io"
	"runtime/debug"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// unobserved lists all ways to run without telemetry.
var unobserved = []struct {
	name   string
	client *instrument.Client
	server *instrument.Server
}{
	{"off", instrument.NewClient(telemetry.Off(), "x", pipe), instrument.NewServer(telemetry.Off(), "x", pipe)},
	{"nil telemetry", instrument.NewClient((*telemetry.Telemetry)(nil), "x", pipe),
		instrument.NewServer((*telemetry.Telemetry)(nil), "x", pipe)},
	{"nil", nil, nil},
}

func TestDisabledTelemetryAllocatesNothing(t *testing.T) {
	stack := debug.Stack()
	for _, u := range unobserved {
		t.Run(u.name, func(t *testing.T) {
			if u.client != nil || u.server != nil {
				t.Fatalf("without telemetry: got %v and %v, want a nil client and a nil server", u.client, u.server)
			}
			ctx := t.Context()
			if n := testing.AllocsPerRun(100, func() { useAllOf(ctx, u.client, u.server, stack) }); n != 0 {
				t.Errorf("allocations: got %v, want 0", n)
			}
		})
	}
}

// useAllOf calls every method.
func useAllOf(ctx context.Context, c *instrument.Client, s *instrument.Server, stack []byte) {
	got, attempt := c.StartAttempt(ctx, instrument.AttemptStart{Number: 1})
	same := got == ctx && attempt.Ref() == (instrument.Ref{})
	attempt.Ready(nil, "a", "1")
	attempt.End(errBroken)
	toolCall(ctx, c, c.Peer(stdio, ""))
	got, op := c.StartRequest(ctx, instrument.Request{Method: "ping"})
	op.Retry(names.RetryBusy)
	op.Arguments(stack)
	op.Answer(stack)
	op.Loops(instrument.Loop{Kind: names.LoopCycle, Calls: 9})
	op.Stopped(instrument.Loop{Kind: names.LoopCycle, Calls: 9})
	same = same && !op.Captures()
	same = same && got == ctx && op.Ref() == (instrument.Ref{}) && op.Corr() == (instrument.Corr{}) &&
		op.Started().IsZero() && !op.Timed()
	op.End(instrument.Result{Err: errBroken})
	got, op = c.StartHandler(ctx, instrument.Incoming{Method: "ping", TraceContext: traceparent(remoteParent)})
	same = same && got == ctx
	op.End(instrument.Result{})
	c.Notification(telemetry.DirectionReceived, "x")
	c.NotificationDropped("x", names.DropQueueFull)
	c.Violation(instrument.Violation{Direction: telemetry.DirectionReceived})
	c.Dropped(instrument.Drop{})
	c.MessageSize(telemetry.DirectionSent, instrument.KindError, 1)
	c.QueueWait(time.Second)
	c.HandlerPanic(ctx, "x", nil, stack)
	c.Queue(nil)
	c.Transition(instrument.Transition{})
	c.Backoff(time.Second, 1)
	c.Tombstones(1)
	c.ProcessExit(instrument.ProcessExit{})
	c.CloseFailed(io.EOF)
	c.ListsUncached(io.EOF)
	c.OutputUnchecked("search", io.EOF)
	c.ToolRejected("search", io.EOF)
	c.IconsRejected("tools/list", io.EOF)
	c.ToolChanged("search", names.ChangeAdded, "", io.EOF)
	c.ChangeGap(names.GapStream)
	c.SubscriptionLost("file:///etc/motd", io.EOF)
	c.StreamOpened(names.StreamGet)(io.EOF)
	c.CacheLookup("tools/list", true)
	same = same && c.FlightRecord() == nil && c.Operations() == nil && s.FlightRecord() == nil && s.Operations() == nil
	s.ConnectionFailed(names.ErrorConnectionLost)
	c.Logger().Info("x")
	c.Peer(stdio, "").SessionEnd(time.Second, "")
	c.Close()

	got, op = s.StartHandler(ctx, instrument.Incoming{Method: "ping", TraceContext: traceparent(remoteParent)})
	same = same && got == ctx
	op.Sent(1)
	op.End(instrument.Result{})
	got, op = s.StartRequest(ctx, instrument.Request{Method: "notifications/message"})
	same = same && got == ctx
	op.End(instrument.Result{})
	s.Notification(telemetry.DirectionReceived, "x")
	s.Violation(instrument.Violation{Direction: telemetry.DirectionReceived})
	s.Dropped(instrument.Drop{})
	s.MessageSize(telemetry.DirectionSent, instrument.KindError, 1)
	s.QueueWait(time.Second)
	s.NotificationDropped("x", names.DropNoStream)
	s.Undecodable(time.Second, io.EOF)
	s.Connected(instrument.Connection{})()
	s.StreamOpened(names.StreamListen)()
	s.Relays(ctx)
	same = same && !s.Decodes() && !s.Audits()
	s.HandlerPanic(ctx, "x", nil, stack)
	got, task := s.StartTask(ctx, "add")
	same = same && got == ctx
	task.End("completed", instrument.Result{})
	s.Decided(ctx, instrument.Decision{Kind: names.PolicyRedacted, Method: "tools/call", Tool: "add", Redactions: 1})
	s.Peer(stdio, "").SessionEnd(time.Second, "")
	s.Close()
	if !same {
		panic("telemetry that is off has changed the context or has a time")
	}
}
