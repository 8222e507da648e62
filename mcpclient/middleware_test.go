package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// noting returns middleware that records when a call begins and ends.
func noting(notes *[]string, name string) mcpclient.Middleware {
	return func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			*notes = append(*notes, name+" "+method)
			err := next(ctx, method, params, result, options...)
			if r, ok := result.(*mcp.CallToolResult); ok {
				method = r.Text()
			}
			*notes = append(*notes, name+" "+method)
			return err
		}
	}
}

func TestTheFirstMiddlewareIsOutermost(t *testing.T) {
	var notes []string
	o := &mcpclient.Options{Middleware: []mcpclient.Middleware{noting(&notes, "a"), noting(&notes, "b")}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(notes, ","), "a tools/call,b tools/call,b ok,a ok"; got != want {
			t.Errorf("noted %s, want %s", got, want)
		}
	})
}

func TestMiddlewareSeesCacheHitsButNotInputRounds(t *testing.T) {
	var notes []string
	o := confirming()
	o.Middleware = []mcpclient.Middleware{noting(&notes, "m")}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		v.asked(c, freshList(60_000, plainTool))
		kept(t, c)
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, ""))
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
		<-done
		if got, want := strings.Join(notes, ","), "m tools/list,m tools/list,m tools/list,m tools/list,m tools/call,m "+
			"ok"; got != want {
			t.Errorf("noted %s, want %s", got, want)
		}
	})
}

func TestMiddlewareMayChangeACall(t *testing.T) {
	refused := errors.New("not today")
	o := &mcpclient.Options{Middleware: []mcpclient.Middleware{func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			switch method {
			case "refused":
				return refused
			case "twice":
				if err := next(ctx, method, params, result, options...); err == nil {
					return errors.New("want the first call to fail")
				}
			case mcp.MethodListTools:
				params = &mcp.PageParams{Cursor: new("other")}
			}
			return next(ctx, method, params, result, append(options, mcpclient.WithMeta(mcp.Meta(`{"by":"us"}`)))...)
		}
	}}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		if err := c.Call(t.Context(), "refused", nil, nil); err != refused {
			t.Errorf("got %v, want the middleware's own error", err)
		}
		done := background(func() error { return c.Call(t.Context(), "twice", nil, nil, mcpclient.WithTimeout(time.Hour)) })
		v.Refuse(v.Expect("twice"), -32603, "no")
		second := v.Expect("twice")
		time.Sleep(time.Minute) // the caller's timeout applies
		v.Answer(second, `{"resultType":"complete"}`)
		if err := <-done; err != nil || !strings.Contains(second.Raw, `"by":"us"`) {
			t.Errorf("got %v for %s, want the second request with the middleware's option", err, second.Raw)
		}
		got := listing(t, c)
		f := v.Expect(mcp.MethodListTools)
		v.Answer(f, freshList(60_000, plainTool))
		if <-got; !strings.Contains(f.Raw, `"cursor":"other"`) {
			t.Errorf("sent %s, want the middleware's params", f.Raw)
		}
		kept(t, c) // the result is cached under the params that were sent
	})
}

func TestMiddlewarePassesEveryCallOption(t *testing.T) {
	var notes []string
	o := &mcpclient.Options{Middleware: []mcpclient.Middleware{noting(&notes, "m")}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var got []float64
		done := background(func() error {
			return c.Call(t.Context(), "x/y", nil, nil, mcpclient.WithMeta(mcp.Meta(`{"k":1}`)), mcpclient.WaitForReady(),
				mcpclient.WithProgress(func(p *mcp.ProgressParams) { got = append(got, p.Progress) }))
		})
		f := v.Expect("x/y")
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":7}}`,
			f.ID))
		v.Answer(f, `{"resultType":"complete"}`)
		if err := <-done; err != nil || fmt.Sprint(got) != "[7]" || !strings.Contains(f.Raw, `"k":1`) {
			t.Errorf("got %v with progress %v for %s", err, got, f.Raw)
		}
	})
}

