package mcpclient_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// legacyServed is like observed, with a ready client and a server of this legacy version. The transport is busy as long
// as busy is true.
func legacyServed(t *testing.T, version mcp.Version, features []mcpclient.Feature,
	f func(t *testing.T, v *conversation, rec *telemetrytest.Recording, busy *atomic.Bool)) {
	t.Helper()
	var busy atomic.Bool
	rig := &rigged{send: func(transport.Message) (error, bool) { return transport.ErrBusy, busy.Load() }}
	observed(t, mcpclient.Options{Versions: []mcp.Version{version}, Features: features}, rig,
		func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
			v := s.next(t).initialize(version)
			await(t, c)
			f(t, v, rec, &busy)
		})
}

func TestARequestHandlerGetsItsParams(t *testing.T) {
	type params struct {
		N int `json:"n"`
	}
	features := []mcpclient.Feature{mcpclient.HandleRequest("double", func(_ context.Context, r *mcpclient.Request) (any,
		error) {
		var p params
		if err := r.Decode(&p); err != nil {
			return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: err.Error()}
		}
		return params{2 * p.N}, nil
	}), mcpclient.HandleRequest("no/data", func(context.Context, *mcpclient.Request) (any, error) {
		return nil, &mcp.Error{Code: 1, Message: "m", Data: []byte(`{`)}
	}), mcpclient.HandleRequest("no/object", func(context.Context, *mcpclient.Request) (any, error) { return 7, nil })}
	legacyServed(t, mcp.Version20251125, features,
		func(t *testing.T, v *conversation, _ *telemetrytest.Recording, _ *atomic.Bool) {
			for _, tc := range []struct{ request, want string }{
				{`"method":"double","params":{"n":21}`, `"result":{"n":42}`},
				{`"method":"double"`, `"result":{"n":0}`},
				{`"method":"double","params":{"n":"x"}`, `"error":{"code":-32602,"message":"n is not an integer`},
				{`"method":"double","params":{"n":[}`, `"error":{"code":-32602,"message":"message is not JSON (invalid_json)`},
				{
					`"method":"double","params":{"_meta":7}`,
					`"error":{"code":-32602,"message":"message breaks the protocol (invalid_params)`,
				},
				{`"method":"no/data"`, `"error":{"code":1,"message":"m"}`},
				{`"method":"no/object"`, `"error":{"code":-32603,"message":"internal error"}`},
			} {
				v.Send(`{"jsonrpc":"2.0","id":7,` + tc.request + `}`)
				if got := v.Receive().Raw; !strings.Contains(got, tc.want) {
					t.Errorf("%s: want %s, got %s", tc.request, tc.want, got)
				}
			}
		})
}

func TestHandlerResponseWaitsForRoomInSendQueue(t *testing.T) {
	legacyServed(t, mcp.Version20251125, nil,
		func(t *testing.T, v *conversation, _ *telemetrytest.Recording, busy *atomic.Bool) {
			busy.Store(true)
			v.Send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			time.Sleep(time.Second)
			synctest.Wait()
			busy.Store(false)
			if got := v.Receive().Raw; got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
				t.Errorf("want the answer when there is room, got %s", got)
			}
		})
}

