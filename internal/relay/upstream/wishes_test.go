package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcptest"
)

type host struct{}

// leading makes b record the host of each notification, before the notification itself.
func leading(b *front) {
	b.blocked = func(ctx context.Context, _ string) { b.note("of %q", hostOf(ctx)) }
}

// hostOf returns the host in the context of a message. It is empty if there is none.
func hostOf(ctx context.Context) string {
	name, _ := ctx.Value(host{}).(string)
	return name
}

// TestNotificationsAreRoutedToTheirRequest uses two hosts that share one server over a stream.
func TestNotificationsAreRoutedToTheirRequest(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		leading(b)
		asks := func(name, meta string) mcptest.Message {
			ctx := context.WithValue(t.Context(), host{}, name)
			b.asks(ctx, mcp.MethodCallTool, `{"name":"x","_meta":`+meta+`}`)
			return v.Expect(mcp.MethodCallTool)
		}
		a := asks("a", `{"progressToken": 7}`)
		c := asks("c", `{"x":1,"progressToken":7}`) // the same token as the other host's
		d := asks("d", `{"progressToken":"7","io.modelcontextprotocol/logLevel":"info"}`)
		if want := `{"name":"x","_meta":{"x":1,"progressToken":"progress-1"}}`; string(c.Params) != want {
			t.Errorf("got %s, want %s", c.Params, want)
		}
		progress := func(token string) {
			v.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1}}`)
		}
		heard := func(host, want string) {
			t.Helper()
			b.wants(fmt.Sprintf("of %q", host), want)
		}
		const told = "notification notifications/progress "
		for token, c := range map[string]struct{ host, own string }{
			`"progress-1"`: {"c", "7"}, "7": {"a", "7"}, `"\u0037"`: {"d", `"\u0037"`}, "8": {"", "8"}, "null": {"", "null"},
		} {
			b.heard()
			progress(token)
			heard(c.host, told+`{"progressToken":`+c.own+`,"progress":1}`)
		}
		log := `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`
		v.Send(log)
		heard("d", "notification notifications/message {}")
		e := asks("e", `{"io.modelcontextprotocol/logLevel":"info"}`)
		v.Send(log) // the message may belong to either request
		heard("", "notification notifications/message {}")
		for _, m := range []mcptest.Message{d, a, c, e} {
			v.Answer(m, `{}`)
		}
		b.heard()
		progress(`"progress-1"`)
		heard("", told+`{"progressToken":"progress-1","progress":1}`)
		next := asks("f", `{"progressToken":7}`)
		if want := `{"name":"x","_meta":{"progressToken":7}}`; string(next.Params) != want {
			t.Errorf("got %s, want %s", next.Params, want)
		}
		v.Answer(next, `{}`)
	})
}

func TestRepeatedRequestKeepsToken(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		b.confirm()
		for range 2 {
			b.asks(t.Context(), mcp.MethodReadResource, `{"_meta":{"progressToken":1}}`)
			v.Receive()
		}
		v.Close()
		v = b.again(s.next(t))
		for range 2 {
			m := v.Receive()
			token, _ := mcp.Object(m.Params).Lookup("_meta")
			raw, _ := mcp.Object(token).Lookup("progressToken")
			v.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(raw) + `}}`)
			b.wants(`notification notifications/progress {"progressToken":1}`)
			v.Answer(m, `{}`)
			b.wants("resources/read result {}")
		}
	})
}

// TestMessagesOnStreamBelongToItsRequest uses a server over HTTP, where each request has its own stream.
func TestMessagesOnStreamBelongToItsRequest(t *testing.T) {
	var stream atomic.Int64 // stream of the server's messages
	rig := &rigged{receive: func(ctx context.Context, next receiver) (transport.Frame, error) {
		f, err := next(ctx)
		f.Request = stream.Load()
		return f, err
	}}
	session(t, nil, rig, func(t *testing.T, _ *script, v *conversation, b *front) {
		leading(b)
		b.asks(context.WithValue(t.Context(), host{}, "a"), mcp.MethodCallTool, `{"name":"x"}`)
		m := v.Expect(mcp.MethodCallTool)
		id, _ := jsonrpc.ParseID(m.ID)
		n, _ := id.Int()
		stream.Store(n)
		v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`,
			`{"jsonrpc":"2.0","id":"s","method":"elicitation/create"}`)
		b.wants(`of "a"`, "notification notifications/message {}", "request elicitation/create ")
		if got := hostOf(b.contexts[0]); got != "a" {
			t.Errorf("the host of the request is %q, want a", got)
		}
		v.Answer(m, `{}`)
		b.wants("tools/call result {}")
		if b.contexts[0].Err() != nil {
			t.Error("the request of the server ended together with the request of the host")
		}
		b.requests[0](json.RawMessage(`{}`), nil)
		v.Receive()
	})
}

func TestLongTokenIsNotTracked(t *testing.T) {
	for n, kept := range map[int]int{maxToken: 1, maxToken + 1: 0} {
		w := new(wishes)
		params := `{"_meta":{"progressToken":"` + strings.Repeat("x", n) + `"}}`
		q := &request{params: readParams(json.RawMessage(params))}
		w.enter(q)
		if len(w.progress) != kept || string(q.params.Raw()) != params {
			t.Errorf("a token of %d bytes: %d tokens are tracked, want %d and unchanged params", n, len(w.progress), kept)
		}
		w.leave(q, true)
		if len(w.progress) != 0 {
			t.Error("a token is tracked after the end of its request")
		}
	}
}

// TestEqualTokensOfHostsAreDistinguished compares the tokens of any number of hosts with a model. The server never gets
// the same token for two requests in flight, and each host gets its own token.
func TestEqualTokensOfHostsAreDistinguished(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := new(wishes)
		var running []*request
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(running) > 0 && rapid.Bool().Draw(t, "ends") {
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				w.leave(running[i], true)
				running = slices.Delete(running, i, i+1)
				continue
			}
			given := rapid.SampledFrom([]string{`1`, `2`, `"1"`, `"progress-1"`, `"progress-2"`, `"a\u0062"`}).Draw(t, "token")
			q := &request{params: readParams(json.RawMessage(`{"_meta":{"progressToken":` + given + `}}`))}
			w.enter(q)
			running = append(running, q)
			sent, _ := q.params.Asks()
			said := fmt.Sprintf(`{"progressToken":%s,"x":[1]}`, sent.AppendJSON(nil))
			if w.progress[sent] != q {
				t.Fatalf("progress with the token %v is not assigned to its request", sent)
			}
			want, _ := jsonrpc.ParseID([]byte(given))
			if got := string(q.withToken([]byte(said))); !strings.Contains(got, string(want.AppendJSON(nil))+`,"x":[1]`) {
				t.Fatalf("the host got %s, want its own token %s", got, given)
			}
		}
		if len(w.progress) != len(running) {
			t.Fatalf("%d tokens are tracked for %d requests", len(w.progress), len(running))
		}
	})
}
