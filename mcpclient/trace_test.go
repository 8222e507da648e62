package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// traced is a client whose caller has a span, with the recorded telemetry.
type traced struct {
	t   *testing.T
	rec *telemetrytest.Recording
	s   *script
	c   *mcpclient.Client
	v   *conversation

	caller    trace.Span      // span of the caller of Connect
	callerCtx context.Context // context with that span
}

// tracing runs f in a bubble with a client. Connect is called under a span of the caller, and greet plays the server's
// part of the handshake.
func tracing(t *testing.T, o mcpclient.Options, greet func(v *conversation), f func(tr *traced)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tr := &traced{t: t, rec: telemetrytest.Recorder(t), s: newScript(t)}
		o.Telemetry = tr.rec.Telemetry()
		tr.callerCtx, tr.caller = tr.start(t.Context(), "caller of Connect")
		connected := background(func() (err error) {
			tr.c, err = mcpclient.Connect(tr.callerCtx, tr.s, &o)
			return err
		})
		tr.v = tr.s.next(t)
		greet(tr.v)
		if err := <-connected; err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := tr.c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		tr.caller.End()
		f(tr)
	})
}

func modern(v *conversation) { v.modern() }

// start starts a span of the test.
func (tr *traced) start(ctx context.Context, name string) (context.Context, trace.Span) {
	return tr.rec.TracerProvider().Tracer("test").Start(ctx, name)
}

// spans returns the ended spans with this name, in the order in which they ended.
func (tr *traced) spans(name string) []sdktrace.ReadOnlySpan {
	return tr.rec.SpansNamed(name, trace.SpanKindUnspecified)
}

// childOf fails the test unless s is a child of parent.
func (tr *traced) childOf(s sdktrace.ReadOnlySpan, parent trace.SpanContext) {
	tr.t.Helper()
	if s.SpanContext().TraceID() != parent.TraceID() || s.Parent().SpanID() != parent.SpanID() {
		tr.t.Errorf("%s: want a child of span %s in trace %s, got a child of %s in %s",
			s.Name(), parent.SpanID(), parent.TraceID(), s.Parent().SpanID(), s.SpanContext().TraceID())
	}
}

