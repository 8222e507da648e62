package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestNewRejectsInvalidOptionsOfRelay(t *testing.T) {
	s := newScript(t)
	for want, o := range map[string]*Options{
		"options: InitTimeout is negative":    {InitTimeout: -1},
		"options: RequestTimeout is negative": {RequestTimeout: -1},
		"options: Limits.Frame is negative":   {FrameLimit: -1},
	} {
		if _, err := New(s, o, &relay.Client{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := New(nil, nil, &relay.Client{}); err == nil {
		t.Error("got no error without a transport")
	}
}

// again plays the server in the handshake of a later connection. The peer in front has confirmed the first session.
func (b *front) again(v *conversation) *conversation {
	b.t.Helper()
	b.confirm()
	v.Answer(v.Expect(mcp.MethodInitialize), initializeResult)
	v.Expect(mcp.NotificationInitialized)
	b.wants("introduced result " + initializeResult)
	return v
}

func TestLostSessionIsReplacedAtOnce(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		b.confirm()
		begun := time.Now()
		v.Close()
		v = b.again(s.next(t))
		if took := time.Since(begun); took != 0 {
			t.Errorf("the new session took %v, want none", took)
		}
		n := relay.Message{Method: mcp.NotificationInitialized}
		if err := b.server.Notify(t.Context(), n); err != nil { // waits for the session
			t.Error(err)
		}
		v.Close() // a server that always ends is not restarted endlessly
		v = b.again(s.next(t))
		if took := time.Since(begun); took < 50*time.Millisecond || took > 150*time.Millisecond {
			t.Errorf("the second new session took %v, want about 100ms", took)
		}
		b.asks(t.Context(), "ask", "")
		v.Answer(v.Expect("ask"), `{}`)
		b.wants("ask result {}")
		begun = time.Now()
		v.Close()
		b.again(s.next(t))
		if took := time.Since(begun); took != 0 {
			t.Errorf("after an answer it took %v", took)
		}
	})
}

// The program of the server may be missing while it is being replaced.
func TestSessionRecoversAfterFailedAttempts(t *testing.T) {
	var missing atomic.Bool
	rig := &rigged{dial: func(context.Context) (error, bool) { return fs.ErrNotExist, missing.Load() }}
	session(t, nil, rig, func(t *testing.T, s *script, v *conversation, b *front) {
		b.confirm()
		missing.Store(true)
		v.Close()
		time.Sleep(time.Minute)
		missing.Store(false)
		v = s.next(t)
		v.Refuse(v.Expect(mcp.MethodInitialize), -32000, "busy")
		b.wants(`introduced error {"code":-32000,"message":"busy"}`)
		b.again(s.next(t))
	})
}

func TestIntroductionRefusedByPeerEndsRelay(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		b.refuse = errors.New("another revision")
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), `{}`)
		<-b.server.core.Base.Done()
		b.wants("introduced result {}", "gone")
		b.asks(t.Context(), "ask", "")
		if got := b.heard(); len(got) != 1 || !strings.Contains(got[0], "another revision") {
			t.Errorf("got %q", got)
		}
	})
}