// The server may be waiting for the client to read its messages, so the read loop must not wait.
func TestRefusalIsDroppedWhenSendQueueIsFull(t *testing.T) {
	legacyServed(t, mcp.Version20251125, nil,
		func(t *testing.T, v *conversation, rec *telemetrytest.Recording, busy *atomic.Bool) {
			busy.Store(true)
			v.Send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}`)
			synctest.Wait()
			busy.Store(false)
			v.Send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			if got := v.Receive(); string(got.ID) != "2" {
				t.Errorf("want only the second request answered, got %s", got.Raw)
			}
			if n := rec.Count("mcp.server.operation.duration", "error.type", "transport_busy"); n != 1 {
				t.Errorf("want the lost answer counted, got %d", n)
			}
		})
}

func TestHandlerResponseLostWithConnectionIsCounted(t *testing.T) {
	features := []mcpclient.Feature{mcpclient.HandleRequest("slow", func(ctx context.Context, _ *mcpclient.Request) (any,
		error) {
		<-ctx.Done()
		return nil, nil
	})}
	legacyServed(t, mcp.Version20251125, features,
		func(t *testing.T, v *conversation, rec *telemetrytest.Recording, _ *atomic.Bool) {
			v.Send(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
			synctest.Wait()
			v.Close()
			synctest.Wait()
			if n := rec.Count("mcp.server.operation.duration", "mcp.method.name", "_OTHER", "error.type", "connection_lost") +
				rec.Count("mcp.server.operation.duration", "mcp.method.name", "slow", "error.type", "connection_lost"); n != 1 {
				t.Errorf("want the lost answer counted, got %d", n)
			}
		})
}

func TestMalformedBatchesAreViolations(t *testing.T) {
	legacyServed(t, mcp.Version20250326, nil,
		func(t *testing.T, v *conversation, rec *telemetrytest.Recording, _ *atomic.Bool) {
			v.Send(
				`[`, `[]`, `[1,{"jsonrpc":"2.0","method":"x"}]`,
				`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":7}},`+
					`{"jsonrpc":"2.0","id":3}]`,
			)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			got, err := v.Peer().Receive(ctx)
			if err != nil {
				t.Fatal(err)
			}
			const result, refusal = `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,`
			for _, want := range []string{result, refusal} {
				if got[0] != '[' || !strings.Contains(string(got), want) {
					t.Errorf("want a batch with %s, got %s", want, got)
				}
			}
			synctest.Wait()
			if n := rec.Value("mcp_client.protocol.violations"); n != 5 {
				t.Errorf("want 5 violations, got %d", n)
			}
		})
}

