package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestMessagesAreRelayedUnchanged(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		for i, params := range []string{
			``, `{}`, `{ "a" : 1e400, "a":12345678901234567890.0 }`,
			`{"_meta":{"traceparent":"S","no name":1,"":{}},"x":"\ud83d\ude00"}`,
			`{"_meta":null}`, `{"_meta":{"progressToken":1.5}}`,
		} {
			b.asks(t.Context(), "odd/method", params)
			want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"odd/method"`, i+2)
			if params != "" {
				want += `,"params":` + params
			}
			m := v.Receive()
			if m.Raw != want+"}" {
				t.Errorf("got %s, want %s}", m.Raw, want)
			}
			v.Answer(m, `{}`)
			b.wants("odd/method result {}")
		}
		for _, answer := range []string{
			`"result":{"resultType":"strange","isError":"maybe","_meta":{"a b":1},"n":1e-400}`,
			`"result":{"resultType":7 , "resultType":8}`,
			`"error":{"code":-32000,"message":"no","data":null,"trace":[ 1 ]}`,
			`"error":{"code":1.5}`, `"error":{}`, `"error":{"code":1,"code":2,"message":3}`,
		} {
			b.asks(t.Context(), mcp.MethodCallTool, `{"name":"x"}`)
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, v.Receive().ID, answer))
			member, object, _ := strings.Cut(answer, ":")
			b.wants("tools/call " + strings.Trim(member, `"`) + " " + object)
		}
		b.asks(t.Context(), mcp.MethodCallTool, `{"name":"x"}`)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"a":{]}}`, v.Receive().ID))
		if got := b.heard(); len(got) != 1 || !strings.HasPrefix(got[0], "tools/call protocol unsent=false: ") {
			t.Errorf("an answer that is not JSON: got %q", got)
		}
	})
}

func TestServerMessagesAreRelayedInOrder(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		const n = 200
		var want []string
		ids := map[int]json.RawMessage{}
		for i := range n {
			switch i % 4 {
			case 0:
				b.asks(t.Context(), fmt.Sprint("ask/", i), "")
				m := v.Receive()
				if ids[i] = m.ID; m.Method != fmt.Sprint("ask/", i) {
					t.Fatalf("got %s, want request %d", m.Raw, i)
				}
			case 1, 2:
				p := json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))
				if err := b.server.Notify(t.Context(), relay.Message{Method: "tell", Params: p}); err != nil {
					t.Fatal(err)
				}
				if got := v.Receive(); string(got.Params) != string(p) {
					t.Fatalf("got %s, want notification %d", got.Raw, i)
				}
			}
		}
		for i := range n {
			switch i % 4 {
			case 0:
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"i":%d}}`, ids[i], i))
				want = append(want, fmt.Sprintf(`ask/%d result {"i":%d}`, i, i))
			case 1:
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"%s","params":{"i":%d}}`,
					[]string{"notifications/progress", "notifications/odd"}[i/4%2], i))
				want = append(want, fmt.Sprintf(`notification %s {"i":%d}`,
					[]string{"notifications/progress", "notifications/odd"}[i/4%2], i))
			case 2:
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"ask","params":{"i":%d}}`, i, i))
				want = append(want, fmt.Sprintf(`request ask {"i":%d}`, i))
			case 3:
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"i":%d}}`, i))
				want = append(want, fmt.Sprintf(`notification notifications/subscriptions/acknowledged {"i":%d}`, i))
			}
		}
		b.wants(want...)
		for _, answer := range b.requests {
			answer(json.RawMessage(`{}`), nil)
			v.Receive()
		}
	})
}

// The relay stops reading from the server while the peer in front accepts no message. No message is lost.
func TestBlockedPeerStopsReading(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		goOn := make(chan struct{})
		b.blocked = func(ctx context.Context, method string) {
			if method == "first" {
				<-goOn
			}
		}
		b.asks(t.Context(), "ask", "")
		id := v.Receive().ID
		want, frames := []string{"notification first "}, []string{`{"jsonrpc":"2.0","method":"first"}`}
		for i := range 50 {
			frames = append(frames, fmt.Sprintf(`{"jsonrpc":"2.0","method":"next","params":{"i":%d}}`, i))
			want = append(want, fmt.Sprintf(`notification next {"i":%d}`, i))
		}
		frames = append(frames, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
		sent := 0
		said := background(func() error {
			for _, f := range frames {
				if err := v.Peer().Send(t.Context(), []byte(f)); err != nil {
					return err
				}
				sent++
			}
			return nil
		})
		b.wants()
		if sent > 3 {
			t.Errorf("%d messages have been taken from the server", sent)
		}
		b.asks(t.Context(), "other", "") // relayed at once
		m := v.Expect("other")
		b.wants()
		close(goOn)
		if err := <-said; err != nil {
			t.Fatal(err)
		}
		v.Answer(m, `{}`)
		b.wants(append(want, "ask result {}", "other result {}")...)
	})
}

func TestPeerAnswersServerRequests(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		for i, c := range []struct {
			id, result string
			err        error
			want       string
		}{
			{`"a\u0062"`, `{"x":1e400,"_meta":{"odd name":1}}`, nil, `"result":{"x":1e400,"_meta":{"odd name":1}}`},
			{`7`, "", &relay.Error{Object: json.RawMessage(`{"code":1.5,"data":null}`), Server: &mcp.Error{Code: 1}},
				`"error":{"code":1.5,"data":null}`},
			{`8`, "", &mcp.Error{Code: -5, Message: "no"}, `"error":{"code":-5,"message":"no"}`},
			{`9`, "", errors.New("the peer has left"), `"error":{"code":-32603,"message":"the peer has left"}`},
		} {
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"i":%d}}`, c.id, i))
			b.wants(fmt.Sprintf(`request elicitation/create {"i":%d}`, i))
			b.requests[i](json.RawMessage(c.result), c.err)
			got := v.Receive().Raw
			if want := `,` + c.want + `}`; !strings.HasSuffix(got, want) || !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`) {
				t.Errorf("got %s, want …%s", got, want)
			}
			if b.contexts[i].Err() == nil {
				t.Error("the context of an answered request has not ended")
			}
		}
		v.Send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		b.wants("request ping ")
		b.requests[4](json.RawMessage(`{}`), nil)
		v.Receive()
	})
}

func TestCancellationGoesBothWays(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		for why, want := range map[error]string{errors.New("the user left"): `,"reason":"the user left"`, nil: ""} {
			ctx, cancel := context.WithCancelCause(t.Context())
			b.asks(ctx, mcp.MethodCallTool, `{"name":"x"}`)
			id := v.Receive().ID
			cancel(why)
			got := v.Expect(mcp.NotificationCancelled)
			if string(got.Params) != fmt.Sprintf(`{"requestId":%s%s}`, id, want) {
				t.Errorf("got %s, want %s%s", got.Raw, id, want)
			}
			for _, line := range b.heard() {
				if !strings.HasPrefix(line, "tools/call cancelled unsent=false: ") {
					t.Errorf("got %q", line)
				}
			}
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
			b.wants()
		}
		v.Send(`{"jsonrpc":"2.0","id":3,"method":"ask"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"never mind"}}`)
		b.wants("request ask ")
		if why := context.Cause(b.contexts[0]); why == nil || why.Error() != "never mind" {
			t.Errorf("got %v", why)
		}
		b.requests[0](json.RawMessage(`{}`), nil)
		v.Send(`{"jsonrpc":"2.0","id":4,"method":"ask"}`)
		b.wants("request ask ")
		b.requests[1](json.RawMessage(`{}`), nil)
		if got := v.Receive(); string(got.ID) != "4" {
			t.Errorf("got %s, want no answer to the cancelled request", got.Raw)
		}
	})
}

func TestLostRequestsReportWhetherTheyWereSent(t *testing.T) {
	o := &Options{}
	session(t, o, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		b.asks(t.Context(), mcp.MethodCallTool, `{"name":"x"}`)
		v.Receive()
		v.Close()
		got := b.heard()
		if len(got) != 1 || !strings.HasPrefix(got[0], "tools/call transport unsent=false: ") {
			t.Errorf("got %q", got)
		}
		waiting := background(func() error {
			b.asks(t.Context(), "ask", "")
			return nil
		})
		v = s.next(t)
		b.confirm()
		m := v.Expect(mcp.MethodInitialize)
		b.wants()
		v.Answer(m, initializeResult)
		m = v.Expect("ask")
		<-waiting
		v.Answer(m, `{}`)
		b.wants("introduced result "+initializeResult, "ask result {}")
	})
}

func TestWaitForSessionIsBounded(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		v.Close()
		s.next(t) // sends nothing
		synctest.Wait()
		if b.server.Ready() {
			t.Error("the client is ready without a session")
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		b.asks(ctx, "impatient", "")
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("the request with a deadline took %v, want 5s", took)
		}
		b.asks(t.Context(), "patient", "")
		if took := time.Since(begun); took != 35*time.Second {
			t.Errorf("both requests took %v, want 35s", took)
		}
		err := b.server.Notify(t.Context(), relay.Message{Method: "tell"})
		if took := time.Since(begun); !errors.Is(err, conn.ErrNotReady) || took != 65*time.Second {
			t.Errorf("got %v after %v, want ErrNotReady after 65s", err, took)
		}
		got := b.heard()
		if len(got) != 2 || !strings.HasPrefix(got[0], "impatient timeout unsent=true: ") ||
			!strings.HasPrefix(got[1], "patient timeout unsent=true: patient: client is not ready in time") {
			t.Errorf("got %q", got)
		}
	})
}

func TestRelayedServerRequestsAreBounded(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, _ *script, v *conversation, b *front) {
		large := strings.Repeat("x", defaultFrameLimit*2/3)
		for i := range 2 {
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask","params":{"x":%q}}`, i+1, large))
		}
		if got := v.Receive(); string(got.Error) != `{"code":-32603,"message":"too many requests at once"}` {
			t.Errorf("got %s", got.Raw)
		}
		b.requests[0](json.RawMessage(`{}`), nil)
		v.Receive()
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"ask","params":{"x":%q}}`, large))
		if got := b.heard(); len(got) != 2 {
			t.Errorf("%d requests have been passed on, want the first and the third", len(got))
		}
		b.requests[1](json.RawMessage(`{}`), nil)
		v.Receive()
	})
}

// If a transport panics, its connection is lost and no request hangs.
func TestPanickingTransportFailsRelayedRequest(t *testing.T) {
	var broken atomic.Bool
	rig := &rigged{}
	rig.send = func(transport.Message) (error, bool) {
		if broken.Load() {
			panic("out of order")
		}
		return nil, false
	}
	session(t, nil, rig, func(t *testing.T, s *script, _ *conversation, b *front) {
		b.confirm()
		broken.Store(true)
		go b.asks(t.Context(), mcp.MethodCallTool, `{"name":"x"}`)
		if got := b.heard(); len(got) != 1 || !strings.HasPrefix(got[0], "tools/call transport unsent=false: ") {
			t.Errorf("got %q", got)
		}
		broken.Store(false)
		v := b.again(s.next(t))
		ctx, cancel := context.WithCancel(t.Context())
		b.asks(ctx, mcp.MethodCallTool, `{"name":"x"}`)
		v.Expect(mcp.MethodCallTool)
		broken.Store(true)
		cancel()
		synctest.Wait()
		broken.Store(false)
		if got := b.heard(); len(got) != 1 || !strings.HasPrefix(got[0], "tools/call cancelled ") {
			t.Errorf("got %q", got)
		}
		b.again(s.next(t))
	})
}
