package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// behind is the receiver of a relay. It records the messages that it gets; the test answers them.
type behind struct {
	receive func(r *handed) // called for each request; may be nil
	hear    func(ctx context.Context, m relay.Message, from relay.Peer)

	mu    sync.Mutex
	got   []string  // methods and params in order; "gone" after the client has left
	calls []*handed // requests
	peers map[relay.Peer]bool
}

// handed is a request that the relay has passed on.
type handed struct {
	ctx    context.Context
	id     string
	method string
	params string
	header map[string]string
	from   relay.Peer
	answer relay.Answer
}

func (b *behind) ReceiveRequest(ctx context.Context, m relay.Message, from relay.Peer, answer relay.Answer) {
	r := &handed{ctx, string(m.ID), m.Method, string(m.Params), m.Header, from, answer}
	b.note(m.Method+" "+r.params, from)
	b.mu.Lock()
	b.calls = append(b.calls, r)
	b.mu.Unlock()
	if b.receive != nil {
		b.receive(r)
	}
}

func (b *behind) ReceiveNotification(ctx context.Context, m relay.Message, from relay.Peer) {
	b.note(m.Method+" "+string(m.Params), from)
	if b.hear != nil {
		b.hear(ctx, m, from)
	}
}

func (b *behind) Gone(from relay.Peer) { b.note("gone", from) }

func (b *behind) note(what string, from relay.Peer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, what)
	if b.peers == nil {
		b.peers = map[relay.Peer]bool{}
	}
	b.peers[from] = true
}

// taken returns the messages that have arrived since the last call.
func (b *behind) taken() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	got := b.got
	b.got = nil
	return got
}

// last returns the latest request.
func (b *behind) last(t *testing.T) *handed {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.calls) == 0 {
		t.Fatal("no request was handed on")
	}
	return b.calls[len(b.calls)-1]
}

// peer returns the peer that sends messages back to the client.
func (b *behind) peer(t *testing.T) relay.Peer {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.peers {
		if len(b.peers) == 1 {
			return p
		}
	}
	t.Fatalf("messages came from %d peers, want one for the connection", len(b.peers))
	return nil
}

// newRelay returns a server that relays to r.
func newRelay(r relay.Receiver, o *downstream.Options) (*mcpserver.Server, error) {
	s, err := downstream.New(r, o)
	if err != nil {
		return nil, err
	}
	return s.(*mcpserver.Server), nil
}

// relayed serves a client of a relay to b.
func relayed(t *testing.T, b *behind, o downstream.Options) *wire {
	t.Helper()
	o.Name = "relay"
	if o.Telemetry == nil {
		o.Telemetry = checked(t)
	}
	s, err := newRelay(b, &o)
	must(t, err)
	return serve(t, t.Context(), s)
}

