package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// turning is a tool. For a call with arguments, it calls a function that the test sets; otherwise it does nothing.
type turning struct {
	then func(ctx context.Context) (*mcp.CallToolResult, error)
}

func (h *turning) call(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Arguments == nil || string(r.Arguments) == "{}" {
		return nil, nil
	}
	return h.then(ctx)
}

const turn = `{"turn":true}`

// later advances the clock and then sends frames. While the clock stands still, the reading goroutine runs no tool.
func (w *wire) later(frames ...string) {
	time.Sleep(time.Nanosecond)
	w.send(frames...)
}

// practise calls the tool until the reading goroutine itself runs the tool.
func (w *wire) practise(t *testing.T, runs int) {
	t.Helper()
	for id := range runs {
		w.later(callOf(1000+id, "tool", "{}"))
	}
	if n := len(w.taken()); n != runs {
		t.Fatalf("%d answers to %d calls", n, runs)
	}
}

// read reports whether the server reads the messages of the client.
func (w *wire) read(t *testing.T) bool {
	t.Helper()
	w.send(pingRequest)
	out := strings.Join(w.taken(), "\n")
	if out != "" && out != `{"jsonrpc":"2.0","id":"ping","result":{}}` {
		t.Errorf("the server sent %s, want the answer to a ping or nothing", out)
	}
	return out != ""
}

// quick serves a client whose tool runs in the reading goroutine. If a call of the tool has arguments, the tool calls
// the function then.
func quick(t *testing.T, ctx context.Context, o mcpserver.Options,
	then func(ctx context.Context) (*mcp.CallToolResult, error)) *wire {
	t.Helper()
	w := serve(t, ctx, withTool(t, o, "tool", (&turning{then}).call))
	w.send(initializeAble, initialized)
	w.taken()
	w.practise(t, mcpserver.FirstTrust)
	return w
}

