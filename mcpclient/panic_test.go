package mcpclient_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// brittle is a user's type that fails when it is encoded or decoded.
type brittle struct{ fail func() }

func oops() { panic("oops") }

func (b *brittle) UnmarshalJSON([]byte) error { b.fail(); return nil }
func (b brittle) MarshalJSON() ([]byte, error) {
	b.fail()
	return nil, nil
}

// The test lists every place where a call runs the user's code: before the request is sent, during the wait for the
// answer, and after the answer has arrived. The code panics, or ends its goroutine. The server gets a cancellation if
// it may still be working.
func TestUserCodePanicReachesCallerAndLeaksNothing(t *testing.T) {
	report := func(f frame) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`,
			f.ID)
	}
	answer := func(f frame) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, f.ID) }
	write := func(texts ...func(frame) string) func(*conversation, frame) {
		return func(v *conversation, f frame) {
			for _, text := range texts {
				v.Send(text(f))
			}
		}
	}
	for end, fail := range map[string]func(){"panic": oops, "Goexit": runtime.Goexit} {
		failing := mcpclient.WithProgress(func(*mcp.ProgressParams) { fail() })
		for name, tc := range map[string]struct {
			params, result any
			option         mcpclient.CallOption
			server         func(v *conversation, f frame)
			cancelled      bool
		}{
			"encoding the params":                   {params: brittle{fail}},
			"progress":                              {option: failing, server: write(report), cancelled: true},
			"progress that arrives with the answer": {option: failing, server: write(report, answer)},
			"decoding the result":                   {result: &brittle{fail}, server: write(answer)},
		} {
			t.Run(end+"/"+name, func(t *testing.T) {
				for range 10 { // the client may handle a message that arrives with the answer before or after the answer
					observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
						_ *telemetrytest.Recording) {
						v := s.next(t).modern()
						await(t, c)
						failed := make(chan any, 1)
						go func() {
							returned := false
							defer func() {
								if v := recover(); v == nil && !returned {
									failed <- "Goexit"
								} else {
									failed <- v
								}
							}()
							options := []mcpclient.CallOption{mcpclient.WithTimeout(-1)}
							if tc.option != nil {
								options = append(options, tc.option)
							}
							_ = c.Call(t.Context(), "call", tc.params, tc.result, options...)
							returned = true
						}()
						var asked frame
						if tc.server != nil {
							asked = v.Expect("call")
							tc.server(v, asked)
						}
						select {
						case got := <-failed:
							if want := map[string]any{"panic": "oops", "Goexit": "Goexit"}[end]; got != want {
								t.Fatalf("want the %v in the caller's goroutine, got %v", want, got)
							}
						case <-time.After(time.Hour):
							t.Fatal("want the panic in the caller's goroutine, got nothing for an hour")
						}
						if n := mcpclient.ProbeOf(c).Figures().InFlight; n != 0 {
							t.Errorf("want no call in flight, got %d", n)
						}
						done := background(func() error { return c.Call(t.Context(), "next", nil, nil) })
						f := v.Receive()
						if name == "progress that arrives with the answer" && f.Method == mcp.NotificationCancelled {
							f = v.Receive() // the report was handled before the answer
						}
						if tc.cancelled {
							if about := fmt.Sprintf(`"requestId":%s`, asked.ID); f.Method != mcp.NotificationCancelled ||
								!strings.Contains(string(f.Raw), about) {
								t.Fatalf("got %s, want a cancellation of request %s", f.Raw, asked.ID)
							}
							v.Send(answer(asked)) // a late answer must not affect any other call
							f = v.Receive()
						}
						if f.Method != "next" {
							t.Fatalf("got %s, want the next call", f.Raw)
						}
						v.Answer(f, `{}`)
						if err := <-done; err != nil {
							t.Errorf("want the next call to succeed, got %v", err)
						}
					})
				}
			})
		}
	}
}

// The user's code fails while it encodes the result of a handler.
func TestPanicDuringResultEncodingCountsAsHandlerPanic(t *testing.T) {
	o := mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleRequest("x/brittle", func(context.Context, *mcpclient.Request) (any, error) {
			return brittle{oops},
				nil
		}),
		mcpclient.HandleSampling(func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{(*mcp.TextContent)(nil)}}, nil
		}, nil),
	}}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		for i, request := range []string{
			`"method":"x/brittle"`,
			`"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text",` +
				`"text":"hi"}}]}`,
		} {
			v.Send(`{"jsonrpc":"2.0","id":1,` + request + `}`)
			if f := v.Receive(); !strings.Contains(string(f.Error), "-32603") {
				t.Errorf("got %s, want an internal error", f.Raw)
			}
			if n := len(rec.Logs("mcp_client.handler.panic")); n != i+1 {
				t.Errorf("%d panics in the log, want %d", n, i+1)
			}
		}
	})
}