// The client keeps the answers to a batch until the last one is complete, so the number of requests is limited.
func TestRequestsOfABatchAreBounded(t *testing.T) {
	legacyServed(t, mcp.Version20250326, nil,
		func(t *testing.T, v *conversation, rec *telemetrytest.Recording, _ *atomic.Bool) {
			var all strings.Builder
			for id := range conn.MaxBatchRequests + 2 {
				fmt.Fprintf(&all, `,{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id+1)
			}
			v.Send("[" + all.String()[1:] + "]")
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			answered := 0
			for answered < conn.MaxBatchRequests+2 { // a refusal counts too: the client handles only a limited number at once
				got, err := v.Peer().Receive(ctx)
				if err != nil {
					t.Fatalf("after %d answers: %v", answered, err)
				}
				answered += strings.Count(string(got), `"jsonrpc"`)
			}
			synctest.Wait()
			if n := rec.Value("mcp_client.protocol.violations"); n != 2 {
				t.Errorf("want 2 violations, got %d", n)
			}
		})
}

// Many consecutive invalid elements end the connection, as many invalid frames do.
func TestABatchOfGarbageEndsTheConnection(t *testing.T) {
	legacyServed(t, mcp.Version20250326, nil,
		func(t *testing.T, v *conversation, rec *telemetrytest.Recording, _ *atomic.Bool) {
			v.Send("[" + strings.Repeat("7,", conn.InvalidStreak) + "7]")
			synctest.Wait()
			if n := rec.Value("mcp_client.connection.transitions", "mcp_client.connection.reason", "invalid_streak"); n != 1 {
				t.Errorf("want the connection ended, got %d transitions", n)
			}
			if n := rec.Value("mcp_client.protocol.violations"); n != conn.InvalidStreak {
				t.Errorf("want %d violations, got %d", conn.InvalidStreak, n)
			}
		})
}

// trap is a slog.Handler that calls act, if set, in the goroutine that is about to log a warning.
type trap struct {
	slog.Handler
	act atomic.Pointer[func()]
}

func (h *trap) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h *trap) Enabled(_ context.Context, l slog.Level) bool {
	if l == slog.LevelWarn {
		if act := h.act.Swap(nil); act != nil {
			(*act)()
		}
	}
	return false
}

// The client is closed while its read loop is handling received frames.
func TestFramesAfterCloseAreNotHandled(t *testing.T) {
	const first, garbage, second = `{"jsonrpc":"2.0","method":"first"}`, `7`, `{"jsonrpc":"2.0","method":"second"}`
	for name, frames := range map[string][]string{
		"frames":       {first, garbage, second},
		"a batch":      {"[" + first + "," + garbage + "," + second + "]"},
		"an oversized": {first, strings.Repeat("x", 2000), second},
	} {
		t.Run(name, func(t *testing.T) {
			heard := make(chan string, 9)
			h := &trap{Handler: slog.DiscardHandler}
			o := &mcpclient.Options{
				Versions: []mcp.Version{mcp.Version20250326}, Limits: mcpclient.Limits{Frame: 1000, SkipOversize: true},
				Telemetry: telemetry.New(telemetry.WithLogger(slog.New(h))),
				Features: []mcpclient.Feature{mcpclient.HandleNotification("",
					func(_ context.Context, n *mcpclient.Notification) { heard <- n.Method })},
			}
			bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
				heard = make(chan string, 9)
				acted := make(chan struct{})
				v := s.next(t).initialize(mcp.Version20250326)
				await(t, c)
				h.act.Store(new(func() { // called when the violation is logged
					defer close(acted)
					synctest.Wait() // the handler has received the first notification
					go c.Close()
					_ = c.WaitForState(context.Background(), connstate.Closing)
				}))
				for _, f := range frames {
					_ = v.Peer().Send(v.Context(), []byte(f)) // the client does not receive the last frame
				}
				<-acted
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				close(heard)
				var got []string
				for method := range heard {
					got = append(got, method)
				}
				if !slices.Equal(got, []string{"first"}) {
					t.Errorf("want the first notification heard and nothing else, got %q", got)
				}
			})
		})
	}
}

func TestProgressDroppedForASlowCallerIsCounted(t *testing.T) {
	for range 10 { // the answer and the last report arrive together; the client may see either first
		observed(t, mcpclient.Options{}, nil, slowCaller)
	}
}

func slowCaller(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
	v := s.next(t).modern()
	await(t, c)
	release := make(chan struct{})
	var got []float64
	done := background(func() error {
		return c.Call(t.Context(), "long", nil, nil, mcpclient.WithProgress(func(p *mcp.ProgressParams) {
			if got = append(got, p.Progress); len(got) == 1 {
				<-release
			}
		}))
	})
	f := v.Expect("long")
	report := func(n int) {
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`,
			f.ID, n))
	}
	report(0)
	synctest.Wait() // the caller is handling the first report
	for n := range conn.ProgressKept + 4 {
		report(n + 1)
	}
	v.Answer(f, `{}`)
	synctest.Wait()
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(got) != 1+conn.ProgressKept || got[1] != 5 || got[conn.ProgressKept] != conn.ProgressKept+4 {
		t.Errorf("want the first report and the latest %d, got %v", conn.ProgressKept, got)
	}
	if n := rec.Value("mcp_client.notification.drops", "mcp_client.drop.reason", "queue_full"); n != 4 {
		t.Errorf("want 4 reports counted as lost, got %d", n)
	}
}

// Progress for a finished call, or with a token that the client did not send, reaches no call.
func TestProgressWithUnknownTokenIsIgnored(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { return c.Call(t.Context(), "call", nil, nil) })
		f := v.Expect("call")
		for _, token := range []string{string(f.ID), "999", `"x"`} {
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`,
				token))
		}
		v.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[]}}`)
		v.Answer(f, `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCallSpanHasTarget(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		for _, tc := range []struct {
			method           string
			params           any
			span, key, value string
		}{
			{mcp.MethodGetPrompt, &mcp.GetPromptParams{Name: "greet"}, "prompts/get greet", "gen_ai.prompt.name", "greet"},
			{mcp.MethodReadResource, &mcp.ReadResourceParams{URI: "file:///a"}, "resources/read", "mcp.resource.uri",
				"file:///a"},
			{mcp.MethodSubscribe, &mcp.SubscribeParams{URI: "file:///b"}, "resources/subscribe", "mcp.resource.uri",
				"file:///b"},
			{mcp.MethodUnsubscribe, &mcp.UnsubscribeParams{URI: "file:///c"}, "resources/unsubscribe", "mcp.resource.uri",
				"file:///c"},
		} {
			done := background(func() error { return c.Call(t.Context(), tc.method, tc.params, nil) })
			v.Answer(v.Expect(tc.method), `{}`)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, a := range rec.Span(tc.span).Attributes() {
				if string(a.Key) == tc.key {
					got = a.Value.AsString()
				}
			}
			if got != tc.value {
				t.Errorf("%s: want %s = %s, got %q", tc.span, tc.key, tc.value, got)
			}
		}
	})
}