// wait is a tool that runs until its context ends.
func wait(ctx context.Context) (*mcp.CallToolResult, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestSlowRunOfQuickToolBlocksReadingOnlyBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		w := quick(t, t.Context(), mcpserver.Options{}, func(context.Context) (*mcp.CallToolResult, error) {
			<-free
			return nil, nil
		})
		w.later(callOf(1, "tool", turn))
		if w.read(t) {
			t.Fatal("somebody reads, want the goroutine that reads to run the tool")
		}
		time.Sleep(mcpserver.Patience - 1)
		synctest.Wait()
		w.expect(t)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		w.expect(t, `{"jsonrpc":"2.0","id":"ping","result":{}}`)
		w.later(callOf(2, "tool", turn))
		if !w.read(t) {
			t.Error("nobody reads while the tool runs that has kept others waiting, want that it runs elsewhere")
		}
		close(free)
		synctest.Wait()
		if n := len(w.taken()); n != 2 {
			t.Errorf("%d answers of the tool, want 2", n)
		}
		free = make(chan struct{})
		w.practise(t, 200) // more runs than needed
		w.later(callOf(3, "tool", turn))
		if w.read(t) {
			t.Error("somebody reads, want the tool to have earned trust again")
		}
		time.Sleep(mcpserver.Patience)
		close(free)
		synctest.Wait()
		if n := len(w.taken()); n != 2 {
			t.Errorf("%d answers, want those to the ping and of the tool", n)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestToolNotProvenQuickRunsInAnotherGoroutine(t *testing.T) {
	for name, tt := range map[string]struct {
		runs  int
		pause time.Duration
		busy  time.Duration // duration of each run
	}{
		"before it has proved quick": {runs: mcpserver.FirstTrust - 1},
		"after a pause":              {runs: mcpserver.FirstTrust, pause: 300 * time.Microsecond},
		"that takes too long":        {runs: 200, busy: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := opened(t, t.Context(), withTool(t, mcpserver.Options{}, "tool",
					func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						if string(r.Arguments) == turn {
							return wait(ctx)
						}
						time.Sleep(tt.busy)
						return nil, nil
					}))
				for id := range tt.runs {
					w.later(callOf(1000+id, "tool", "{}"))
					time.Sleep(tt.busy)
				}
				w.send(requestOf(1, "tools/list", "{}"))
				w.taken()
				time.Sleep(tt.pause)
				w.later(callOf(1, "tool", turn))
				if !w.read(t) {
					t.Error("nobody reads while the tool runs")
				}
				if err := w.finish(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestStreamDetectsPendingInput(t *testing.T) {
	for _, more := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := withTool(t, mcpserver.Options{}, "tool",
				func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					if string(r.Arguments) == turn {
						time.Sleep(time.Second)
					}
					time.Sleep(20 * time.Microsecond)
					return nil, nil
				})
			in, out, result := piped(t, t.Context(), s, 0)
			say := func(lines string, answers int) {
				t.Helper()
				go io.WriteString(in, lines)
				for range answers {
					if !out.Scan() {
						t.Fatal("the server has ended")
					}
				}
			}
			say(initialize+"\n"+initialized+"\n", 1)
			for range mcpserver.FirstTrust {
				say(callOf(1, "tool", "{}")+"\n", 1)
			}
			start := time.Now()
			if more {
				say(callOf(1, "tool", turn)+"\n"+pingRequest+"\n", 1)
			} else {
				say(callOf(1, "tool", turn)+"\n", 0)
				synctest.Wait()
				say(pingRequest+"\n", 1)
			}
			if waited := time.Since(start); (waited == 0) != more {
				t.Errorf("more %v: a ping was answered after %v, want that a tool which takes 20 µs is run here unless more is "+
					"waiting", more, waited)
			}
			say("", 1)
			in.Close()
			if err := <-result; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServerRequestOfQuickToolDoesNotBlockReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quick(t, t.Context(), mcpserver.Options{},
			func(ctx context.Context) (*mcp.CallToolResult, error) { return rootsTool(ctx, nil) })
		start := time.Now()
		for id := 1; id < 4; id++ {
			w.later(callOf(id, "tool", turn))
			w.expect(t, fmt.Sprintf(rootsAsked, id))
			w.send(fmt.Sprintf(noRoots, id))
			w.expect(t, fmt.Sprintf(rootsAnswer, id, "0 roots"))
		}
		if d := time.Since(start); d >= time.Microsecond {
			t.Errorf("it took %v, want that nobody waits for the watch", d)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestPanicOrExitOfQuickToolEndsOnlyItsCall(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("secret") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				w := quick(t, t.Context(), mcpserver.Options{Telemetry: rec.Telemetry()},
					func(context.Context) (*mcp.CallToolResult, error) {
						end()
						return nil, nil
					})
				for range 3 {
					w.later(callOf(1, "tool", turn))
					if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
						t.Errorf("got %+v, want an internal error", m)
					}
				}
				w.practise(t, 10)
				if err := w.finish(); err != nil {
					t.Error(err)
				}
				if n := rec.Value("mcp_server.handler.panics"); n != 3 {
					t.Errorf("%d panics counted, want 3", n)
				}
			})
		})
	}
}

func TestBlockedQuickToolCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		w := quick(t, t.Context(), mcpserver.Options{}, func(ctx context.Context) (*mcp.CallToolResult, error) {
			_, cause = wait(ctx)
			return nil, cause
		})
		w.later(callOf(1, "tool", turn))
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}`)
		time.Sleep(mcpserver.Patience)
		synctest.Wait()
		if cause == nil || cause.Error() != "cancelled by the client: bored" {
			t.Errorf("the cause of the handler's context is %v, want the client's reason", cause)
		}
		w.expect(t)
		w.practise(t, 10)
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeEndsWhileAQuickToolRuns(t *testing.T) {
	why := errors.New("why")
	for name, tt := range map[string]struct {
		then func(context.Context) (*mcp.CallToolResult, error)
		end  func(w *wire, cancel context.CancelCauseFunc)
		want string
		took time.Duration
	}{
		"the client has disconnected": {
			then: wait,
			end:  func(w *wire, _ context.CancelCauseFunc) { close(w.in) },
			want: "<nil>",
			took: time.Second + mcpserver.Patience,
		},
		"the context ends": {
			then: wait,
			end:  func(_ *wire, cancel context.CancelCauseFunc) { cancel(why) },
			want: "why",
		},
		"the handler ignores its context": {
			then: func(context.Context) (*mcp.CallToolResult, error) {
				time.Sleep(time.Minute)
				return nil, nil
			},
			end:  func(_ *wire, cancel context.CancelCauseFunc) { cancel(why) },
			want: "why\nhandlers still running although their contexts have ended: 1",
			took: 2*time.Second + mcpserver.Patience,
		},
		"the client does not read": {
			then: func(context.Context) (*mcp.CallToolResult, error) { return nil, nil },
			end: func(w *wire, cancel context.CancelCauseFunc) {
				w.block()
				w.later(callOf(2, "tool", "{}"))
				cancel(why)
			},
			want: "why",
			took: time.Second + mcpserver.Patience + 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				w := quick(t, ctx, mcpserver.Options{}, tt.then)
				w.later(callOf(1, "tool", turn))
				start := time.Now()
				tt.end(w, cancel)
				if err := fmt.Sprint(<-w.result); err != tt.want {
					t.Errorf("Serve returned %s, want %s", err, tt.want)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				cancel(nil)
				time.Sleep(time.Hour) // until the handler that ignores its context has ended
			})
		})
	}
}

func TestQuickToolRespectsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quick(t, t.Context(), mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1, Queued: 1}},
			func(context.Context) (*mcp.CallToolResult, error) {
				time.Sleep(time.Second)
				return nil, nil
			})
		w.later(callOf(1, "tool", turn))
		w.later(callOf(2, "tool", "{}"), callOf(3, "tool", "{}"), callOf(1, "tool", "{}"))
		time.Sleep(mcpserver.Patience)
		synctest.Wait()
		w.expect(t, `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"too many requests at once"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with this id is still being answered"}}`)
		time.Sleep(time.Second)
		synctest.Wait()
		w.expect(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestReadingContinuesDuringBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, t.Context(), withTool(t, mcpserver.Options{}, "tool", (&turning{wait}).call))
		w.send(initializeAs("2025-03-26"), initialized)
		w.taken()
		w.practise(t, mcpserver.FirstTrust)
		w.send("[" + callOf(1, "tool", turn) + "," + callOf(2, "tool", "{}") + "]")
		if !w.read(t) {
			t.Error("nobody reads while a request of a batch is handled")
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if m := w.taken(); len(m) != 1 || m[0] != `[{"jsonrpc":"2.0","id":2,"result":{"content":[]}}]` {
			t.Errorf("the server sent %q, want the answer to the batch", m)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

// leavingConn ends the goroutine that calls Receive.
type leavingConn struct{ *wire }

func (c leavingConn) Receive(context.Context) ([]byte, error) {
	runtime.Goexit()
	return nil, nil
}

func TestServeReturnsIfReceiveExitsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, mcpserver.Options{})
		wantError(t, s.Serve(t.Context(), leavingConn{&wire{done: make(chan struct{})}}),
			"receive called runtime.Goexit")
	})
}

// broken is a connection whose methods panic.
type broken struct{}

func (broken) Send(context.Context, []byte) error      { return nil }
func (broken) Receive(context.Context) ([]byte, error) { panic("the connection is broken") }
func (broken) Close() error                            { return nil }

func TestServeCallerCanRecoverConnectionPanic(t *testing.T) {
	defer func() {
		if what := fmt.Sprint(recover()); !strings.Contains(what, "the connection is broken") ||
			!strings.Contains(what, "broken.Receive") {
			t.Errorf("recovered %.200s, want the panic and where it was", what)
		}
	}()
	err := mcpserver.New(mcp.Implementation{Name: "t", Version: "1"}, nil).Serve(t.Context(), broken{})
	t.Errorf("Serve returned %v, want it to panic", err)
}
