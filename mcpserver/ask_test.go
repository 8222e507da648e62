package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// initializeAble is the initialize request of a client with all capabilities.
var initializeAble = strings.Replace(initialize, `"capabilities":{}`,
	`"capabilities":{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`, 1)

func initializeAbleAs(version string) string {
	return strings.Replace(initializeAble, "2025-11-25", version, 1)
}

// openedAble serves a connection with an open session of a client with all capabilities.
func openedAble(t *testing.T, s *mcpserver.Server, version string) *wire {
	t.Helper()
	w := serve(t, t.Context(), s)
	w.send(initializeAbleAs(version), initialized)
	w.taken()
	return w
}

// rootsTool requests the client's roots and returns the outcome as text.
func rootsTool(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
	if err != nil {
		return nil, err
	}
	return toldBy("%d roots", len(roots))
}

const (
	noRoots     = `{"jsonrpc":"2.0","id":%d,"result":{"roots":[]}}`
	rootsAsked  = `{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`
	rootsAnswer = `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`
)

// expect checks the messages that the server has sent since the previous call.
func (w *wire) expect(t *testing.T, want ...string) {
	t.Helper()
	got := w.taken()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestServerRequestTakesOneResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry(), Limits: mcpserver.Limits{Concurrent: 2, Queued: -1}},
			"roots", rootsTool)
		w := openedAble(t, s, "2025-11-25")
		w.send(callOf(7, "roots", "{}"))
		first := w.taken()
		if len(first) != 1 || decoded(t, first[0]).Method != "roots/list" || decoded(t, first[0]).ID != 1.0 ||
			!strings.Contains(first[0], `"traceparent":"00-`) {
			t.Fatalf("the server sent %q, want roots/list with id 1 and the context of its span", first)
		}
		w.send(callOf(8, "roots", "{}"))
		if second := w.reply(t); second.Method != "roots/list" || second.ID != 2.0 {
			t.Errorf("the server sent %+v, want roots/list with id 2", second)
		}
		w.send(`{"jsonrpc":"2.0","id":"1","result":{"roots":[]}}`, fmt.Sprintf(noRoots, 3), fmt.Sprintf(noRoots, 0),
			fmt.Sprintf(noRoots, -1))
		w.expect(t)
		w.send(`{"jsonrpc":"2.0","id":2,"result":{"roots":[{"uri":"file:///a"}]}}`)
		w.expect(t, fmt.Sprintf(rootsAnswer, 8, "1 roots"))
		w.send(fmt.Sprintf(noRoots, 1), fmt.Sprintf(noRoots, 1), fmt.Sprintf(noRoots, 2))
		w.expect(t, fmt.Sprintf(rootsAnswer, 7, "0 roots"))
		w.send(callOf(9, "roots", "{}"))
		if third := w.reply(t); third.ID != 3.0 {
			t.Errorf("the id is %v, want one that was never used", third.ID)
		}
		w.send(fmt.Sprintf(noRoots, 3))
		w.expect(t, fmt.Sprintf(rootsAnswer, 9, "0 roots"))
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		if n := rec.Value("mcp_server.response.drops"); n != 6 {
			t.Errorf("%d responses dropped, want 6, for which no handler waited", n)
		}
	})
}

func TestHandlerGetsResponseWhenRequestBudgetIsExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: 1000}}, "roots", rootsTool)
		w := openedAble(t, s, "2025-11-25")
		large := `{"x":"` + strings.Repeat("x", 600) + `"}`
		for id := range 5 {
			w.send(callOf(id+1, "roots", large))
		}
		asked := w.taken()
		w.send(callOf(6, "roots", large))
		if _, busy := answered(t, w.taken()); len(asked) != 5 || busy != 1 {
			t.Fatalf("%d requests to the client and %d refusals, want 5 and the sixth refused", len(asked), busy)
		}
		for _, frame := range asked {
			w.send(fmt.Sprintf(noRoots, int(decoded(t, frame).ID.(float64))))
		}
		if results, busy := answered(t, w.taken()); results != 5 || busy != 0 {
			t.Errorf("%d results and %d refusals, want 5 results", results, busy)
		}
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
	})
}