func wantSent(t *testing.T, w *wire, want ...string) {
	t.Helper()
	if got := w.taken(); !slices.Equal(got, want) {
		t.Errorf("the client got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func wantBehind(t *testing.T, b *behind, want ...string) {
	t.Helper()
	if got := b.taken(); !slices.Equal(got, want) {
		t.Errorf("the receiver got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func wantEnd(t *testing.T, w *wire) {
	t.Helper()
	if err := w.finish(); err != nil {
		t.Errorf("Serve returned %v, want nil", err)
	}
}

func TestRelayForwardsMessagesUnchanged(t *testing.T) {
	modernMeta := `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":1},"odd name/!":1e400,"progressToken":1.5}`
	for _, tt := range []struct{ method, params, result string }{
		{"tools/call", `{"name":"no such name, really","arguments":[1,2],"x":{"y":null}}`,
			`{"content":"none","isError":"maybe"}`},
		{"tools/call", ` { "name" : 7 }`, ` { "resultType" : "novel" , "z":1.0e+2}`},
		{"tools/list", "", `{"tools":7}`},
		{"tools/call", `{"_meta":` + modernMeta + `,"name":"t"}`, `{"resultType":"input_required","_meta":{"bad name":1}}`},
		{"server/discover", `{"_meta":` + modernMeta + `}`, `{"supportedVersions":["2099-01-01"]}`},
		{"subscriptions/listen", `{"notifications":{"x":true}}`, `{}`},
		{"logging/setLevel", `{"level":"shouting"}`, `{}`},
		{"acme/very odd", `{"\u0061":1}`, `{"a":1,"a":2}`},
		{"completion/complete", `{"task":{"ttl":-1}}`, `{"task":{}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &behind{receive: func(r *handed) { r.answer(json.RawMessage(tt.result), nil) }}
			w := relayed(t, b, downstream.Options{})
			params := ""
			if tt.params != "" {
				params = `,"params":` + tt.params
			}
			method, err := json.Marshal(tt.method)
			must(t, err)
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"a\"b","method":%s%s}`, method, params))
			wantBehind(t, b, tt.method+" "+strings.TrimSpace(tt.params))
			wantSent(t, w, `{"jsonrpc":"2.0","id":"a\"b","result":`+tt.result+`}`)
			wantEnd(t, w)
		})
	}
}

func TestRelayForwardsErrors(t *testing.T) {
	object := `{"data":null,"message":"no","code":-32002,"hint":[1]}`
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"of a peer": {&relay.Error{Object: json.RawMessage(object), Server: &mcp.Error{Code: -32002}}, object},
		"wrapped":   {fmt.Errorf("x: %w", &relay.Error{Object: json.RawMessage(object), Server: &mcp.Error{}}), object},
		"with a code": {&mcp.Error{Code: -32010, Message: "m", Data: json.RawMessage(`1`)},
			`{"code":-32010,"message":"m","data":1}`},
		"any other": {errors.New("the server is down"), `{"code":-32603,"message":"the server is down"}`},
	} {
		for _, meta := range []string{`"a":1`, bothMetas} {
			synctest.Test(t, func(t *testing.T) {
				b := &behind{receive: func(r *handed) { r.answer(nil, tt.err) }}
				w := relayed(t, b, downstream.Options{})
				w.send(asked(1, "tools/call", meta, `"name":"t"`))
				want := `{"jsonrpc":"2.0","id":1,"error":` + tt.want + `}`
				if got := w.taken(); !slices.Equal(got, []string{want}) {
					t.Errorf("an error %s in answer to %s reached the client as %q, want %s", name, meta, got, want)
				}
				wantEnd(t, w)
			})
		}
	}
}

func TestARelayKeepsTheOrderOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		var frames, want []string
		for i := range 200 {
			params := fmt.Sprintf(`{"n":%d}`, i)
			switch i % 3 {
			case 0:
				frames = append(frames, `{"jsonrpc":"2.0","method":"notifications/n","params":`+params+`}`)
				want = append(want, "notifications/n "+params)
			default:
				frames = append(frames, requestOf(i, "tools/call", params))
				want = append(want, "tools/call "+params)
			}
		}
		w.send(frames...)
		wantBehind(t, b, want...)
		peer := b.peer(t)
		want = nil
		for i, r := range b.calls {
			params := json.RawMessage(fmt.Sprintf(`{"m":%d}`, i))
			must(t, peer.Notify(r.ctx, relay.Message{Method: "notifications/m", Params: params}))
			r.answer(params, nil)
			var id struct{ N int }
			must(t, json.Unmarshal([]byte(r.params), &id))
			want = append(want, `{"jsonrpc":"2.0","method":"notifications/m","params":`+string(params)+`}`,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id.N, params))
		}
		wantSent(t, w, want...)
		wantEnd(t, w)
	})
}

func TestRelayKeepsReadingDuringInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		w.send(requestOf(1, "tools/list", `{}`), pingRequest, initializeAs("2025-06-18"), pingRequest, initialized,
			requestOf(2, "ping", `{"a":1}`))
		hello := `initialize {"protocolVersion":"2025-06-18",`
		got := b.taken()
		if len(got) != 3 || got[0] != "tools/list {}" || !strings.HasPrefix(got[1], hello) ||
			!strings.HasPrefix(got[2], "notifications/initialized") {
			t.Errorf("the receiver got %q, want all but the pings", got)
		}
		wantSent(t, w, `{"jsonrpc":"2.0","id":"ping","result":{}}`, `{"jsonrpc":"2.0","id":"ping","result":{}}`,
			`{"jsonrpc":"2.0","id":2,"result":{}}`)
		b.calls[1].answer(json.RawMessage(`{"protocolVersion":"2025-03-26","capabilities":[]}`), nil)
		w.taken()
		w.send(requestOf(3, "ping", `{"a":1}`), `[`+requestOf(4, "a", `{}`)+`]`)
		wantBehind(t, b, `ping {"a":1}`, "a {}") // 2025-03-26 has batches
		b.last(t).answer(json.RawMessage(`{}`), nil)
		wantSent(t, w, `[{"jsonrpc":"2.0","id":4,"result":{}}]`)
		wantEnd(t, w)
	})
}

func TestClientCancellationEndsRelayedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		w := relayed(t, b, downstream.Options{})
		w.send(requestOf(1, "tools/call", `{}`), requestOf(1, "tools/call", `{}`))
		wantSent(t, w,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with this id is still being answered"}}`)
		r := b.last(t)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the user said so"}}`)
		if cause := context.Cause(r.ctx); cause == nil || cause.Error() != "the user said so" {
			t.Errorf("the context ended because of %v, want the client's reason", cause)
		}
		wantBehind(t, b, "tools/call {}")
		r.answer(json.RawMessage(`{}`), nil)
		r.answer(json.RawMessage(`{}`), nil)
		wantSent(t, w)

		w.send(requestOf(1, "tools/call", `{"again":1}`)) // the id is free again
		r = b.last(t)
		r.answer(json.RawMessage(`{"a":1}`), nil)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		r.answer(json.RawMessage(`{"b":1}`), nil)
		r.answer(nil, errors.New("no"))
		wantSent(t, w, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`)
		if r.ctx.Err() == nil {
			t.Error("the context of a request that was answered goes on")
		}
		wantEnd(t, w)
	})
}

func TestALargeAnswerReachesTheClientInOnePiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
		b := &behind{}
		s, err := newRelay(b, &downstream.Options{Name: "relay", Telemetry: checked(t)})
		must(t, err)
		in, out, result := piped(t, t.Context(), s, 0)
		out.Buffer(nil, 2<<20)
		_, err = io.WriteString(in, requestOf(1, "tools/call", `{}`)+"\n"+requestOf(2, "tools/call", `{}`)+"\n")
		must(t, err)
		synctest.Wait()
		sent := 0
		go func() {
			b.calls[0].answer(json.RawMessage(large), nil)
			must(t, b.peer(t).Notify(t.Context(), relay.Message{Method: "n"}))
			sent++
			b.calls[1].answer(json.RawMessage(large), nil) // the client does not read this large answer
			sent++
		}()
		synctest.Wait()
		if sent != 0 {
			t.Error("a large answer was taken by a client that does not read")
		}
		answer := `{"jsonrpc":"2.0","id":1,"result":` + large + `}`
		for _, want := range []string{answer, `{"jsonrpc":"2.0","method":"n"}`} {
			if !out.Scan() || out.Text() != want {
				t.Errorf("the client got %.60q of %d bytes, want %.60q", out.Text(), len(out.Text()), want)
			}
		}
		must(t, in.Close())
		if err := <-result; err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
		synctest.Wait()
		if sent != 2 {
			t.Error("an answer waits for a client that was served")
		}
	})
}

func TestFailedReceiverIsAnsweredWithInternalError(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("no") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &behind{receive: func(*handed) { fail() }, hear: func(context.Context, relay.Message, relay.Peer) { fail() }}
				w := relayed(t, b, downstream.Options{})
				w.send(requestOf(1, "a", `{}`), `{"jsonrpc":"2.0","method":"n"}`, requestOf(2, "b", `{}`))
				wantBehind(t, b, "a {}", "n ", "b {}")
				wantSent(t, w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`,
					`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"internal error"}}`)
				b.last(t).answer(json.RawMessage(`{}`), nil)
				wantSent(t, w)
				wantEnd(t, w)
			})
		})
	}
}
