package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
)

func TestRelayWaitsForBlockedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		w.send(requestOf(1, "tools/call", `{}`))
		r := b.last(t)
		release := w.block()
		done := 0
		var want []string
		go func() {
			for i := range 2000 {
				m := relay.Message{Method: "notifications/message", Params: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}
				if err := r.from.Notify(r.ctx, m); err != nil {
					t.Errorf("Notify: %v", err)
				}
				done++
			}
			r.answer(json.RawMessage(`{}`), nil)
			done++
		}()
		synctest.Wait()
		if done != 0 {
			t.Errorf("%d messages were taken by a client that does not read, want that the sender waits", done)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("enough"))
		defer cancel()
		wantError(t, r.from.Notify(ctx, relay.Message{Method: "n"}), "enough")
		release()
		synctest.Wait()
		for i := range 2000 {
			want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%d}}`, i))
		}
		wantSent(t, w, append(want, `{"jsonrpc":"2.0","id":1,"result":{}}`)...)
		wantEnd(t, w)
	})
}

// asking sends a request to the client. It returns a pointer to a string that will hold the outcome.
func asking(ctx context.Context, to relay.Peer, method, params string) *string {
	outcome := new(string)
	to.Request(ctx, relay.Message{Method: method, Params: json.RawMessage(params)},
		func(result json.RawMessage, err error) {
			*outcome += string(result)
			if passed, ok := errors.AsType[*relay.Error](err); ok {
				*outcome += fmt.Sprintf("%s as %d", passed.Object, passed.Server.Code)
			} else if err != nil {
				*outcome += err.Error()
			}
		})
	return outcome
}

func TestRelaySendsRequestsToClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		w.send(requestOf(1, "tools/call", `{}`)) // the client has not sent initialize
		b.taken()
		from := b.peer(t)
		outcomes := []*string{
			asking(t.Context(), from, "sampling/createMessage", ` {"_meta":{"traceparent":"x"}, "messages":1}`),
			asking(b.last(t).ctx, from, "acme/ask", `{}`),
			asking(t.Context(), from, "roots/list", `{}`),
			asking(t.Context(), from, "ping", `{}`),
		}
		wantSent(t, w,
			`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage",`+
				`"params": {"_meta":{"traceparent":"x"}, "messages":1}}`,
			`{"jsonrpc":"2.0","id":2,"method":"acme/ask","params":{}}`,
			`{"jsonrpc":"2.0","id":3,"method":"roots/list","params":{}}`,
			`{"jsonrpc":"2.0","id":4,"method":"ping","params":{}}`)
		w.send(`{"jsonrpc":"2.0","id":2,"result":{"odd":1.0,"odd":2}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":null,"x":1}}`,
			`{"jsonrpc":"2.0","id":3,"error":{"code":1.5}}`, `{"jsonrpc":"2.0","id":4,"result":null}`)
		want := []string{`{"code":-1,"message":"no","data":null,"x":1} as -1`, `{"odd":1.0,"odd":2}`, `{"code":1.5} as 0`,
			"ping: the client's answer is invalid"}
		for i, o := range outcomes {
			if *o != want[i] {
				t.Errorf("request %d had the outcome %q, want %q", i+1, *o, want[i])
			}
		}
		w.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		wantSent(t, w)

		ctx, cancel := context.WithCancelCause(t.Context())
		outcome := asking(ctx, from, "roots/list", `{}`)
		w.taken()
		cancel(errors.New("the server said so"))
		synctest.Wait()
		wantSent(t, w, `{"jsonrpc":"2.0","method":"notifications/cancelled",`+
			`"params":{"requestId":5,"reason":"the server said so"}}`)
		w.send(`{"jsonrpc":"2.0","id":5,"result":{}}`)
		if *outcome != "the server said so" {
			t.Errorf("a request that was given up had the outcome %q, want the cause", *outcome)
		}
		outcome = asking(t.Context(), from, "roots/list", `{}`)
		wantEnd(t, w)
		if *outcome != "the client has disconnected" {
			t.Errorf("a request to a client that leaves had the outcome %q, want that", *outcome)
		}
		if outcome = asking(t.Context(), from, "roots/list", `{}`); *outcome != "the client has disconnected" {
			t.Errorf("a request to a client that has left had the outcome %q, want that", *outcome)
		}
	})
}

func TestReceiverGetsResponsesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		w.send(requestOf(1, "tools/call", `{}`))
		from := b.peer(t)
		var frames, want []string
		b.taken()
		for i := range 200 {
			from.Request(t.Context(), relay.Message{Method: "roots/list"}, func(json.RawMessage, error) {
				b.note(fmt.Sprint("answer ", i), from)
			})
			frames = append(frames, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i+1),
				fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"n":%d}}`, i))
			want = append(want, fmt.Sprint("answer ", i), fmt.Sprintf(`n {"n":%d}`, i))
		}
		w.send(frames...)
		wantBehind(t, b, want...)
		wantEnd(t, w)
	})
}

func TestRequestCancelledByServerGetsNoResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		w.send(requestOf(9, "subscriptions/listen", `{}`))
		r := b.last(t)
		if r.id != "9" {
			t.Errorf("the id that the receiver got is %s, want the client's", r.id)
		}
		r.answer(nil, fmt.Errorf("x: %w", &relay.Cancelled{Reason: "enough"}))
		r.answer(json.RawMessage(`{}`), nil)
		wantSent(t, w, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,"reason":"enough"}}`)
		if r.ctx.Err() == nil {
			t.Error("the context of a request that was cancelled goes on")
		}
		wantEnd(t, w)
	})
}
