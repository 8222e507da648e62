package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// middleware is one of [mcpserver.Options.Middleware].
type middleware = func(next mcpserver.RequestHandler) mcpserver.RequestHandler

// around returns middleware that calls f with the next handler.
func around(f func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error)) middleware {
	return func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(ctx context.Context, r *mcpserver.Request) (any, error) { return f(ctx, r, next) }
	}
}

func TestMiddlewareWrapsEveryRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		noting := func(name string) middleware {
			return around(func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
				log = append(log, name+" "+r.Method)
				defer func() { log = append(log, name+" done") }()
				return next(ctx, r)
			})
		}
		s := newServer(t, mcpserver.Options{Middleware: []middleware{noting("outer"), noting("inner")}})
		w := serve(t, t.Context(), s)
		var want []string
		for method, params := range map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`,
		} {
			w.send(requestOf(1, method, params))
			want = append(want, "outer "+method, "inner "+method, "inner done", "outer done")
		}
		for _, method := range []string{"ping", "tools/list", "example.com/who"} {
			w.send(requestOf(1, method, `{}`))
			want = append(want, "outer "+method, "inner "+method, "inner done", "outer done")
		}
		if out := w.taken(); len(out) != 4 || strings.Contains(strings.Join(out, ""), "error") {
			t.Errorf("the server sent %q, want four results", out)
		}
		w.send(requestOf(1, "no/such", `{}`))
		w.taken()
		if !slices.Equal(log, want) {
			t.Errorf("the middleware saw %q, want %q", log, want)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

// unencodable panics in its encoding.
type unencodable struct{}

func (unencodable) MarshalJSON() ([]byte, error) { panic("secret") }

func TestMiddlewareMayAnswerRequest(t *testing.T) {
	type note struct {
		Text string `json:"text"`
	}
	tests := map[string]struct {
		f    func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error)
		want string
	}{
		"a result of its own": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) {
			return note{"mine"}, nil
		}, `{"text":"mine"}`},
		"nothing": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) { return nil, nil },
			`{}`},
		"raw JSON": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) {
			return json.RawMessage(`{"x":1}`), nil
		}, `{"x":1}`},
		"an error": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) {
			return nil, &mcp.Error{Code: -5, Message: "not today"}
		}, "not today"},
		"an error of the program": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) {
			return nil, errors.New("secret")
		}, "internal error"},
		"a panic": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) { panic("secret") },
			"internal error"},
		"a panic, encoded": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) {
			return unencodable{}, nil
		}, "internal error"},
		"a number": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) { return 7, nil },
			"internal error"},
		"the end of its goroutine": {func(context.Context, *mcpserver.Request, mcpserver.RequestHandler) (any, error) {
			runtime.Goexit()
			return nil, nil
		}, "internal error"},
		"another request": {func(ctx context.Context, _ *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
			return next(ctx, &mcpserver.Request{})
		}, "internal error"},
		"no request": {func(ctx context.Context, _ *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
			return next(ctx, nil)
		}, "internal error"},
		"a changed result": {func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
			result, err := next(ctx, r)
			if called, ok := result.(*mcp.CallToolResult); ok {
				return &mcp.CallToolResult{Content: append(called.Content, mcp.Text("and this"))}, err
			}
			return result, err
		}, `{"content":[{"type":"text","text":"Hello, x!"},{"type":"text","text":"and this"}]}`},
		"a value in the context": {func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any,
			error) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := next(ctx, r); err != nil {
				return nil, err
			}
			return note{"fine"}, nil
		}, `{"text":"fine"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				only := around(func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
					if r.Method != mcp.MethodCallTool {
						return next(ctx, r)
					}
					return tt.f(ctx, r, next)
				})
				w := opened(t, t.Context(), newServer(t,
					mcpserver.Options{Middleware: []middleware{only}}))
				w.send(callOf(1, "greet", `{"name":"x"}`))
				m := w.reply(t)
				got := string(m.Result)
				if m.Error != nil {
					got = m.Error.Message
				}
				if got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				if err := w.finish(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestSubscriptionSurvivesFailingMiddleware(t *testing.T) {
	for name, spoil := range map[string]func(context.Context) (any, error){
		"result": func(context.Context) (any, error) { return map[string]int{"x": 1}, nil },
		"error":  func(context.Context) (any, error) { return nil, errors.New("no") },
		"panic":  func(context.Context) (any, error) { panic("secret") },
		"exit":   func(context.Context) (any, error) { runtime.Goexit(); return nil, nil },
		"late":   func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			spoiling := around(func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
				if _, err := next(ctx, r); err != nil {
					t.Error(err)
				}
				return spoil(ctx)
			})
			w := serve(t, t.Context(), newServer(t,
				mcpserver.Options{Middleware: []middleware{spoiling}}))
			w.send(listenFor(1, toolsFilter))
			if out := w.taken(); len(out) != 1 || decoded(t, out[0]).Method != mcp.NotificationSubscriptionsAcknowledged {
				t.Errorf("%s: the subscription got %q, want that it is acknowledged and stands", name, out)
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
			if out := w.taken(); len(out) != 2 || decoded(t, out[0]).Method != mcp.NotificationCancelled ||
				decoded(t, out[1]).Result == nil {
				t.Errorf("%s: at its end the subscription got %q, want its cancellation and one result", name, out)
			}
		})
	}
}

func TestMiddlewareMaySendServerRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		confirm := around(func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
			if _, err := r.ListRoots(ctx); err != nil {
				return nil, err
			}
			return next(ctx, r)
		})
		s := withTool(t, mcpserver.Options{Middleware: []middleware{confirm}},
			"tool", rootsTool)
		c := callerOf(t, s, "tool")
		first := c.needs("")
		if _, ok := first.InputRequests["roots"]; !ok || len(first.InputRequests) != 1 {
			t.Errorf("the client is asked for %v, want roots", first.InputRequests)
		}
		second := c.needs(`"inputResponses":{"roots":{"roots":[]}},"requestState":"` + *first.RequestState + `"`)
		if _, ok := second.InputRequests["roots-2"]; !ok || len(second.InputRequests) != 1 {
			t.Errorf("then the client is asked for %v, want what the handler asks", second.InputRequests)
		}
		c.tells(`"inputResponses":{"roots-2":{"roots":[{"uri":"file:///a"}]}},"requestState":"`+*second.RequestState+`"`,
			"1 roots")
		must(t, c.w.finish())
	})
}

func TestRepeatedHandlerReusesInputResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := around(func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
			if result, err := next(ctx, r); err == nil {
				return result, nil
			}
			return next(ctx, r)
		})
		failed := false
		s := withTool(t, mcpserver.Options{Middleware: []middleware{again}},
			"tool", func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				result, err := rootsTool(ctx, r)
				if err == nil && !failed {
					failed = true
					return nil, &mcp.Error{Code: 1, Message: "for now"}
				}
				return result, err
			})
		c := callerOf(t, s, "tool")
		first := c.needs("")
		c.tells(`"inputResponses":{"roots":{"roots":[{"uri":"file:///a"}]}},"requestState":"`+*first.RequestState+`"`,
			"1 roots")
		if !failed {
			t.Error("the handler was not called again")
		}
		must(t, c.w.finish())
	})
}

// Middleware may also decode the arguments of a tool into types of package mcp. Such decoding unescapes strings in
// place, so it needs a copy.
func TestArgumentDecodingDoesNotChangeRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const params = `{"name":"relay","arguments":{"name":"a\n\"b\"","arguments":{}}}`
		var before, after, decoded string
		looking := around(func(ctx context.Context, r *mcpserver.Request, next mcpserver.RequestHandler) (any, error) {
			before = string(r.Params)
			defer func() { after = string(r.Params) }()
			return next(ctx, r)
		})
		s := newServer(t, mcpserver.Options{Middleware: []middleware{looking}})
		relay := &mcp.Tool{Name: "relay", InputSchema: json.RawMessage(`{"type":"object"}`)}
		err := mcpserver.AddTool(s, relay, func(_ context.Context, in mcp.CallToolParams) (string, error) {
			decoded = in.Name
			return "", nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w := opened(t, t.Context(), s)
		w.send(requestOf(1, mcp.MethodCallTool, params))
		if out := w.taken(); decoded != "a\n\"b\"" {
			t.Errorf("the tool was called with %q, want its escapes decoded; the answer is %q", decoded, out)
		}
		if before != params || after != before {
			t.Errorf("the params were %s, and behind the tool they are %s, want them as they came", before, after)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}
