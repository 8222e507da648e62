package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestAToolErrorNamesTheToolAndHasItsType(t *testing.T) {
	err := &mcp.ToolError{Tool: "weather", Result: &mcp.CallToolResult{IsError: true,
		Content: mcp.ContentList{mcp.Text("no such city")}}}
	if got := err.Error(); got != "tool weather: no such city" {
		t.Errorf("want the tool and its text, got %q", got)
	}
	if err.ErrorType() != "tool_error" || mcpclient.SafeToRetry(err) {
		t.Errorf("want error.type tool_error, not safe to retry, got %s", err.ErrorType())
	}
}

// attempt is a failing call in some situation, and its expected error.
type attempt struct {
	kind mcpclient.ErrorKind
	typ  string
	safe bool
	call func(t *testing.T, a *arena) <-chan error
}

// arena holds the parts of a situation: a ready client, its server, and the transport's error.
type arena struct {
	c    *mcpclient.Client
	v    *conversation
	send atomic.Pointer[error] // error that Send returns; nil makes Send work
}

// begin makes a call. It returns when the server has received the request.
func (a *arena) begin(t *testing.T, ctx context.Context, options ...mcpclient.CallOption) (<-chan error, frame) {
	t.Helper()
	done := background(func() error { _, err := a.c.CallTool(ctx, "tool", nil, options...); return err })
	return done, a.v.Expect(mcp.MethodCallTool)
}

// stuck makes a call while the transport is busy. It returns while the call waits for room.
func (a *arena) stuck(ctx context.Context, options ...mcpclient.CallOption) <-chan error {
	a.send.Store(&transport.ErrBusy)
	done := background(func() error { return a.c.Call(ctx, "stuck", nil, nil, options...) })
	synctest.Wait()
	return done
}

