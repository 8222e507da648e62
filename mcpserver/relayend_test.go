package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
)

func TestClientDisconnectCancelsItsRelayedRequests(t *testing.T) {
	script := []string{
		initializeAs("2025-06-18"), initialized, requestOf(2, "tools/call", `{}`), `{"jsonrpc":"2.0","id":1,"result":{}}`,
	}
	for n := range len(script) + 1 {
		for _, answers := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				b := &behind{}
				b.receive = func(r *handed) {
					context.AfterFunc(r.ctx, func() {
						if answers {
							r.answer(nil, context.Cause(r.ctx))
						}
					})
				}
				w := relayed(t, b, downstream.Options{DrainTimeout: time.Minute})
				w.send(script[:n]...)
				began := time.Now()
				wantEnd(t, w)
				got := b.taken()
				if len(got) == 0 || got[len(got)-1] != "gone" || slices.Index(got, "gone") != len(got)-1 {
					t.Errorf("after %d messages the receiver got %q, want that the client is gone at the end, once", n, got)
				}
				left := 0
				for _, r := range b.calls {
					left++
					if cause := context.Cause(r.ctx); cause == nil || cause.Error() != "the client has disconnected" {
						t.Errorf("the context of %s ended because of %v, want that the client has disconnected", r.method, cause)
					}
					r.answer(json.RawMessage(`{}`), nil) // has no effect after the cancellation
				}
				want := time.Duration(0)
				if left > 0 {
					want = time.Minute // time for answers to the requests
					if !answers {
						want += time.Second
					}
				}
				if took := time.Since(began); took != want {
					t.Errorf("after %d messages Serve returned %v after the end, answered: %v; want %v", n, took, answers, want)
				}
			})
		}
	}
}

func TestHalfClosedClientGetsResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		b.receive = func(r *handed) {
			time.AfterFunc(30*time.Second, func() { r.answer(json.RawMessage(`{}`), nil) })
		}
		w := relayed(t, b, downstream.Options{DrainTimeout: time.Minute})
		w.send(requestOf(1, "tools/call", `{}`))
		began := time.Now()
		wantEnd(t, w)
		wantSent(t, w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("Serve returned after %v, want 30s", took)
		}
	})
}

func TestARelayEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		s, err := newRelay(b, &downstream.Options{Name: "relay", Telemetry: checked(t), DrainTimeout: -1})
		must(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		w := serve(t, ctx, s)
		w.send(requestOf(1, "tools/call", `{}`))
		r := b.last(t)
		go r.from.Request(r.ctx, relay.Message{Method: "ping"}, func(json.RawMessage, error) {})
		synctest.Wait()
		w.block()
		told := make(chan error, 1)
		go func() { told <- r.from.Notify(t.Context(), relay.Message{Method: "n"}) }()
		synctest.Wait()
		why := errors.New("enough")
		cancel(why)
		if err := <-w.result; !errors.Is(err, why) {
			t.Errorf("Serve returned %v, want the cause of its context", err)
		}
		wantBehind(t, b, "tools/call {}", "gone")
		if err := <-told; err == nil {
			t.Error("a notification was sent to a client that is not served any more")
		}
		r.answer(json.RawMessage(`{}`), nil)
	})
}

func TestReceiverEndsRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		w.send(requestOf(1, "tools/call", `{}`))
		r, why := b.last(t), errors.New("the server is another now")
		context.AfterFunc(r.ctx, func() { r.answer(nil, context.Cause(r.ctx)) })
		b.peer(t).(relay.Ender).End(why)
		if err := <-w.result; !errors.Is(err, why) {
			t.Errorf("Serve returned %v, want why it was ended", err)
		}
		wantBehind(t, b, "tools/call {}", "gone")
	})
}

func TestRelaySendsPingsToClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{receive: func(r *handed) { r.answer(json.RawMessage(`{"protocolVersion":"2025-06-18"}`), nil) }}
		w := relayed(t, b, downstream.Options{KeepAlive: time.Minute})
		w.send(initializeAs("2025-06-18"))
		b.taken()
		w.taken()
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		wantSent(t, w, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		w.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		wantBehind(t, b)
		wantEnd(t, w)
	})
}
