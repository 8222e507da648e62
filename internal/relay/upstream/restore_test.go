package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

const changingResult = `{"protocolVersion":"2025-11-25","serverInfo":{},"capabilities":{` +
	`"tools":{"listChanged":true},"prompts":{"listChanged":false},"resources":{"listChanged":true,"subscribe":true}}}`

// served answers a request of the peer in front. The request must have these params.
func (c *conversation) served(method, params string) {
	c.t.Helper()
	m := c.Expect(method)
	if string(m.Params) != params {
		c.t.Errorf("got %s, want params %s", m.Raw, params)
	}
	c.Answer(m, `{}`)
}

func TestLostSessionIsRestored(t *testing.T) {
	relaying(t, nil, legacyIntro, nil, func(t *testing.T, s *script, b *front) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), changingResult)
		b.confirm()
		const level, a = `{"level": "odd"}`, `{"uri":"file:///a","x":1e400}`
		for _, m := range [][2]string{
			{mcp.MethodSetLevel, `{"level":"info"}`}, {mcp.MethodSetLevel, level},
			{mcp.MethodSubscribe, `{"uri":"file:///b"}`}, {mcp.MethodSubscribe, a}, {mcp.MethodSubscribe, `{"uri":"file:///c"}`},
			{mcp.MethodUnsubscribe, `{"uri":"file:///b"}`},
		} {
			b.asks(t.Context(), m[0], m[1])
			v.served(m[0], m[1])
		}
		b.asks(t.Context(), mcp.MethodSetLevel, `{"level":"refused"}`)
		v.Refuse(v.Expect(mcp.MethodSetLevel), -32602, "no")
		b.heard()
		v.Close()
		synctest.Wait()
		waiting := background(func() error {
			b.asks(t.Context(), "ask", "")
			return b.server.Notify(t.Context(), relay.Message{Method: "tell"})
		})
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), changingResult)
		v.Expect(mcp.NotificationInitialized)
		b.wants("introduced result "+changingResult, "notification notifications/tools/list_changed ",
			"notification notifications/resources/list_changed ")
		v.served(mcp.MethodSetLevel, level)
		v.served(mcp.MethodSubscribe, a)
		m := v.Expect(mcp.MethodSubscribe)
		synctest.Wait()
		if b.server.Ready() {
			t.Error("the session is open before its state is restored")
		}
		v.Refuse(m, -32002, "the resource c is gone")
		v.Answer(v.Expect("ask"), `{}`)
		v.Expect("tell")
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		const updated = `notification notifications/resources/updated {"uri":"file:///a"}`
		b.wants(updated, "ask result {}")
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), initializeResult)
		v.Expect(mcp.NotificationInitialized)
		v.served(mcp.MethodSetLevel, level)
		v.served(mcp.MethodSubscribe, a)
		b.wants("introduced result "+initializeResult, updated)
		if !b.server.Ready() {
			t.Error("the session is not open")
		}
	})
}

func TestUnansweredRestorationDoesNotBlockRequests(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		b.asks(t.Context(), mcp.MethodSetLevel, `{}`)
		v.served(mcp.MethodSetLevel, `{}`)
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), initializeResult)
		v.Expect(mcp.MethodSetLevel)
		begun := time.Now()
		b.asks(t.Context(), "ask", "")
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("the request took %v, want 10s", took)
		}
	})
}