func TestMiddlewarePanicReachesTheCaller(t *testing.T) {
	o := &mcpclient.Options{Middleware: []mcpclient.Middleware{func(mcpclient.CallFunc) mcpclient.CallFunc {
		return func(context.Context, string, any, any, ...mcpclient.CallOption) error { panic("boo") }
	}}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		defer func() {
			if got := recover(); got != "boo" {
				t.Errorf("recovered %v, want the panic", got)
			}
		}()
		_ = c.Call(t.Context(), "x/y", nil, nil)
	})
}

func TestNilMiddlewareIsRefused(t *testing.T) {
	type wrapper = func(mcpclient.RequestHandler) mcpclient.RequestHandler
	none := func(mcpclient.CallFunc) mcpclient.CallFunc { return nil }
	for want, o := range map[string]*mcpclient.Options{
		"Middleware[1] is nil or returned nil":        {Middleware: []mcpclient.Middleware{noting(new([]string), "m"), nil}},
		"Middleware[0] is nil or returned nil":        {Middleware: []mcpclient.Middleware{none}},
		"HandlerMiddleware[0] is nil or returned nil": {HandlerMiddleware: []wrapper{nil}},
	} {
		if _, err := mcpclient.New(newScript(t), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// handlerNotes returns options of a client whose handlers are wrapped in two middlewares.
func handlerNotes(notes *[]string) *mcpclient.Options {
	o := confirming()
	for _, name := range []string{"a", "b"} {
		o.HandlerMiddleware = append(o.HandlerMiddleware, func(next mcpclient.RequestHandler) mcpclient.RequestHandler {
			return func(ctx context.Context, r *mcpclient.Request) (any, error) {
				*notes = append(*notes, name+" "+r.Method)
				result, err := next(ctx, r)
				*notes = append(*notes, fmt.Sprintf("%s %T", name, result))
				return result, err
			}
		})
	}
	return o
}

func TestHandlerMiddlewareWrapsRequestsOfBothEras(t *testing.T) {
	const want = "a elicitation/create,b elicitation/create,b *mcp.ElicitResult,a *mcp.ElicitResult"
	var notes []string
	ready(t, handlerNotes(&notes), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, ""))
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
		<-done
		if got := strings.Join(notes, ","); got != want {
			t.Errorf("modern: noted %s, want %s", got, want)
		}
	})
	notes = nil
	bubble(t, handlerNotes(&notes), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		v.Send(`{"jsonrpc":"2.0","id":1,` + formRequest[1:])
		v.Receive()
		if got := strings.Join(notes, ","); got != want {
			t.Errorf("legacy: noted %s, want %s", got, want)
		}
		notes = nil
		v.Send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		v.Receive()
		if got := strings.Join(notes, ","); !strings.HasPrefix(got, "a ping,b ping,") {
			t.Errorf("ping: noted %s, want it to pass", got)
		}
	})
}

func TestAPanicOfHandlerMiddlewareIsAnswered(t *testing.T) {
	panics := func(mcpclient.RequestHandler) mcpclient.RequestHandler {
		return func(context.Context, *mcpclient.Request) (any, error) { panic("boo") }
	}
	o := &mcpclient.Options{HandlerMiddleware: []func(mcpclient.RequestHandler) mcpclient.RequestHandler{panics}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		v.Send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if f := v.Receive(); !strings.Contains(string(f.Error), "-32603") {
			t.Errorf("answered %s, want an internal error", f.Raw)
		}
		synctest.Wait()
	})
}

func TestSessionRestorationBypassesMiddleware(t *testing.T) {
	var notes []string
	o := mcpclient.Options{Middleware: []mcpclient.Middleware{noting(&notes, "m")}}
	inRevisions(t, []mcp.Version{mcp.Version20251125}, all, o, func(t *testing.T, r *revision) {
		r.subscribe(motd)
		r.setLevel(mcp.LevelInfo)
		notes = nil
		r.reconnect(all)
		for range 2 {
			r.Answer(r.Receive(), `{}`)
		}
		synctest.Wait()
		if len(notes) > 0 {
			t.Errorf("noted %q, want nothing, because a panic would be in a goroutine of the client", notes)
		}
	})
}
