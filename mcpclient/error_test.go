package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestErrorTextsAndTypes(t *testing.T) {
	refused := &mcp.Error{Code: -32602, Message: "no such tool"}
	for _, tc := range []struct {
		err       *Error
		text, typ string
	}{
		{&Error{Kind: KindTransport, Op: "tools/call", cause: ErrConnectionLost}, "tools/call: connection lost",
			"connection_lost"},
		{&Error{Kind: KindTransport, Op: "tools/call", cause: ErrBackpressure}, "tools/call: transport busy",
			"transport_busy"},
		{&Error{Kind: KindTransport, Op: "x", cause: fmt.Errorf("%w: full", ErrBackpressure)},
			"x: transport busy: full", "transport_busy"},
		{&Error{Kind: KindProtocol, Op: "tools/list", cause: errors.New("7 tools")}, "tools/list: 7 tools",
			"protocol_violation"},
		{&Error{Kind: KindJSONRPC, Op: "tools/call", Server: refused}, "tools/call: server error -32602: no such tool",
			"-32602"},
		{&Error{Kind: KindJSONRPC, Server: &mcp.Error{Code: 1}}, "server error 1: ", "1"},
		{&Error{Kind: KindState, Op: "await", cause: ErrNotReady}, "client is not ready", "not_ready"},
		{&Error{Kind: KindTimeout, Op: "ping", cause: ErrTimeout}, "ping: no answer in time", "timeout"},
		{&Error{Kind: KindCancelled, Op: "ping", cause: context.Canceled}, "ping: context canceled", "cancelled"},
		{&Error{Kind: KindShutdown, Op: "ping", cause: ErrShutdown}, "ping: client is shut down", "shutdown"},
		{&Error{Kind: KindInvalid, Op: "ping", cause: errors.New("not an object")}, "ping: not an object", "_OTHER"},
		{&Error{Kind: KindShutdown}, "shutdown", "shutdown"},
	} {
		if got := tc.err.Error(); got != tc.text {
			t.Errorf("want the text %q, got %q", tc.text, got)
		}
		if got := tc.err.ErrorType(); got != tc.typ {
			t.Errorf("%s: want error.type %q, got %q", tc.text, tc.typ, got)
		}
		if SafeToRetry(tc.err) {
			t.Errorf("%s: want no promise where the client made none", tc.text)
		}
		if tc.err.cause != nil && !errors.Is(tc.err, tc.err.cause) {
			t.Errorf("%s: want its cause in the chain", tc.text)
		}
	}
	wrapped := fmt.Errorf("wrapped: %w", &Error{Kind: KindJSONRPC, Server: refused})
	if server, ok := errors.AsType[*mcp.Error](wrapped); !ok || server != refused {
		t.Errorf("want the server's error in the chain, got %v", server)
	}
}

// Each condition is in the chain of its own errors and of no other's.
func TestConditionsAreInTheChain(t *testing.T) {
	conditions := []error{ErrNotReady, ErrConnectionLost, ErrBackpressure, ErrTimeout, ErrShutdown, ErrUnsupported}
	for _, is := range conditions {
		err := fmt.Errorf("caller: %w", &Error{Kind: KindState, cause: fmt.Errorf("%w: more", is)})
		for _, other := range conditions {
			if got := errors.Is(err, other); got != (is == other) {
				t.Errorf("%v is %v: want %v, got %v", is, other, is == other, got)
			}
		}
	}
	timeout := error(&Error{Kind: KindTimeout, cause: ErrTimeout})
	if !errors.Is(timeout, context.DeadlineExceeded) {
		t.Error("want a timeout to be context.DeadlineExceeded")
	}
	if e, ok := errors.AsType[net.Error](timeout); !ok || !e.Timeout() {
		t.Errorf("want a timeout to be found in the way of package net, got %v", e)
	}
}

func TestAToolErrorNamesTheToolAndHasItsType(t *testing.T) {
	err := &mcp.ToolError{Tool: "weather", Result: &mcp.CallToolResult{IsError: true,
		Content: mcp.ContentList{mcp.Text("no such city")}}}
	if got := err.Error(); got != "tool weather: no such city" {
		t.Errorf("want the tool and its text, got %q", got)
	}
	if err.ErrorType() != "tool_error" || SafeToRetry(err) {
		t.Errorf("want error.type tool_error, not safe to retry, got %s", err.ErrorType())
	}
}