func TestServerRequestSpanIsChildOfHandlerSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := openedAble(t, withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "roots", rootsTool), "2025-11-25")
		w.send(callOf(7, "roots", "{}"))
		frame := w.taken()[0]
		time.Sleep(3 * time.Second)
		answer := `{"jsonrpc":"2.0","id":1,"error":{"code":-7,"message":"no"}}`
		w.send(answer)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		handler, ask := rec.Span("tools/call roots"), rec.Span("roots/list")
		if ask.SpanKind() != trace.SpanKindClient || ask.Parent().SpanID() != handler.SpanContext().SpanID() {
			t.Errorf("the span is %v under %v, want a client's under %v", ask.SpanKind(), ask.Parent().SpanID(),
				handler.SpanContext().SpanID())
		}
		if id := ask.SpanContext().SpanID().String(); !strings.Contains(frame, id) {
			t.Errorf("the request is %s, want the span %s in its _meta", frame, id)
		}
		if ask.Status().Code != codes.Error {
			t.Errorf("status %v, want an error", ask.Status())
		}
		attrs := map[string]string{}
		for _, a := range ask.Attributes() {
			attrs[string(a.Key)] = a.Value.String()
		}
		for key, want := range map[string]string{
			"mcp.method.name": "roots/list", "jsonrpc.request.id": "1", "error.type": "-7", "mcp.protocol.version": "2025-11-25",
			"mcp_server.request.size": fmt.Sprint(len(frame)), "mcp_server.response.size": fmt.Sprint(len(answer)),
		} {
			if attrs[key] != want {
				t.Errorf("attribute %s is %q, want %q", key, attrs[key], want)
			}
		}
		if n := rec.Count("mcp.client.operation.duration", "mcp.method.name", "roots/list", "error.type", "-7"); n != 1 {
			t.Errorf("the duration was recorded %d times, want once", n)
		}
		if n := rec.Count("mcp_server.message.size", "mcp_server.direction", "received", "mcp_server.message.kind",
			"error"); n != 1 {
			t.Errorf("the size of the answer was recorded %d times, want once", n)
		}
	})
}