var modernIntro = relay.Introduction{Message: relay.Message{Method: mcp.MethodDiscover, Params: json.RawMessage(
	`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)}}

// listens runs f with an open subscription, which has the id "h" at the peer in front.
func listens(t *testing.T, f func(t *testing.T, s *script, v *conversation, b *front, stop func(error))) {
	t.Helper()
	relaying(t, nil, modernIntro, nil, func(t *testing.T, s *script, b *front) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), `{}`)
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		b.server.Request(ctx, relay.Message{ID: json.RawMessage(`"h"`), Method: mcp.MethodSubscriptionsListen,
			Params: json.RawMessage(listenParams)}, func(result json.RawMessage, err error) {
			b.note("%s", b.told("listen", result, err))
		})
		v.acknowledgeRelayed()
		b.wants("introduced result {}", `notification notifications/subscriptions/acknowledged `+
			`{"notifications":{"toolsListChanged":true},`+ofSubscription(`"h"`)+`}`)
		f(t, s, v, b, stop)
	})
}

const listenParams = `{"notifications":{"toolsListChanged":true},"_meta":{"x":1}}`

// acknowledgeRelayed acknowledges a subscription, and returns its id.
func (c *conversation) acknowledgeRelayed() (id string) {
	c.t.Helper()
	m := c.Expect(mcp.MethodSubscriptionsListen)
	if string(m.Params) != listenParams {
		c.t.Errorf("got %s", m.Raw)
	}
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":`+
		`{"notifications":{"toolsListChanged":true},%s}}`, ofSubscription(string(m.ID))))
	return string(m.ID)
}

func TestSubscriptionIsReopenedUnderIDOfPeer(t *testing.T) {
	listens(t, func(t *testing.T, s *script, v *conversation, b *front, _ func(error)) {
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), `{}`)
		id := v.acknowledgeRelayed()
		changed := `notification notifications/tools/list_changed {` + ofSubscription(`"h"`) + `}`
		b.wants("introduced result {}", changed)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{%s}}`, ofSubscription(id)),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"odd","params":{%s}}`, ofSubscription("77")))
		b.wants(changed, "notification odd {"+ofSubscription("77")+"}")
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",%s}}`, id, ofSubscription(id)))
		b.wants(`listen result {"resultType":"complete",` + ofSubscription(`"h"`) + `}`)
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), `{}`)
		b.wants("introduced result {}")
		b.asks(t.Context(), "ask", "")
		v.Expect("ask") // the ended subscription is not reopened
	})
}

func TestLostSubscriptionEndsWithPeerOrRelay(t *testing.T) {
	listens(t, func(t *testing.T, s *script, v *conversation, b *front, stop func(error)) {
		v.Close()
		b.wants()
		stop(errors.New("enough"))
		if got := b.heard(); len(got) != 1 || !strings.HasPrefix(got[0], "listen cancelled unsent=false: ") {
			t.Errorf("got %q", got)
		}
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), `{}`)
		b.wants("introduced result {}")
		b.asks(t.Context(), "ask", "")
		v.Expect("ask")
	})
	listens(t, func(t *testing.T, s *script, v *conversation, b *front, _ func(error)) {
		v.Close()
		b.wants()
		if err := b.server.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		b.wants("listen other: client is shut down", "gone")
	})
}

func TestSubscriptionCancelledByServerEnds(t *testing.T) {
	listens(t, func(t *testing.T, s *script, v *conversation, b *front, _ func(error)) {
		v.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"no more"}}`)
		b.wants("listen other: the server cancelled the request: no more")
	})
}

func TestRestoredStateIsBounded(t *testing.T) {
	session(t, nil, nil, func(t *testing.T, s *script, v *conversation, b *front) {
		b.confirm()
		params := func(i int) string {
			return fmt.Sprintf(`{"uri":"%d%s"}`, i, strings.Repeat("x", restoredBytes/4))
		}
		for i := range 5 {
			b.asks(t.Context(), mcp.MethodSubscribe, params(i))
			v.served(mcp.MethodSubscribe, params(i))
		}
		b.asks(t.Context(), mcp.MethodUnsubscribe, params(0))
		v.served(mcp.MethodUnsubscribe, params(0))
		b.asks(t.Context(), mcp.MethodSubscribe, params(5))
		v.served(mcp.MethodSubscribe, params(5))
		b.heard()
		v.Close()
		v = b.again(s.next(t))
		for _, i := range []int{1, 2, 5} {
			v.served(mcp.MethodSubscribe, params(i))
		}
		if n := len(b.heard()); n != 3 {
			t.Errorf("the peer in front got %d updates, want one for each restored resource", n)
		}
		b.asks(t.Context(), "ask", "")
		v.Expect("ask")
		if size := b.server.restored.size; size > restoredBytes {
			t.Errorf("%d bytes are kept", size)
		}
	})
}