// attempt is a call and the situation it is made in.
type attempt struct {
	kind ErrorKind
	typ  string
	safe bool
	call func(t *testing.T, a *arena) <-chan error
}

// arena is what a situation is made of. A client that is busy is one whose transport is.
type arena struct {
	c    *Client
	v    *conversation
	send atomic.Pointer[error] // what Send returns, nil to send
}

// begin makes a call that the server receives.
func (a *arena) begin(t *testing.T, ctx context.Context, options ...CallOption) (<-chan error, frame) {
	t.Helper()
	done := background(func() error { _, err := a.c.CallTool(ctx, "tool", nil, options...); return err })
	return done, a.v.Expect(mcp.MethodCallTool)
}

// stuck makes a call that finds the transport busy, and returns while it waits for room.
func (a *arena) stuck(ctx context.Context, options ...CallOption) <-chan error {
	a.send.Store(&transport.ErrBusy)
	done := background(func() error { return a.c.Call(ctx, "stuck", nil, nil, options...) })
	synctest.Wait()
	return done
}

// TestSafeToRetryIsTrueExactlyIfNothingWasSent holds every way in which a call can fail, against the runtime.
func TestSafeToRetryIsTrueExactlyIfNothingWasSent(t *testing.T) {
	for name, tc := range map[string]attempt{
		"params that are no object": {KindInvalid, "_OTHER", true, func(t *testing.T, a *arena) <-chan error {
			return background(func() error { return a.c.Call(t.Context(), "call", []int{1}, nil) })
		}},
		"meta that is no object": {KindInvalid, "_OTHER", true, func(t *testing.T, a *arena) <-chan error {
			return background(func() error { return a.c.Call(t.Context(), "call", nil, nil, WithMeta(mcp.Meta(`7`))) })
		}},
		"what the server did not declare": {KindState, "unsupported", true, func(t *testing.T, a *arena) <-chan error {
			a.c.core.Present().Capabilities.Tools = nil
			return background(func() error { _, err := a.c.ListTools(t.Context(), nil); return err })
		}},
		"a client in backoff": {KindState, "not_ready", true, func(t *testing.T, a *arena) <-chan error {
			a.v.Close()
			waitFor(t, a.c, connstate.Backoff)
			return background(func() error { return a.c.Call(t.Context(), "call", nil, nil) })
		}},
		"a client that was stopped": {KindShutdown, "shutdown", true, func(t *testing.T, a *arena) <-chan error {
			_ = a.c.Stop(t.Context())
			return background(func() error { return a.c.Call(t.Context(), "call", nil, nil, WaitForReady()) })
		}},
		"a context that has ended": {KindCancelled, "cancelled", true, func(t *testing.T, a *arena) <-chan error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return background(func() error { return a.c.Call(ctx, "call", nil, nil) })
		}},
		"a caller who leaves while it waits for the client": {KindCancelled, "cancelled", true,
			func(t *testing.T, a *arena) <-chan error {
				a.v.Close()
				waitFor(t, a.c, connstate.Backoff)
				ctx, cancel := context.WithCancel(t.Context())
				done := background(func() error { return a.c.Call(ctx, "call", nil, nil, WaitForReady()) })
				synctest.Wait()
				cancel()
				return done
			}},
		"a busy transport": {KindTransport, "transport_busy", true, func(t *testing.T, a *arena) <-chan error {
			return a.stuck(t.Context())
		}},
		"a caller who leaves a busy transport": {KindCancelled, "cancelled", true, func(t *testing.T, a *arena) <-chan error {
			ctx, cancel := context.WithCancel(t.Context())
			done := a.stuck(ctx)
			cancel()
			return done
		}},
		"a timeout on a busy transport": {KindTimeout, "timeout", true, func(t *testing.T, a *arena) <-chan error {
			return a.stuck(t.Context(), WithTimeout(time.Millisecond))
		}},
		"a stop on a busy transport": {KindShutdown, "shutdown", true, func(t *testing.T, a *arena) <-chan error {
			done := a.stuck(t.Context())
			_ = a.c.Stop(t.Context())
			return done
		}},
		"a busy transport that is lost": {KindTransport, "connection_lost", true, func(t *testing.T, a *arena) <-chan error {
			done := a.stuck(t.Context())
			a.v.Close()
			return done
		}},
		"a transport that takes nothing any more": {KindTransport, "connection_lost", true,
			func(t *testing.T, a *arena) <-chan error {
				a.send.Store(&transport.ErrClosed)
				return background(func() error { return a.c.Call(t.Context(), "call", nil, nil) })
			}},

		"no answer in time": {KindTimeout, "timeout", false, func(t *testing.T, a *arena) <-chan error {
			done, _ := a.begin(t, t.Context(), WithTimeout(time.Second))
			return done
		}},
		"no answer by the deadline of the context": {KindTimeout, "timeout", false,
			func(t *testing.T, a *arena) <-chan error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				t.Cleanup(cancel)
				done, _ := a.begin(t, ctx)
				return done
			}},
		"a caller who leaves": {KindCancelled, "cancelled", false, func(t *testing.T, a *arena) <-chan error {
			ctx, cancel := context.WithCancel(t.Context())
			done, _ := a.begin(t, ctx)
			cancel()
			return done
		}},
		"a connection that is lost": {KindTransport, "connection_lost", false, func(t *testing.T, a *arena) <-chan error {
			done, _ := a.begin(t, t.Context())
			a.v.Close()
			return done
		}},
		"a stop": {KindShutdown, "shutdown", false, func(t *testing.T, a *arena) <-chan error {
			done, _ := a.begin(t, t.Context())
			_ = a.c.Stop(t.Context())
			return done
		}},
		"an answer that is not JSON": {KindProtocol, "protocol_violation", false, func(t *testing.T, a *arena) <-chan error {
			done, f := a.begin(t, t.Context())
			a.v.Answer(f, `{"content":[}`)
			return done
		}},
		"an answer of an unknown type": {KindProtocol, "protocol_violation", false,
			func(t *testing.T, a *arena) <-chan error {
				done, f := a.begin(t, t.Context())
				a.v.Answer(f, `{"content":[],"resultType":"surprise"}`)
				return done
			}},
		"an answer that is too large": {KindProtocol, "protocol_violation", false, func(t *testing.T, a *arena) <-chan error {
			done, f := a.begin(t, t.Context())
			a.v.Answer(f, fmt.Sprintf(`{"x":"%01000d"}`, 0))
			return done
		}},
		"an error of the server": {KindJSONRPC, "-32603", false, func(t *testing.T, a *arena) <-chan error {
			done, f := a.begin(t, t.Context())
			a.v.Refuse(f, mcp.CodeInternalError, "boom")
			return done
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &arena{}
			rig := &rigged{send: func(transport.Message) (error, bool) {
				if err := a.send.Load(); err != nil {
					return *err, true
				}
				return nil, false
			}}
			observed(t, Options{FrameLimit: 1000}, rig, func(t *testing.T, s *script, c *Client, _ *telemetrytest.Recording) {
				a.c, a.v = c, s.next(t).modern()
				await(t, c)
				// from which nothing must be left
				first := background(func() error { return c.Call(t.Context(), "first", nil, nil) })
				a.v.Answer(a.v.Expect("first"), `{}`)
				if err := <-first; err != nil {
					t.Fatal(err)
				}
				err := <-tc.call(t, a)
				a.send.Store(nil)
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Kind != tc.kind || e.ErrorType() != tc.typ {
					t.Fatalf("want kind %s, error.type %s, got %v", tc.kind, tc.typ, err)
				}
				if got := SafeToRetry(fmt.Errorf("wrapped: %w", err)); got != tc.safe {
					t.Errorf("want safe to retry %v, got %v: %v", tc.safe, got, err)
				}
			})
		})
	}
	if SafeToRetry(nil) || SafeToRetry(errors.New("another")) {
		t.Error("want no promise about what the client did not return")
	}
}

func TestAnswerTakesPrecedenceOverAnEndedContext(t *testing.T) {
	for range 10 { // both are there, and either may be seen first
		ready(t, nil, func(t *testing.T, s *script, v *conversation, c *Client) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			release := make(chan struct{})
			var got struct {
				N int `json:"n"`
			}
			done := background(func() error {
				return c.Call(ctx, "call", nil, &got, WithProgress(func(*mcp.ProgressParams) { <-release }))
			})
			f := v.Expect("call")
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`,
				f.ID))
			v.Answer(f, `{"n":7}`)
			synctest.Wait()
			cancel()
			close(release)
			if err := <-done; err != nil || got.N != 7 {
				t.Errorf("want the answer, got %d, %v", got.N, err)
			}
			next := background(func() error { return c.Call(t.Context(), "next", nil, nil) })
			v.Answer(v.Expect("next"), `{}`) // and no cancellation in between
			if err := <-next; err != nil {
				t.Error(err)
			}
		})
	}
}