// carries fails the test unless the frame has the trace context of s.
func (tr *traced) carries(f frame, s sdktrace.ReadOnlySpan) {
	tr.t.Helper()
	var p struct {
		Meta struct {
			Traceparent string `json:"traceparent"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		tr.t.Fatalf("params of %s: %v", f.Raw, err)
	}
	want := fmt.Sprintf("00-%s-%s-01", s.SpanContext().TraceID(), s.SpanContext().SpanID())
	if p.Meta.Traceparent != want {
		tr.t.Errorf("%s: want the traceparent of its span, %s, got %q", f.Method, want, p.Meta.Traceparent)
	}
}

// call calls a tool under a new span of the caller. It returns the request and that span.
func (tr *traced) call(caller string, options ...mcpclient.CallOption) (frame, trace.SpanContext, <-chan error) {
	tr.t.Helper()
	ctx, span := tr.start(tr.t.Context(), caller)
	done := background(func() error {
		defer span.End()
		_, err := tr.c.CallTool(ctx, "echo", nil, options...)
		return err
	})
	return tr.v.Expect(mcp.MethodCallTool), span.SpanContext(), done
}

func TestCallIsOneTraceAcrossReconnect(t *testing.T) {
	tracing(t, mcpclient.Options{}, modern, func(tr *traced) {
		for i := range 2 {
			f, caller, done := tr.call(fmt.Sprint("caller ", i))
			tr.v.Answer(f, fmt.Sprintf(textResult, "hi"))
			if err := <-done; err != nil {
				tr.t.Fatal(err)
			}
			calls := tr.spans("tools/call echo")
			if len(calls) != i+1 {
				tr.t.Fatalf("want %d spans, got %d", i+1, len(calls))
			}
			if kind := calls[i].SpanKind(); kind != trace.SpanKindClient {
				tr.t.Errorf("want a client span, got %v", kind)
			}
			tr.childOf(calls[i], caller)
			tr.carries(f, calls[i])
			if i == 0 {
				tr.v.Close()
				tr.v = tr.s.next(tr.t).modern()
				await(tr.t, tr.c)
			}
		}
	})
}

func TestFirstAttemptIsInCallersTraceAndLaterOnesLink(t *testing.T) {
	tracing(t, mcpclient.Options{}, modern, func(tr *traced) {
		for range 2 {
			tr.v.Close()
			tr.v = tr.s.next(tr.t)
			modern(tr.v)
			await(tr.t, tr.c)
		}
		attempts := tr.spans("mcp_client.connect")
		if len(attempts) != 3 {
			tr.t.Fatalf("want 3 attempts, got %d", len(attempts))
		}
		tr.childOf(attempts[0], tr.caller.SpanContext())
		if n := len(attempts[0].Links()); n != 0 {
			tr.t.Errorf("want no link at the first attempt, got %d", n)
		}
		for i, a := range attempts[1:] {
			if a.Parent().IsValid() {
				tr.t.Errorf("attempt %d: want the root of its own trace, got a child of %s", i+2, a.Parent().SpanID())
			}
			links := a.Links()
			if len(links) != 1 || links[0].SpanContext.SpanID() != attempts[i].SpanContext().SpanID() ||
				links[0].SpanContext.TraceID() != attempts[i].SpanContext().TraceID() {
				tr.t.Errorf("attempt %d: want one link, to the previous attempt, got %v", i+2, links)
			}
		}
	})
}

// The abandoned probe and the following handshake belong to one attempt.
func TestHandshakeSpansAreChildrenOfAttempt(t *testing.T) {
	var probe, initialize, notice frame
	greet := func(v *conversation) {
		probe = v.Expect(mcp.MethodDiscover)
		v.Refuse(probe, mcp.CodeMethodNotFound, "no")
		initialize = v.Expect(mcp.MethodInitialize)
		v.Answer(initialize, fmt.Sprintf(initialized, mcp.Version20251125))
		notice = v.Expect(mcp.NotificationInitialized)
	}
	tracing(t, mcpclient.Options{}, greet, func(tr *traced) {
		attempt := tr.rec.Span("mcp_client.connect")
		for _, f := range []frame{probe, initialize, notice} {
			s := tr.rec.Span(f.Method)
			tr.childOf(s, attempt.SpanContext())
			tr.carries(f, s)
		}
	})
}

func TestCancellationIsAChildOfItsCall(t *testing.T) {
	for name, end := range map[string]func(tr *traced) (frame, <-chan error){
		"timeout": func(tr *traced) (frame, <-chan error) {
			f, _, done := tr.call("caller", mcpclient.WithTimeout(time.Second))
			return f, done
		},
		"caller": func(tr *traced) (frame, <-chan error) {
			ctx, cancel := context.WithCancel(tr.t.Context())
			done := background(func() error { _, err := tr.c.CallTool(ctx, "echo", nil); return err })
			f := tr.v.Expect(mcp.MethodCallTool)
			cancel()
			return f, done
		},
	} {
		t.Run(name, func(t *testing.T) {
			tracing(t, mcpclient.Options{}, modern, func(tr *traced) {
				_, done := end(tr)
				notice := tr.v.Expect(mcp.NotificationCancelled)
				if err := <-done; err == nil {
					tr.t.Fatal("want the call to fail")
				}
				s := tr.rec.Span(mcp.NotificationCancelled)
				tr.childOf(s, tr.rec.Span("tools/call echo").SpanContext())
				tr.carries(notice, s)
			})
		})
	}
}

func TestLateAnswerRecordIdentifiesItsCall(t *testing.T) {
	for reason, end := range map[string]func(tr *traced, done <-chan error){
		"late_timeout":   func(tr *traced, _ <-chan error) { time.Sleep(time.Second) },
		"late_cancelled": nil,
		"late_lost": func(tr *traced, _ <-chan error) {
			tr.v.Close()
			tr.v = tr.s.next(tr.t).modern()
			await(tr.t, tr.c)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			tracing(t, mcpclient.Options{}, modern, func(tr *traced) {
				ctx, cancel := context.WithCancel(tr.t.Context())
				defer cancel()
				done := background(func() error {
					_, err := tr.c.CallTool(ctx, "echo", nil, mcpclient.WithTimeout(time.Second))
					return err
				})
				f := tr.v.Expect(mcp.MethodCallTool)
				if end == nil {
					cancel()
				} else {
					end(tr, done)
				}
				if err := <-done; err == nil {
					tr.t.Fatal("want the call to fail")
				}
				if reason != "late_lost" {
					tr.v.Expect(mcp.NotificationCancelled)
				}
				time.Sleep(time.Second)
				tr.v.Answer(f, fmt.Sprintf(textResult, "too late"))
				synctest.Wait()
				r, call := tr.rec.Log("mcp_client.response.dropped"), tr.rec.Span("tools/call echo").SpanContext()
				if got := r.Text("mcp_client.drop.reason"); got != reason {
					tr.t.Errorf("want the reason %s, got %s", reason, got)
				}
				if r.Span.TraceID() != call.TraceID() || r.Span.SpanID() != call.SpanID() {
					tr.t.Errorf("want the trace %s and the span %s of the call, got %s, %s", call.TraceID(), call.SpanID(),
						r.Span.TraceID(), r.Span.SpanID())
				}
				if got := r.Text("jsonrpc.request.id"); got != string(f.ID) {
					tr.t.Errorf("want the id %s, got %s", f.ID, got)
				}
				if age := r.Attrs["mcp_client.drop.age"].Float64(); age < 1 {
					tr.t.Errorf("want at least 1 s since the call ended, got %v s", age)
				}
			})
		})
	}
}

func TestTransitionsAreLoggedInTheTraceOfTheirAttempt(t *testing.T) {
	tracing(t, mcpclient.Options{}, modern, func(tr *traced) {
		synctest.Wait()
		attempt := tr.rec.Span("mcp_client.connect").SpanContext()
		records := tr.rec.Logs("mcp_client.connection.transition")
		if len(records) != 2 {
			tr.t.Fatalf("want 2 transitions, got %d", len(records))
		}
		for _, r := range records {
			if r.Span.SpanID() != attempt.SpanID() {
				tr.t.Errorf("to %s: want the span %s, got %s", r.Text("mcp_client.connection.to"), attempt.SpanID(),
					r.Span.SpanID())
			}
		}
	})
}

const remoteTrace, remoteSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

// The test sends messages with and without a trace context to handlers. The spans of the handlers must not belong to
// the trace of Connect's caller.
func TestServerMessagesAreNotInConnectCallersTrace(t *testing.T) {
	spans := make(chan trace.SpanContext, 9)
	o := mcpclient.Options{
		Versions: []mcp.Version{mcp.Version20251125},
		Features: []mcpclient.Feature{
			mcpclient.HandleNotification("custom/note", func(ctx context.Context,
				_ *mcpclient.Notification) {
				spans <- trace.SpanContextFromContext(ctx)
			}),
			mcpclient.HandleRequest("roots/list", func(ctx context.Context, _ *mcpclient.Request) (any, error) {
				spans <- trace.SpanContextFromContext(ctx)
				return nil, nil
			}),
		},
	}
	greet := func(v *conversation) { v.initialize(mcp.Version20251125) }
	tracing(t, o, greet, func(tr *traced) {
		const remote = `,"params":{"_meta":{"traceparent":"00-` + remoteTrace + `-` + remoteSpan + `-01"}}`
		for _, message := range []string{`"method":"custom/note"`, `"method":"roots/list","id":1`} {
			for _, params := range []string{"", remote} {
				tr.v.Send(`{"jsonrpc":"2.0",` + message + params + `}`)
				got := <-spans
				synctest.Wait() // wait until the handler's span has ended
				all := tr.rec.Spans()
				s := all[len(all)-1]
				if s.SpanContext().SpanID() != got.SpanID() || s.SpanKind() != trace.SpanKindServer {
					tr.t.Errorf("%s: want a server span of the handler, got %s, %v", message, got.SpanID(), s.SpanKind())
				}
				switch {
				case params == "" &&
					(s.Parent().IsValid() || len(s.Links()) > 0 || got.TraceID() == tr.caller.SpanContext().TraceID()):
					tr.t.Errorf("%s: want the root of its own trace, got a child of %s", message, s.Parent().SpanID())
				case params != "" &&
					(got.TraceID().String() != remoteTrace || s.Parent().SpanID().String() != remoteSpan || len(s.Links()) > 0):
					tr.t.Errorf("%s: want a child of the server's span, got trace %s, parent %s, %d links", message, got.TraceID(),
						s.Parent().SpanID(), len(s.Links()))
				}
			}
		}
	})
}

// With telemetry off, the only span is the caller's, and a handler's context must not have that span.
func TestHandlersWithoutTelemetryHaveNoSpan(t *testing.T) {
	tracing(t, mcpclient.Options{}, modern, func(tr *traced) {
		spans := make(chan trace.SpanContext, 1)
		s := newScript(t)
		connected := background(func() error {
			c, err := mcpclient.Connect(tr.callerCtx, s, &mcpclient.Options{Telemetry: telemetry.Off(),
				Features: []mcpclient.Feature{
					mcpclient.HandleNotification("", func(ctx context.Context,
						_ *mcpclient.Notification) {
						spans <- trace.SpanContextFromContext(ctx)
					}),
				}})
			if err == nil {
				tr.t.Cleanup(func() { _ = c.Close() })
			}
			return err
		})
		v := s.next(tr.t).modern()
		if err := <-connected; err != nil {
			tr.t.Fatal(err)
		}
		v.Send(`{"jsonrpc":"2.0","method":"custom/note"}`)
		if got := <-spans; got.IsValid() {
			tr.t.Errorf("want no span, got %s", got.SpanID())
		}
	})
}

func TestRefusedCallHasASpan(t *testing.T) {
	tracing(t, mcpclient.Options{}, modern, func(tr *traced) {
		tr.v.Close()
		waitFor(tr.t, tr.c, connstate.Backoff)
		ctx, caller := tr.start(tr.t.Context(), "caller")
		if err := tr.c.Call(ctx, "refused", nil, nil); !errors.Is(err, mcpclient.ErrNotReady) {
			tr.t.Errorf("want %v, got %v", mcpclient.ErrNotReady, err)
		}
		caller.End()
		tr.childOf(tr.rec.Span("refused"), caller.SpanContext())
	})
}

// If a client continues with initialize, a legacy server's answer to the probe is not an error.
func TestRefusedProbeSpanHasNoErrorIfHandshakeContinues(t *testing.T) {
	tracing(t, mcpclient.Options{}, func(v *conversation) { v.legacy(mcp.Version20251125) }, func(tr *traced) {
		probes := tr.spans(mcp.MethodDiscover)
		if len(probes) != 1 {
			t.Fatalf("want one probe, got %d", len(probes))
		}
		attrs := map[string]string{}
		for _, kv := range probes[0].Attributes() {
			attrs[string(kv.Key)] = kv.Value.String()
		}
		if s := probes[0].Status(); s.Code != codes.Unset || attrs["error.type"] != "" ||
			attrs["rpc.response.status_code"] != "-32601" {
			t.Errorf("want the code of the answer and no error, got %v with %v", s, attrs)
		}
		if s := tr.spans("mcp_client.connect")[0].Status(); s.Code != codes.Unset {
			t.Errorf("want no error of the attempt, got %v", s)
		}
	})
}
