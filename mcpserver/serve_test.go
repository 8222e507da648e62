package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	pingRequest = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`
)

func callOf(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool,
		arguments)
}

// withTool returns a server with one tool.
func withTool(t *testing.T, o mcpserver.Options, name string, h mcpserver.ToolHandler) *mcpserver.Server {
	t.Helper()
	if o.Telemetry == nil {
		o.Telemetry = checked(t)
	}
	s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &o)
	if err := s.AddTool(&mcp.Tool{Name: name}, h); err != nil {
		t.Fatal(err)
	}
	return s
}

// opened serves a connection and opens a legacy session on it.
func opened(t *testing.T, ctx context.Context, s *mcpserver.Server) *wire {
	t.Helper()
	w := serve(t, ctx, s)
	w.send(initialize, initialized)
	w.taken()
	return w
}

func TestCancellationReachesTheHandlerWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		s := withTool(t, mcpserver.Options{}, "wait",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				cause = context.Cause(ctx)
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "wait", "{}"))
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}`)
		if cause == nil || cause.Error() != "cancelled by the client: bored" {
			t.Errorf("the cause of the handler's context is %v, want the client's reason", cause)
		}
		if out := w.taken(); len(out) > 0 {
			t.Errorf("a cancelled request was answered: %q", out)
		}
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
	})
}

func TestCancellationReachesHandlerOfBlockedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 2}}, "wait",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				if string(r.Arguments) == `{"now":true}` {
					return nil, nil
				}
				<-ctx.Done()
				ended++
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		release := w.block()
		w.send(callOf(1, "wait", `{"now":true}`), callOf(2, "wait", "{}"), callOf(3, "wait", "{}"))
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if ended != 1 {
			t.Errorf("%d handlers ended, want the cancelled one, though an answer waits to be sent", ended)
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		release()
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
		if out := w.taken(); len(out) != 1 || decoded(t, out[0]).ID != 1.0 {
			t.Errorf("the server sent %q, want the one answer that was not cancelled", out)
		}
	})
}

func TestConcurrentHandlersAreLimitedAndAllAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 8, Queued: 100}}, "work",
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		for id := range 100 {
			w.in <- received{frame: []byte(callOf(id+1, "work", "{}"))}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		ids := map[any]int{}
		for _, frame := range w.taken() {
			ids[decoded(t, frame).ID]++
		}
		if len(ids) != 100 || most != 8 {
			t.Errorf("%d requests answered by up to %d at once, want 100 by 8", len(ids), most)
		}
		for id, n := range ids {
			if n != 1 {
				t.Errorf("request %v got %d answers, want 1", id, n)
			}
		}
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
	})
}

// Each request has 700 bytes. Five of them fit into the budget of four frames of 1,000 bytes.
func TestRunningAndQueuedRequestsShareByteBudget(t *testing.T) {
	for _, running := range []int{1, 3, 64} {
		t.Run(fmt.Sprintf("%d run", running), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := mcpserver.Options{Limits: mcpserver.Limits{Concurrent: running, Frame: 1000}}
				s := withTool(t, o, "work", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					select {
					case <-time.After(10 * time.Second):
					case <-ctx.Done():
					}
					return nil, nil
				})
				w := opened(t, t.Context(), s)
				large := `{"x":"` + strings.Repeat("x", 600) + `"}`
				refused := func(id int, want bool) {
					t.Helper()
					w.send(callOf(id, "work", large))
					results, busy := answered(t, w.taken())
					if results > 0 || (busy > 0) != want {
						t.Errorf("request %d: %d results, %d refusals, want it refused: %v", id, results, busy, want)
					}
				}
				for id := range 5 {
					refused(id+1, false)
				}
				refused(6, true)
				for _, id := range []int{1, 5} { // cancels a running request, and then a waiting one, unless all run
					w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
					refused(6+id, false) // there is room again
					refused(20+id, true)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if results, busy := answered(t, w.taken()); results != 5 || busy != 0 {
					t.Errorf("%d results and %d refusals at the end, want 5 and none", results, busy)
				}
				refused(30, false)
				if err := w.finish(); err != nil {
					t.Errorf("Serve returned %v, want nil", err)
				}
			})
		})
	}
}

func TestGoexitIsAnsweredAndReleasesPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1}}, "exit",
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				runtime.Goexit()
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		for id := range 3 {
			w.send(callOf(id+1, "exit", "{}"))
			if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
				t.Errorf("got %+v, want an internal error", m)
			}
		}
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
		why := errors.New("terminated")
		var value any
		s := withTool(t, mcpserver.Options{}, "wait",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				value = ctx.Value(key{})
				<-ctx.Done()
				return nil, ctx.Err()
			})
		w := opened(t, ctx, s)
		w.send(callOf(1, "wait", "{}"))
		cancel(why)
		if err := <-w.result; !errors.Is(err, why) {
			t.Errorf("Serve returned %v, want the cause of its context", err)
		}
		if value != "value" {
			t.Errorf("the handler's context has the value %v, want that of Serve's", value)
		}
		m := w.reply(t)
		if m.Error == nil || m.Error.Message != "the server is shutting down" {
			t.Errorf("got %+v, want an error that says the server is shutting down", m)
		}
	})
}

func TestServeReportsHandlersThatIgnoreTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		free := make(chan struct{})
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1}, DrainTimeout: -1,
			Telemetry: rec.Telemetry()}, "deaf",
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-free
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "deaf", "{}"), callOf(2, "deaf", "{}"))
		start := time.Now()
		err := w.finish()
		if err == nil || err.Error() != "handlers still running although their contexts have ended: 1" {
			t.Errorf("Serve returned %v, want that one handler runs on", err)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("Serve returned after %v, want a bound of a few seconds", took)
		}
		if n := rec.Count("mcp.server.operation.duration", "error.type", "connection_lost", "mcp.method.name",
			"tools/call"); n != 1 {
			t.Errorf("%d calls were given up, want the one that waited", n)
		}
		close(free)
		synctest.Wait()
	})
}

func TestQueuedRequestsDoNotStartAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []string
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1}, DrainTimeout: -1}, "wait",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				begun = append(begun, r.ID.String())
				<-ctx.Done()
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "wait", "{}"), callOf(2, "wait", "{}"))
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
		if !slices.Equal(begun, []string{"1"}) {
			t.Errorf("handlers of the requests %v were called, want that of 1 alone", begun)
		}
		out := w.taken()
		if len(out) != 2 || decoded(t, out[1]).Error == nil {
			t.Errorf("the server sent %q, want the answer to 1 and that 2 is refused", out)
		}
	})
}

func TestIdleConnectionHasFewGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{}))
		before := runtime.NumGoroutine()
		for id := range 60 {
			w.in <- received{frame: []byte(callOf(id+1, "sleep", `{"seconds":1}`))}
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if more := runtime.NumGoroutine() - before; more > 10 { // 4 remain, and goroutines of the runtime
			t.Errorf("%d goroutines are left of 60 calls, want a few", more)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeAbandonsUnreadResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{}))
		w.block()
		w.send(callOf(1, "greet", `{"name":"x"}`))
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil: the handler is done", err)
		}
	})
}

func TestBlockedClientDoesNotKeepReadLoopRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := opened(t, ctx, newServer(t, mcpserver.Options{}))
		w.block()
		w.send(pingRequest, "garbage")
		cancel()
		if err := <-w.result; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v, want the cause of its context", err)
		}
	})
}

func TestServeReturnsConnectionError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("line cut")
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{}))
		w.in <- received{err: fmt.Errorf("read: %w", broken)}
		if err := <-w.result; !errors.Is(err, broken) {
			t.Errorf("Serve returned %v, want %v", err, broken)
		}
	})
}

func TestFrameTooLargeIsAnsweredByItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{}))
		too := func(head, tail string) received {
			return received{err: &mcpserver.FrameTooLargeError{Size: 2000, Limit: 1000, Head: []byte(head), Tail: []byte(tail)}}
		}
		w.in <- too(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"na`, `x"}}`)
		w.in <- too(`{"jsonrpc":"2.0","method":"tools/call","params":{"na`, `x"},"id":"b"}`)
		w.in <- too(`{"jsonrpc":"2.0","method":"notifications/x","params":{"na`, `x"}}`)
		w.in <- too(`{"jsonrpc":"2.0","id":7,"result":{"na`, `x"}}`)
		w.in <- too(`[[[`, `]]]`)
		synctest.Wait()
		out := w.taken()
		want := []string{
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32600,` +
				`"message":"message breaks the protocol (frame_too_large): frame of 2000 bytes is above the limit of 1000"}}`,
			`{"jsonrpc":"2.0","id":"b","error":{"code":-32600,` +
				`"message":"message breaks the protocol (frame_too_large): frame of 2000 bytes is above the limit of 1000"}}`,
		}
		if !slices.Equal(out, want) {
			t.Errorf("the server sent %q, want %q", out, want)
		}
		w.send(pingRequest)
		if m := w.reply(t); m.ID != "ping" {
			t.Errorf("after that, ping got %+v, want its answer", m)
		}
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
	})
}

// The synctest bubble ends only when all its goroutines have ended.
func TestServeLeavesNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{})
		for range 10 {
			w := opened(t, t.Context(), s)
			for id := range 20 {
				w.send(callOf(id+1, "sleep", `{"seconds":0.5}`))
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
			if n := len(w.taken()); n != 20 {
				t.Fatalf("%d answers, want 20: handlers may finish when the client has sent its last message", n)
			}
		}
	})
}

func TestListChangesShareOneNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{})
		ready, unconfirmed, modern := serve(t, t.Context(), s), serve(t, t.Context(), s), serve(t, t.Context(), s)
		ready.send(initialize, initialized)
		unconfirmed.send(initialize)
		all := []*wire{ready, unconfirmed, modern}
		for _, w := range all {
			w.taken()
		}
		for i := range 5 {
			name := fmt.Sprintf("extra%d", i)
			if err := s.AddTool(&mcp.Tool{Name: name}, echo); err != nil {
				t.Fatal(err)
			}
			s.RemoveTools(name)
		}
		s.RemoveTools("nobody")
		time.Sleep(time.Second)
		if out := ready.taken(); !slices.Equal(out,
			[]string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`}) {
			t.Errorf("the client with a session was sent %q, want one notification", out)
		}
		for _, w := range all[1:] {
			if out := w.taken(); len(out) > 0 {
				t.Errorf("a client without a confirmed session was sent %q, want nothing", out)
			}
		}

		release := ready.block()
		s.RemoveTools("add")
		time.Sleep(time.Second)
		s.RemoveTools("split")
		time.Sleep(time.Second)
		s.RemoveTools("greet")
		time.Sleep(time.Second)
		release()
		synctest.Wait()
		if out := ready.taken(); len(out) != 2 {
			t.Errorf("a client that took nothing for a while was sent %q, want the notification that waited and one for the "+
				"rest", out)
		}
		for _, w := range all {
			if err := w.finish(); err != nil {
				t.Errorf("Serve returned %v, want nil", err)
			}
		}
	})
}

func TestUndeclaredToolsCauseNoListChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &mcpserver.Options{Telemetry: checked(t)})
		w := serve(t, t.Context(), s)
		w.send(initialize)
		if m := w.reply(t); strings.Contains(string(m.Result), `"tools"`) {
			t.Errorf("a server without tools declares %s", m.Result)
		}
		w.send(initialized, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
			t.Errorf("tools/list of a server without tools got %+v, want method not found", m)
		}
		if err := s.AddTool(&mcp.Tool{Name: "late"}, echo); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if out := w.taken(); len(out) > 0 {
			t.Errorf("the client was sent %q, which it was not told to expect", out)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeReturnsCloseError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{})
		if err := s.Serve(t.Context(), badCloser{}); err == nil || err.Error() != "close: no" {
			t.Errorf("Serve returned %v, want the error of Close", err)
		}
	})
}

type badCloser struct{}

func (badCloser) Send(context.Context, []byte) error      { return nil }
func (badCloser) Receive(context.Context) ([]byte, error) { return nil, io.EOF }
func (badCloser) Close() error                            { return errors.New("no") }
