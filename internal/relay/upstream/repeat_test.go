package upstream

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestLostIdempotentRequestIsRepeated(t *testing.T) {
	const reading = `{"uri":"file:///a", "x":1e400}`
	for name, c := range map[string]struct {
		method string
		play   func(v *conversation)
		again  bool
	}{
		"resource read":    {method: mcp.MethodReadResource, again: true},
		"tool call":        {method: mcp.MethodCallTool},
		"unknown method":   {method: "odd/method"},
		"after progress":   {method: mcp.MethodReadResource, play: says(`"method":"notifications/progress","params":{}`)},
		"after a question": {method: mcp.MethodReadResource, play: says(`"id":1,"method":"elicitation/create"`)},
		"after a log line": {method: mcp.MethodReadResource, play: says(`"method":"notifications/message"`), again: true},
	} {
		t.Run(name, func(t *testing.T) {
			session(t, nil, nil, func(t *testing.T, s *script, v *conversation, b *front) {
				b.confirm()
				b.asks(t.Context(), c.method, reading)
				v.Expect(c.method)
				if c.play != nil {
					c.play(v)
				}
				b.heard()
				v.Close()
				if c.again {
					v = b.again(s.next(t))
					if m := v.Expect(c.method); string(m.Params) != reading {
						t.Errorf("got %s", m.Raw)
					}
					v.Close() // a request is repeated only once
				}
				got := b.heard()
				if len(got) != 1 || !strings.HasPrefix(got[0], c.method+" transport unsent=false: ") {
					t.Errorf("got %q", got)
				}
				b.again(s.next(t))
				for _, answer := range b.requests {
					answer(nil, context.Canceled)
				}
			})
		})
	}
}

// says returns a function that sends a message of the server.
func says(members string) func(*conversation) {
	return func(v *conversation) { v.Send(`{"jsonrpc":"2.0",` + members + `}`) }
}

func TestUnsentRequestIsRepeated(t *testing.T) {
	var broken atomic.Bool
	rig := &rigged{send: func(transport.Message) (error, bool) {
		return transport.ErrClosed, broken.CompareAndSwap(true, false)
	}}
	session(t, nil, rig, func(t *testing.T, s *script, _ *conversation, b *front) {
		b.confirm()
		broken.Store(true)
		go b.asks(t.Context(), mcp.MethodCallTool, `{"name":"x"}`) // may itself wait for the next session
		b.wants()
		v := b.again(s.next(t))
		v.Answer(v.Expect(mcp.MethodCallTool), `{}`)
		b.wants("tools/call result {}")
	})
}
