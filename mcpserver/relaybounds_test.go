package mcpserver_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/relay/downstream"
)

func TestNewRelayRejectsInvalidOptions(t *testing.T) {
	_, err := newRelay(&behind{}, &downstream.Options{})
	wantError(t, err, "options: Name is empty")
	_, err = newRelay(&behind{}, &downstream.Options{Name: "x", FrameLimit: -1})
	wantError(t, err, "options: Limits.Frame is negative")
}

func TestRelayLimitsForwardedRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		busy := `"error":{"code":-32603,"message":"too many requests at once"}}`
		for i := range 1025 {
			w.send(requestOf(i, "tools/call", `{}`))
		}
		wantSent(t, w, `{"jsonrpc":"2.0","id":1024,`+busy)
		if n := len(b.calls); n != 1024 {
			t.Fatalf("%d requests were handed on, want 1024", n)
		}
		b.calls[0].answer(json.RawMessage(`{}`), nil)
		w.send(requestOf(0, "tools/call", `{}`))
		wantSent(t, w, `{"jsonrpc":"2.0","id":0,"result":{}}`)
		outcomes := make([]*string, 1025)
		for i := range outcomes {
			outcomes[i] = asking(t.Context(), b.peer(t), "ping", `{}`)
		}
		if want := "too many requests at once (-32603)"; *outcomes[1023] != "" || *outcomes[1024] != want {
			t.Errorf("the last requests to the client had the outcomes %q and %q, want that the last is refused: %s",
				*outcomes[1023], *outcomes[1024], want)
		}
		if n := len(w.taken()); n != 1024 {
			t.Errorf("the client got %d requests, want 1024", n)
		}
		for _, r := range b.calls {
			r.answer(json.RawMessage(`{}`), nil)
		}
		wantEnd(t, w)
	})
}

func TestRelayEnforcesTotalLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		s, err := newRelay(b, &downstream.Options{Name: "relay", MaxTotal: 1, Telemetry: checked(t)})
		must(t, err)
		one, other := serve(t, t.Context(), s), serve(t, t.Context(), s)
		one.send(requestOf(1, "a", `{}`))
		other.send(requestOf(2, "b", `{}`))
		wantSent(t, other, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"too many requests at once"}}`)
		b.last(t).answer(json.RawMessage(`{}`), nil)
		other.send(requestOf(3, "c", `{}`))
		wantBehind(t, b, "a {}", "c {}")
		b.last(t).answer(json.RawMessage(`{}`), nil)
		wantSent(t, other, `{"jsonrpc":"2.0","id":3,"result":{}}`)
		wantEnd(t, one)
		wantEnd(t, other)
	})
}