func TestAnAbandonedQuestionIsCancelledAtTheClient(t *testing.T) {
	const withdrawn = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` +
		`"reason":"no longer needed"}}`
	for _, tt := range []struct {
		name  string
		o     mcpserver.Options
		end   func(w *wire)
		want  []string
		after string // effect of an answer that arrives after end
	}{
		{"the handler times out", mcpserver.Options{RequestTimeout: time.Second},
			func(*wire) { time.Sleep(2 * time.Second) },
			[]string{withdrawn,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":%q}],"isError":true}}`,
					"time limit of the server exceeded: not finished within 1s")}, ""},
		{"the client cancels its call", mcpserver.Options{}, func(w *wire) {
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		}, []string{withdrawn}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openedAble(t, withTool(t, tt.o, "roots", rootsTool), "2025-11-25")
				w.send(callOf(7, "roots", "{}"))
				w.expect(t, fmt.Sprintf(rootsAsked, 1))
				tt.end(w)
				w.expect(t, tt.want...)
				w.send(fmt.Sprintf(noRoots, 1))
				w.expect(t)
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// The baggage of a request also applies to the requests and cancellations that the server sends while it handles the
// request.
func TestServerRequestsAndCancellationsCarryBaggage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := mcpserver.Options{RequestTimeout: time.Second,
			Telemetry: telemetry.New(telemetry.WithPropagators(propagation.Baggage{}))}
		w := openedAble(t, withTool(t, o, "roots", rootsTool), "2025-11-25")
		w.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"roots",` +
			`"_meta":{"baggage":"gen_ai.conversation.id=c-1"}}}`)
		time.Sleep(2 * time.Second)
		sent := w.taken()
		for _, method := range []string{"roots/list", "notifications/cancelled"} {
			if !slices.ContainsFunc(sent, func(frame string) bool {
				return strings.Contains(frame, `"method":"`+method+`"`) &&
					strings.Contains(frame, `"baggage":"gen_ai.conversation.id=c-1"`)
			}) {
				t.Errorf("the server sent %q, want %s with the conversation", sent, method)
			}
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestServerRequestFailsOnceItsCallIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 2)
		w := openedAble(t, withTool(t, mcpserver.Options{}, "roots",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				ctx = context.WithoutCancel(ctx)
				go func() {
					for range 2 {
						_, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
						failed <- err
					}
				}()
				time.Sleep(time.Second)
				return toldBy("done")
			}), "2025-11-25")
		w.send(callOf(7, "roots", "{}"))
		w.expect(t, fmt.Sprintf(rootsAsked, 1))
		time.Sleep(time.Second)
		for range 2 {
			if err := <-failed; !errors.Is(err, mcpserver.ErrAnswered) {
				t.Errorf("asking ended with %v, want %v", err, mcpserver.ErrAnswered)
			}
		}
		if out := w.taken(); len(out) != 2 ||
			!strings.Contains(out[0]+out[1], `"method":"notifications/cancelled","params":{"requestId":1`) {
			t.Errorf("the server sent %q, want the result and that the request is withdrawn", out)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConnectionEndFailsPendingServerRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed, later error
		begun := time.Now()
		s := withTool(t, mcpserver.Options{DrainTimeout: time.Hour}, "roots",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				_, failed = r.ListRoots(ctx)
				_, later = r.ListRoots(ctx)
				return nil, failed
			})
		w := openedAble(t, s, "2025-11-25")
		w.send(callOf(7, "roots", "{}"))
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{failed, later} {
			if err == nil || err.Error() != "roots/list: the connection has ended" {
				t.Errorf("asking failed with %v, want that the connection has ended", err)
			}
		}
		if d := time.Since(begun); d > time.Second {
			t.Errorf("the handler waited %v for an answer that could not come", d)
		}
	})
}

func TestInvalidResponseFailsHandler(t *testing.T) {
	for name, tt := range map[string]struct {
		answer, want string
	}{
		"wrong type": {`{"jsonrpc":"2.0","id":1,"result":{"roots":{}}}`,
			"roots/list: the client's answer: roots is not an array"},
		"missing member": {`{"jsonrpc":"2.0","id":1,"result":{}}`, "roots/list: the client's answer: roots is missing"},
		"broken JSON":    {`{"jsonrpc":"2.0","id":1,"result":{"roots":[tru]}}`, "roots/list: the client's answer is invalid"},
		"broken error": {`{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}`,
			"roots/list: the client's answer: "},
		"error": {`{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"m"}}`,
			"roots/list: the client answered: m (5)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openedAble(t, withTool(t, mcpserver.Options{}, "roots", rootsTool), "2025-11-25")
				w.send(callOf(7, "roots", "{}"))
				w.taken()
				w.send(tt.answer)
				var r mcp.CallToolResult
				if err := json.Unmarshal(w.reply(t).Result, &r); err != nil || !r.IsError || !strings.Contains(r.Text(), tt.want) {
					t.Errorf("the tool answered %q, %v, want %q", r.Text(), err, tt.want)
				}
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestOversizedResponseFailsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openedAble(t, withTool(t, mcpserver.Options{}, "roots", rootsTool), "2025-11-25")
		w.send(callOf(7, "roots", "{}"))
		w.taken()
		w.in <- received{err: &mcpserver.FrameTooLargeError{Size: 100, Limit: 10,
			Head: []byte(`{"jsonrpc":"2.0","id":1,"result":{"roo`), Tail: []byte(`]}}`)}}
		synctest.Wait()
		w.expect(t, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text",`+
			`"text":"roots/list: the client's answer is invalid"}],"isError":true}}`)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

// asker asks the client in places where the client cannot answer.
type asker struct {
	shelf
	failed []error
}

func (a *asker) ask(ctx context.Context) error {
	_, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
	a.failed = append(a.failed, err)
	return nil
}

func (a *asker) SetLevel(ctx context.Context, _ mcp.LoggingLevel) error  { return a.ask(ctx) }
func (a *asker) SubscribeResource(ctx context.Context, _ string) error   { return a.ask(ctx) }
func (a *asker) UnsubscribeResource(ctx context.Context, _ string) error { return a.ask(ctx) }

func TestServerRequestNeedsReachableClient(t *testing.T) {
	if _, err := mcpserver.RequestFrom(t.Context()).ListRoots(t.Context()); !errors.Is(err, mcpserver.ErrUnsupported) {
		t.Errorf("outside of a request asking failed with %v, want %v", err, mcpserver.ErrUnsupported)
	}
	const unreachable = "the server cannot send requests back"
	t.Run("batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := openedAble(t, withTool(t, mcpserver.Options{}, "roots", rootsTool), "2025-03-26")
			w.send("[" + callOf(1, "roots", "{}") + "]")
			if out := w.taken(); len(out) != 1 || !strings.Contains(out[0], unreachable) {
				t.Errorf("the server sent %q, want that it cannot ask", out)
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("HTTP without sessions", func(t *testing.T) {
		w := serveWeb(t, withTool(t, mcpserver.Options{}, "roots", rootsTool), &mcpserver.HTTPOptions{Stateless: true})
		if p := w.post(callOf(1, "roots", "{}"), "MCP-Protocol-Version", "2025-06-18"); !strings.Contains(p.body,
			unreachable) {
			t.Errorf("got %d: %s, want that it cannot ask", p.status, p.body)
		}
	})
	t.Run("HTTP without streams", func(t *testing.T) {
		w := serveWeb(t, withTool(t, mcpserver.Options{}, "roots", rootsTool), nil)
		session := w.openAble("2025-11-25")
		p := w.post(callOf(1, "roots", "{}"), "Mcp-Session-Id", session, "Accept", "application/json")
		if !strings.Contains(p.body, "it does not accept text/event-stream") {
			t.Errorf("got %d: %s, want that it cannot ask", p.status, p.body)
		}
	})
	t.Run("a request that blocks reading", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := new(asker)
			s := bare(t, mcpserver.Options{})
			must(t, s.Implement(h))
			w := openedAble(t, s, "2025-11-25")
			w.send(setLevel("error"), requestOf(1, "resources/subscribe", `{"uri":"file:///a"}`),
				requestOf(2, "resources/unsubscribe", `{"uri":"file:///a"}`), pingRequest)
			if out := w.taken(); len(out) != 4 {
				t.Errorf("the server sent %q, want four answers", out)
			}
			must(t, w.finish())
			if len(h.failed) != 3 {
				t.Errorf("the handler asked %d times, want 3", len(h.failed))
			}
			for i, err := range h.failed {
				if !errors.Is(err, mcpserver.ErrUnsupported) {
					t.Errorf("asking failed with %v the %d. time, want %v", err, i+1, mcpserver.ErrUnsupported)
				}
			}
		})
	})
	t.Run("a method without input requests", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var failed error
			s := newServer(t, mcpserver.Options{})
			if err := s.HandleRequest("completion/complete", func(ctx context.Context, _ *mcpserver.Request) (any, error) {
				_, failed = mcpserver.RequestFrom(ctx).ListRoots(ctx)
				return nil, mcpserver.RequestFrom(ctx).RequireInput(nil, "state")
			}); err != nil {
				t.Fatal(err)
			}
			w := serve(t, t.Context(), s)
			w.send(asked(1, "completion/complete", ableMetas, ""))
			if e := w.reply(t).Error; e == nil || e.Code != mcp.CodeInternalError ||
				!errors.Is(failed, mcpserver.ErrUnsupported) {
				t.Errorf("asking failed with %v and the answer is %v, want %v and -32603", failed, e, mcpserver.ErrUnsupported)
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// (specification 2025-11-25, basic/lifecycle, "Initialization")
func TestServerRequestsWaitForInitialized(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		if v.Era() == mcp.Modern {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			tool := func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				_, err := r.ListRoots(ctx)
				if !errors.Is(err, mcpserver.ErrUnsupported) {
					return rootsTool(ctx, r)
				}
				return toldBy("%v", err)
			}
			w := serve(t, t.Context(), withTool(t, mcpserver.Options{}, "roots", tool))
			w.send(initializeAbleAs(string(v)))
			w.taken()
			w.send(callOf(1, "roots", "{}"))
			w.expect(t, fmt.Sprintf(rootsAnswer, 1,
				"the client cannot be asked: it has not sent notifications/initialized yet"))
			w.send(initialized, callOf(2, "roots", "{}"))
			if m := w.reply(t); m.Method != mcp.MethodListRoots {
				t.Errorf("%s: then the server sent %+v, want %s", v, m, mcp.MethodListRoots)
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		})
	}
}