func TestMessagesWaitForBusyTransportInOrder(t *testing.T) {
	var full atomic.Bool
	rig := &rigged{send: func(transport.Message) (error, bool) { return transport.ErrBusy, full.Load() }}
	session(t, nil, rig, func(t *testing.T, _ *script, v *conversation, b *front) {
		ctx, cancel := context.WithCancelCause(t.Context())
		b.asks(ctx, "early", "")
		v.Expect("early")
		full.Store(true)
		cancel(errors.New("enough"))
		synctest.Wait()
		done := background(func() error {
			b.asks(t.Context(), "first", "")
			err := b.server.Notify(t.Context(), relay.Message{Method: "second"})
			b.asks(t.Context(), "third", "")
			return err
		})
		time.Sleep(time.Minute)
		full.Store(false)
		v.Expect(mcp.NotificationCancelled)
		for _, method := range []string{"first", "second", "third"} {
			v.Expect(method)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWaitingNotificationGetsReasonOfSessionEnd(t *testing.T) {
	rig := &rigged{}
	session(t, nil, rig, func(t *testing.T, _ *script, v *conversation, b *front) {
		rig.send = func(transport.Message) (error, bool) { return transport.ErrBusy, true }
		done := background(func() error { return b.server.Notify(t.Context(), relay.Message{Method: "tell"}) })
		time.Sleep(time.Minute)
		v.Close()
		if err := <-done; !errors.Is(err, conn.ErrConnectionLost) {
			t.Errorf("got %v, want the error of a lost connection", err)
		}
	})
}

func TestUnsentRequestIsNotCancelledAtServer(t *testing.T) {
	var full atomic.Bool
	rig := &rigged{send: func(transport.Message) (error, bool) { return transport.ErrBusy, full.Load() }}
	session(t, nil, rig, func(t *testing.T, _ *script, v *conversation, b *front) {
		full.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		done := background(func() error { b.asks(ctx, "ask", ""); return nil })
		synctest.Wait()
		cancel()
		<-done
		full.Store(false)
		if got := b.heard(); len(got) != 1 || !strings.HasPrefix(got[0], "ask cancelled unsent=true: ") {
			t.Errorf("got %q", got)
		}
		b.asks(t.Context(), "next", "")
		v.Expect("next")
	})
}

func TestRelayTimeoutEndsRequest(t *testing.T) {
	o := &Options{RequestTimeout: time.Minute}
	session(t, o, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		b.asks(t.Context(), "ask", "")
		v.Expect("ask")
		time.Sleep(time.Minute)
		v.Expect(mcp.NotificationCancelled)
		if got := b.heard(); len(got) != 1 || !strings.HasPrefix(got[0], "ask timeout unsent=false: ") {
			t.Errorf("got %q", got)
		}
	})
}

func TestInspectionListsRelayClient(t *testing.T) {
	session(t, &Options{Name: "behind", Group: "g"}, nil,
		func(t *testing.T, _ *script, v *conversation, b *front) {
			b.asks(t.Context(), mcp.MethodCallTool, `{"name":"slow"}`)
			v.Receive()
			for _, c := range running.Clients.All() {
				i := c.Inspect()
				if i.Name != "behind" {
					continue
				}
				if i.Group != "g" || i.InFlight != 1 || len(i.Calls) != 1 || i.Calls[0].Target != "slow" ||
					i.Version != mcp.Version20251125 {
					t.Errorf("got %+v", i)
				}
				return
			}
			t.Error("the list of running clients does not contain the client")
		})
	for _, c := range mcpclient.Clients() {
		if c.Inspect().Name == "behind" {
			t.Error("the relay is listed as an mcpclient.Client")
		}
	}
}

func TestRelaySendsPingsIfConfigured(t *testing.T) {
	session(t, &Options{KeepAlive: time.Minute}, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		b.confirm()
		v.Answer(v.Expect(mcp.MethodPing), `{}`)
		v.Expect(mcp.MethodPing) // does not answer
		b.again(s.next(t))
	})
}

func TestRelayedMessagesAreOneTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newScript(t)
		b := &front{t: t, intro: legacyIntro}
		server, err := New(s, &Options{Telemetry: rec.Telemetry()}, &relay.Client{
			Receiver: b, Introduce: b.introduce,
			Introduced: func(json.RawMessage, error) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop(context.Background())
		b.server = server
		v := s.next(t)
		m := v.Expect(mcp.MethodInitialize)
		if string(m.Params) != initializeParams {
			t.Errorf("initialize has %s", m.Params)
		}
		v.Answer(m, initializeResult)
		synctest.Wait()

		ctx, caller := rec.TracerProvider().Tracer("test").Start(t.Context(), "server")
		b.asks(ctx, mcp.MethodCallTool, `{"name":"echo","_meta":{"traceparent":"S","x":1}}`)
		m = v.Expect(mcp.MethodCallTool)
		v.Answer(m, `{"isError":true,"content":[]}`)
		b.asks(ctx, "invented/method", "")
		v.Refuse(v.Expect("invented/method"), mcp.CodeMethodNotFound, "no")
		synctest.Wait()
		caller.End()
		call := rec.SpansNamed("tools/call echo", trace.SpanKindClient)
		if len(call) != 1 || call[0].Parent().SpanID() != caller.SpanContext().SpanID() {
			t.Fatalf("got %d spans of the call", len(call))
		}
		parent := "00-" + call[0].SpanContext().TraceID().String() + "-" + call[0].SpanContext().SpanID().String() + "-01"
		if want := `{"name":"echo","_meta":{"traceparent":"` + parent + `","x":1}}`; string(m.Params) != want {
			t.Errorf("got %s, want %s", m.Params, want)
		}
		for _, want := range []attribute.KeyValue{
			attribute.String("error.type", "tool_error"), attribute.String("gen_ai.tool.name", "echo"),
		} {
			if !slices.Contains(call[0].Attributes(), want) {
				t.Errorf("got %v, want %v", call[0].Attributes(), want)
			}
		}
		if n := rec.Count("mcp.client.operation.duration", "mcp.method.name", "_OTHER", "error.type", "-32601"); n != 1 {
			t.Errorf("got %d samples of the invented method", n)
		}

		v.Send(`{"jsonrpc":"2.0","id":5,"method":"roots/list","params":{"_meta":{"traceparent":"` + parent + `"}}}`)
		synctest.Wait()
		inner := trace.SpanContextFromContext(b.contexts[0])
		b.requests[0](json.RawMessage(`{"roots":[]}`), nil)
		v.Receive()
		synctest.Wait()
		asked := rec.SpansNamed("roots/list", trace.SpanKindServer)
		if len(asked) != 1 || asked[0].Parent().SpanID() != call[0].SpanContext().SpanID() ||
			inner.SpanID() != asked[0].SpanContext().SpanID() {
			t.Errorf("got %d spans of the server's request", len(asked))
		}
		if n := rec.Value("mcp_client.notification.messages", "mcp.method.name", "notifications/message"); n != 0 {
			t.Errorf("got %d", n)
		}
		v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		synctest.Wait()
		if n := rec.Value("mcp_client.notification.messages", "mcp.method.name", "notifications/message"); n != 1 {
			t.Errorf("got %d notifications", n)
		}
		for _, p := range rec.Problems() {
			t.Error(p)
		}
	})
}
