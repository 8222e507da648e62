package telemetry_test

import (
	"context"
	"io"
	"runtime/debug"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// unobserved are all the ways to have no telemetry.
var unobserved = []struct {
	name   string
	client *telemetry.Client
	server *telemetry.Server
}{
	{"off", telemetry.Off().Client("x", pipe), telemetry.Off().Server("x", pipe)},
	{"nil telemetry", (*telemetry.Telemetry)(nil).Client("x", pipe), (*telemetry.Telemetry)(nil).Server("x", pipe)},
	{"nil", nil, nil},
}

func TestWithoutTelemetryEverythingIsInertAndFree(t *testing.T) {
	stack := debug.Stack()
	for _, u := range unobserved {
		t.Run(u.name, func(t *testing.T) {
			if u.client != nil || u.server != nil {
				t.Fatalf("without telemetry clients and servers are nil, got %v and %v", u.client, u.server)
			}
			ctx := t.Context()
			if n := testing.AllocsPerRun(100, func() { useAllOf(ctx, u.client, u.server, stack) }); n != 0 {
				t.Errorf("allocations: got %v, want 0", n)
			}
		})
	}
}

// useAllOf calls every method that there is.
func useAllOf(ctx context.Context, c *telemetry.Client, s *telemetry.Server, stack []byte) {
	got, attempt := c.StartAttempt(ctx, telemetry.AttemptStart{Number: 1})
	same := got == ctx && attempt.Ref() == (telemetry.Ref{})
	attempt.End(errBroken)
	toolCall(ctx, c, c.Peer(stdio, ""))
	got, op := c.StartRequest(ctx, telemetry.Request{Method: "ping"})
	op.Retry(telemetry.RetryBusy)
	op.Arguments(stack)
	op.Answer(stack)
	same = same && !op.Captures()
	same = same && got == ctx && op.Ref() == (telemetry.Ref{}) && op.Corr() == (telemetry.Corr{}) &&
		op.Started().IsZero() && !op.Timed()
	op.End(telemetry.Result{Err: errBroken})
	got, op = c.StartHandler(ctx, telemetry.Incoming{Method: "ping", Traceparent: remoteParent})
	same = same && got == ctx
	op.End(telemetry.Result{})
	c.Notification(telemetry.Received, "x")
	c.NotificationDropped("x", telemetry.DropQueueFull)
	c.Violation(telemetry.Violation{Direction: telemetry.Received})
	c.Dropped(telemetry.Drop{})
	c.MessageSize(telemetry.Sent, telemetry.KindError, 1)
	c.QueueWait(time.Second)
	c.HandlerPanic(ctx, "x", nil, stack)
	c.Queue(nil)
	c.Transition(telemetry.Transition{})
	c.Backoff(time.Second, 1)
	c.Tombstones(1)
	c.ProcessExit(telemetry.ProcessExit{})
	c.CloseFailed(io.EOF)
	c.OutputUnchecked("search", io.EOF)
	c.ToolRejected("search", io.EOF)
	c.IconsRejected("tools/list", io.EOF)
	c.SubscriptionLost("file:///etc/motd", io.EOF)
	c.StreamOpened(telemetry.StreamGet)(io.EOF)
	c.CacheLookup("tools/list", true)
	same = same && c.FlightRecord() == nil && c.Operations() == nil && s.FlightRecord() == nil && s.Operations() == nil
	s.ConnectionFailed(telemetry.ErrorConnectionLost)
	c.Logger().Info("x")
	c.Peer(stdio, "").SessionEnd(time.Second, "")
	c.Close()

	got, op = s.StartHandler(ctx, telemetry.Incoming{Method: "ping", Traceparent: remoteParent})
	same = same && got == ctx
	op.Sent(1)
	op.End(telemetry.Result{})
	got, op = s.StartRequest(ctx, telemetry.Request{Method: "notifications/message"})
	same = same && got == ctx
	op.End(telemetry.Result{})
	s.Notification(telemetry.Received, "x")
	s.Violation(telemetry.Violation{Direction: telemetry.Received})
	s.Dropped(telemetry.Drop{})
	s.MessageSize(telemetry.Sent, telemetry.KindError, 1)
	s.QueueWait(time.Second)
	s.NotificationDropped("x", telemetry.DropNoStream)
	s.Undecodable(time.Second, io.EOF)
	s.Connected(telemetry.Connection{})()
	s.StreamOpened(telemetry.StreamListen)()
	same = same && !s.Decodes()
	s.HandlerPanic(ctx, "x", nil, stack)
	got, task := s.StartTask(ctx, "add")
	same = same && got == ctx
	task.End("completed", telemetry.Result{})
	s.Peer(stdio, "").SessionEnd(time.Second, "")
	s.Close()
	if !same {
		panic("telemetry that is absent leaves the context alone and has no time")
	}
}
