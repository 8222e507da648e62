package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// legacyReady is like bubble, with a ready client and a server of this version.
func legacyReady(t *testing.T, version mcp.Version, o *mcpclient.Options, f func(t *testing.T, v *conversation,
	c *mcpclient.Client)) {
	t.Helper()
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(version)
		await(t, c)
		f(t, v, c)
	})
}

func TestNotificationHandlersRunInOrderAndCanCallClient(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		heard := make(chan string, 10)
		remove := c.Handle(mcpclient.HandleNotification("", func(ctx context.Context, n *mcpclient.Notification) {
			var p struct {
				N int `json:"n"`
			}
			if err := n.Decode(&p); err != nil {
				t.Errorf("decode: %v", err)
			}
			if p.N == 1 {
				if err := c.Call(ctx, "from/handler", nil, nil); err != nil {
					t.Errorf("call from the handler: %v", err)
				}
			}
			heard <- fmt.Sprint(n.Method, " ", p.N)
		}))
		for i := 1; i <= 3; i++ {
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"custom/%d","params":{"n":%d}}`, i, i))
		}
		v.Answer(v.Expect("from/handler"), `{}`)
		var got []string
		for range 3 {
			got = append(got, <-heard)
		}
		if want := []string{"custom/1 1", "custom/2 2", "custom/3 3"}; !slices.Equal(got, want) {
			t.Errorf("want %v, got %v", want, got)
		}
		remove()
		v.Send(`{"jsonrpc":"2.0","method":"custom/4"}`)
		synctest.Wait()
		if len(heard) > 0 {
			t.Errorf("want no notification after remove, got %s", <-heard)
		}
	})
}

func TestAPanickingHandlerIsIsolated(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		heard := make(chan string, 2)
		c.Handle(mcpclient.HandleNotification("custom/1", func(context.Context, *mcpclient.Notification) { panic("oops") }))
		c.Handle(mcpclient.HandleNotification("custom/1",
			func(_ context.Context, n *mcpclient.Notification) { heard <- n.Method }))
		v.Send(`{"jsonrpc":"2.0","method":"custom/1"}`)
		if got := <-heard; got != "custom/1" {
			t.Errorf("want the second handler called, got %s", got)
		}
	})
}

func TestProgressArrivesInOrderBeforeTheCallReturns(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var got []float64
		done := background(func() error {
			follow := mcpclient.WithProgress(func(p *mcp.ProgressParams) { got = append(got, p.Progress) })
			return c.Call(t.Context(), "long", nil, nil, follow)
		})
		f := v.Expect("long")
		if want := `"progressToken":` + string(f.ID); !strings.Contains(f.Raw, want) {
			t.Fatalf("want %s in the request, got %s", want, f.Raw)
		}
		for i := 1; i <= 5; i++ {
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,`+
				`"progress":%d,"total":5}}`, f.ID, i))
		}
		v.Answer(f, `{}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":6}}`,
			f.ID))
		synctest.Wait()
		if want := []float64{1, 2, 3, 4, 5}; !slices.Equal(got, want) {
			t.Errorf("want %v and nothing after the result, got %v", want, got)
		}
	})
}

func TestLegacyServerRequestsAreAnswered(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleRequest("roots/list", func(context.Context, *mcpclient.Request) (any, error) {
			return &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: "file:///srv"}}}, nil
		}),
		mcpclient.HandleRequest("refuse", func(context.Context, *mcpclient.Request) (any, error) {
			return nil, &mcp.Error{Code: -1, Message: "user said no"}
		}),
		mcpclient.HandleRequest("fail", func(context.Context, *mcpclient.Request) (any, error) {
			return nil,
				errors.New("secret detail")
		}),
		mcpclient.HandleRequest("panic", func(context.Context, *mcpclient.Request) (any, error) { panic("secret detail") }),
	}}
	legacyReady(t, mcp.Version20251125, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		for _, tc := range []struct{ method, want string }{
			{"ping", `"result":{}`},
			{"roots/list", `"result":{"roots":[{"uri":"file:///srv"}]}`},
			{"unknown", `"error":{"code":-32601,`},
			{"refuse", `"error":{"code":-1,"message":"user said no"}`},
			{"fail", `"error":{"code":-32603,"message":"internal error"}`},
			{"panic", `"error":{"code":-32603,"message":"internal error"}`},
		} {
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s-%s","method":%q}`, tc.method, tc.method))
			got := v.Receive()
			if !strings.Contains(got.Raw, tc.want) || string(got.ID) != `"s-`+tc.method+`"` {
				t.Errorf("%s: want %s, got %s", tc.method, tc.want, got.Raw)
			}
		}
	})
}

func TestTheServerCanCancelItsRequest(t *testing.T) {
	begun := make(chan struct{}, 1)
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("slow", func(ctx context.Context,
		_ *mcpclient.Request) (any, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})}}
	legacyReady(t, mcp.Version20251125, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		v.Send(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
		<-begun
		v.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		if n := c.Inspect().Answering; n != 0 {
			t.Errorf("want no running handler, got %d", n)
		}
	})
}