// The test lists every way in which a call can fail.
func TestSafeToRetryIsTrueExactlyIfNothingWasSent(t *testing.T) {
	for name, tc := range map[string]attempt{
		"params that are not an object": {mcpclient.KindInvalid, "_OTHER", true, func(t *testing.T, a *arena) <-chan error {
			return background(func() error { return a.c.Call(t.Context(), "call", []int{1}, nil) })
		}},
		"meta that is not an object": {mcpclient.KindInvalid, "_OTHER", true, func(t *testing.T, a *arena) <-chan error {
			return background(func() error { return a.c.Call(t.Context(), "call", nil, nil, mcpclient.WithMeta(mcp.Meta(`7`))) })
		}},
		"a feature that the server did not declare": {mcpclient.KindState, "unsupported", true, func(t *testing.T,
			a *arena) <-chan error {
			return background(func() error { _, err := a.c.ListPrompts(t.Context(), nil); return err })
		}},
		"a client in backoff": {mcpclient.KindState, "not_ready", true, func(t *testing.T, a *arena) <-chan error {
			a.v.Close()
			waitFor(t, a.c, connstate.Backoff)
			return background(func() error { return a.c.Call(t.Context(), "call", nil, nil) })
		}},
		"a client that was stopped": {mcpclient.KindShutdown, "shutdown", true, func(t *testing.T, a *arena) <-chan error {
			_ = a.c.Close()
			return background(func() error { return a.c.Call(t.Context(), "call", nil, nil, mcpclient.WaitForReady()) })
		}},
		"a context that has ended": {mcpclient.KindCancelled, "cancelled", true, func(t *testing.T, a *arena) <-chan error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return background(func() error { return a.c.Call(ctx, "call", nil, nil) })
		}},
		"a caller that leaves while it waits for the client": {mcpclient.KindCancelled, "cancelled", true,
			func(t *testing.T, a *arena) <-chan error {
				a.v.Close()
				waitFor(t, a.c, connstate.Backoff)
				ctx, cancel := context.WithCancel(t.Context())
				done := background(func() error { return a.c.Call(ctx, "call", nil, nil, mcpclient.WaitForReady()) })
				synctest.Wait()
				cancel()
				return done
			}},
		"a busy transport": {mcpclient.KindTransport, "transport_busy", true, func(t *testing.T, a *arena) <-chan error {
			return a.stuck(t.Context())
		}},
		"a caller that leaves a busy transport": {mcpclient.KindCancelled, "cancelled", true, func(t *testing.T,
			a *arena) <-chan error {
			ctx, cancel := context.WithCancel(t.Context())
			done := a.stuck(ctx)
			cancel()
			return done
		}},
		"a timeout on a busy transport": {mcpclient.KindTimeout, "timeout", true, func(t *testing.T, a *arena) <-chan error {
			return a.stuck(t.Context(), mcpclient.WithTimeout(time.Millisecond))
		}},
		"a stop on a busy transport": {mcpclient.KindShutdown, "shutdown", true, func(t *testing.T, a *arena) <-chan error {
			done := a.stuck(t.Context())
			_ = a.c.Close()
			return done
		}},
		"a busy transport that is lost": {mcpclient.KindTransport, "connection_lost", true, func(t *testing.T,
			a *arena) <-chan error {
			done := a.stuck(t.Context())
			a.v.Close()
			return done
		}},
		"a transport that accepts no more messages": {mcpclient.KindTransport, "connection_lost", true,
			func(t *testing.T, a *arena) <-chan error {
				a.send.Store(&transport.ErrClosed)
				return background(func() error { return a.c.Call(t.Context(), "call", nil, nil) })
			}},

		"no answer in time": {mcpclient.KindTimeout, "timeout", false, func(t *testing.T, a *arena) <-chan error {
			done, _ := a.begin(t, t.Context(), mcpclient.WithTimeout(time.Second))
			return done
		}},
		"no answer by the deadline of the context": {mcpclient.KindTimeout, "timeout", false,
			func(t *testing.T, a *arena) <-chan error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				t.Cleanup(cancel)
				done, _ := a.begin(t, ctx)
				return done
			}},
		"a caller that leaves": {mcpclient.KindCancelled, "cancelled", false, func(t *testing.T, a *arena) <-chan error {
			ctx, cancel := context.WithCancel(t.Context())
			done, _ := a.begin(t, ctx)
			cancel()
			return done
		}},
		"a connection that is lost": {mcpclient.KindTransport, "connection_lost", false, func(t *testing.T,
			a *arena) <-chan error {
			done, _ := a.begin(t, t.Context())
			a.v.Close()
			return done
		}},
		"a stop": {mcpclient.KindShutdown, "shutdown", false, func(t *testing.T, a *arena) <-chan error {
			done, _ := a.begin(t, t.Context())
			_ = a.c.Close()
			return done
		}},
		"an answer that is not JSON": {mcpclient.KindProtocol, "protocol_violation", false, func(t *testing.T,
			a *arena) <-chan error {
			done, f := a.begin(t, t.Context())
			a.v.Answer(f, `{"content":[}`)
			return done
		}},
		"an answer of an unknown type": {mcpclient.KindProtocol, "protocol_violation", false,
			func(t *testing.T, a *arena) <-chan error {
				done, f := a.begin(t, t.Context())
				a.v.Answer(f, `{"content":[],"resultType":"surprise"}`)
				return done
			}},
		"an answer that is too large": {mcpclient.KindProtocol, "protocol_violation", false, func(t *testing.T,
			a *arena) <-chan error {
			done, f := a.begin(t, t.Context())
			a.v.Answer(f, fmt.Sprintf(`{"x":"%01000d"}`, 0))
			return done
		}},
		"an error of the server": {mcpclient.KindJSONRPC, "-32603", false, func(t *testing.T, a *arena) <-chan error {
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
			observed(t, mcpclient.Options{Limits: mcpclient.Limits{Frame: 1000}}, rig,
				func(t *testing.T, s *script, c *mcpclient.Client,
					_ *telemetrytest.Recording) {
					a.c, a.v = c, s.next(t).modern()
					await(t, c)
					// an earlier call must leave nothing behind
					first := background(func() error { return c.Call(t.Context(), "first", nil, nil) })
					a.v.Answer(a.v.Expect("first"), `{}`)
					if err := <-first; err != nil {
						t.Fatal(err)
					}
					err := <-tc.call(t, a)
					a.send.Store(nil)
					e, ok := errors.AsType[*mcpclient.Error](err)
					if !ok || e.Kind != tc.kind || e.ErrorType() != tc.typ {
						t.Fatalf("want kind %s, error.type %s, got %v", tc.kind, tc.typ, err)
					}
					if got := mcpclient.SafeToRetry(fmt.Errorf("wrapped: %w", err)); got != tc.safe {
						t.Errorf("want safe to retry %v, got %v: %v", tc.safe, got, err)
					}
				})
		})
	}
	if mcpclient.SafeToRetry(nil) || mcpclient.SafeToRetry(errors.New("another")) {
		t.Error("errors of other packages: want SafeToRetry false")
	}
}

func TestAnswerTakesPrecedenceOverAnEndedContext(t *testing.T) {
	for range 10 { // the answer and the end of the context both exist, and the client may see either first
		ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			release := make(chan struct{})
			var got struct {
				N int `json:"n"`
			}
			done := background(func() error {
				return c.Call(ctx, "call", nil, &got, mcpclient.WithProgress(func(*mcp.ProgressParams) { <-release }))
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
			v.Answer(v.Expect("next"), `{}`) // the server gets no cancellation before this request
			if err := <-next; err != nil {
				t.Error(err)
			}
		})
	}
}
