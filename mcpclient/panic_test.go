package mcpclient

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// brittle is what a user decodes into or encodes from, badly.
type brittle struct{}

func (*brittle) UnmarshalJSON([]byte) error  { panic("oops") }
func (brittle) MarshalJSON() ([]byte, error) { panic("oops") }

// TestAPanicOfTheUsersCodeReachesTheUserAndLeavesNothingBehind holds every place in which a call runs code of the user's,
// before the request is sent, while the answer is awaited, and after it has come.
func TestAPanicOfTheUsersCodeReachesTheUserAndLeavesNothingBehind(t *testing.T) {
	report := func(f frame) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, f.ID)
	}
	answer := func(f frame) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, f.ID) }
	panics := WithProgress(func(Progress) { panic("oops") })
	for name, tc := range map[string]struct {
		params, result any
		option         CallOption
		server         func(v *conversation, f frame)
	}{
		"encoding the params": {params: brittle{}},
		"progress":            {option: panics, server: func(v *conversation, f frame) { v.write(report(f)) }},
		"progress that comes with the answer": {option: panics, server: func(v *conversation, f frame) {
			v.write(report(f), answer(f))
		}},
		"decoding the result": {result: &brittle{}, server: func(v *conversation, f frame) { v.write(answer(f)) }},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // what comes with the answer may come before it
				observed(t, Options{}, nil, func(t *testing.T, s *script, c *Client, _ *telemetrytest.Recording) {
					v := s.next(t).modern()
					await(t, c)
					panicked := make(chan any, 1)
					go func() {
						defer func() { panicked <- recover() }()
						options := []CallOption{WithTimeout(-1)}
						if tc.option != nil {
							options = append(options, tc.option)
						}
						_ = c.Call(t.Context(), "call", tc.params, tc.result, options...)
					}()
					if tc.server != nil {
						tc.server(v, v.want("call"))
					}
					select {
					case got := <-panicked:
						if got != "oops" {
							t.Fatalf("want the panic in the caller's goroutine, got %v", got)
						}
					case <-time.After(time.Hour):
						t.Fatal("want the panic in the caller's goroutine, got nothing for an hour")
					}
					c.mu.Lock()
					n := c.calls.Len()
					c.mu.Unlock()
					if n != 0 {
						t.Errorf("want no call in flight, got %d", n)
					}
					done := background(func() error { return c.Call(t.Context(), "next", nil, nil) })
					v.answer(v.want("next"), `{}`)
					if err := <-done; err != nil {
						t.Errorf("want the next call to go on, got %v", err)
					}
				})
			}
		})
	}
}

// TestAPanicInTheResultOfAHandlerIsOneOfTheHandler is about what a handler returns: it is the user's code that encodes it.
func TestAPanicInTheResultOfAHandlerIsOneOfTheHandler(t *testing.T) {
	o := Options{Features: []Feature{
		HandleRequest("x/brittle", func(context.Context, *Request) (any, error) { return brittle{}, nil }),
		HandleSampling(func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{(*mcp.TextContent)(nil)}}, nil
		}, nil),
	}}
	observed(t, o, nil, func(t *testing.T, s *script, c *Client, rec *telemetrytest.Recording) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		for i, request := range []string{
			`"method":"x/brittle"`,
			`"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`,
		} {
			v.write(`{"jsonrpc":"2.0","id":1,` + request + `}`)
			if f := v.take(); !strings.Contains(string(f.Error), "-32603") {
				t.Errorf("got %s, want an internal error", f.raw)
			}
			if n := len(rec.Logs("mcp_client.handler.panic")); n != i+1 {
				t.Errorf("%d panics in the log, want %d", n, i+1)
			}
		}
	})
}