func TestTooManyRequestsAtOnceAreRefused(t *testing.T) {
	const bound = 64
	release := make(chan struct{})
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("slow", func(ctx context.Context,
		_ *mcpclient.Request) (any, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil, nil
	})}}
	legacyReady(t, mcp.Version20251125, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		release = make(chan struct{})
		for i := range bound + 1 {
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"slow"}`, i))
		}
		if got := v.Receive(); string(got.ID) != fmt.Sprint(bound) || !strings.Contains(got.Raw, "too many") {
			t.Errorf("want request %d refused, got %s", bound, got.Raw)
		}
	})
}

func TestBatchesAreAnsweredOnlyIn20250326(t *testing.T) {
	legacyReady(t, mcp.Version20250326, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		done := background(func() error { return c.Call(t.Context(), "call", nil, nil) })
		f := v.Expect("call")
		v.Send(fmt.Sprintf(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/message",`+
			`"params":{}},`+
			`{"jsonrpc":"2.0","id":%s,"result":{}},7,{"jsonrpc":"2.0","id":2,"method":"unknown"}]`, f.ID))
		if err := <-done; err != nil {
			t.Errorf("want the response in the batch delivered, got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		raw, err := v.Peer().Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `"id":2,"error":{"code":-32601`} {
			if !strings.Contains(string(raw), want) || raw[0] != '[' {
				t.Errorf("want a batch with %s, got %s", want, raw)
			}
		}
	})
}

func TestBatchIsViolationInOtherRevisions(t *testing.T) {
	legacyReady(t, mcp.Version20250618, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		v.Send(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if got := v.Receive(); string(got.ID) != "2" {
			t.Errorf("want only the request outside the batch answered, got %s", got.Raw)
		}
	})
}

func TestACancelledRequestOfTheServerGetsNoAnswer(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("slow", func(ctx context.Context,
		_ *mcpclient.Request) (any, error) {
		<-ctx.Done()
		return nil, nil
	})}}
	legacyReady(t, mcp.Version20251125, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		for i := range 50 { // each cancellation directly follows its request
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"slow"}`, i),
				fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
		}
		v.Send(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
		if got := v.Receive(); string(got.ID) != `"last"` {
			t.Errorf("want only the ping answered, got %s", got.Raw)
		}
	})
}

func TestInvalidParamsCountAsInvalidFrames(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for range conn.InvalidStreak {
			v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[}}`)
		}
		if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
			t.Fatal(err)
		}
		if got := c.Status().Reason; got != connstate.ReasonInvalidStreak {
			t.Errorf("want the reason %s, got %s", connstate.ReasonInvalidStreak, got)
		}
	})
}

func TestTwoHandlersForOneMethodAreRefused(t *testing.T) {
	h := mcpclient.HandleRequest("roots/list", func(context.Context, *mcpclient.Request) (any, error) { return nil, nil })
	for name, features := range map[string][]mcpclient.Feature{"two": {h, h},
		"nil": {mcpclient.HandleRequest("roots/list", nil)}} {
		if _, err := mcpclient.New(newScript(t), &mcpclient.Options{Features: features}); err == nil ||
			!strings.Contains(err.Error(), "roots/list") {
			t.Errorf("%s: want an error about roots/list, got %v", name, err)
		}
	}
}

func TestCapabilitiesWithInvalidJSONAreRefused(t *testing.T) {
	broken := map[string]mcp.Object{"x": mcp.Object("{")}
	o := &mcpclient.Options{Capabilities: mcp.ClientCapabilities{Experimental: broken}}
	if _, err := mcpclient.New(newScript(t), o); err == nil || !strings.Contains(err.Error(), "capabilities") {
		t.Errorf("want an error about the capabilities, got %v", err)
	}
}

// Once the answer is sent, the server's span may end at any moment, and the client's span must end within it.
func TestHandlerSpanEndsBeforeResponseIsSent(t *testing.T) {
	o := mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleRequest("ask", func(context.Context, *mcpclient.Request) (any, error) {
			return &mcp.ListRootsResult{},
				nil
		}),
	}}
	rig := &rigged{send: func(m transport.Message) (error, bool) {
		if m.Kind == transport.KindResponse {
			time.Sleep(time.Second)
		}
		return nil, false
	}}
	observed(t, o, rig, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t)
		v.legacy(mcp.Version20251125)
		v.Send(`{"jsonrpc":"2.0","id":"s","method":"ask"}`)
		v.Receive()
		synctest.Wait()
		span := rec.Span("ask")
		if got := span.EndTime().Sub(span.StartTime()); got != 0 {
			t.Errorf("want a span without the time of sending, got %v", got)
		}
	})
}

// (specification 2026-07-28, basic/patterns)
func TestModernServerRequestsAreNotAnswered(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("acme/x", func(context.Context,
		*mcpclient.Request) (any, error) {
		t.Error("the handler was called")
		return nil, nil
	})}}
	for _, method := range []string{mcp.MethodPing, mcp.MethodListRoots, "acme/x", "acme/unknown"} {
		t.Run(method, func(t *testing.T) {
			ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method))
				synctest.Wait()
				done := background(func() error { return c.Call(t.Context(), "next", nil, nil) })
				v.Answer(v.Expect("next"), `{}`) // the client sends no other message before this call
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
