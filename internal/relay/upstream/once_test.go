package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcptest"
)

// For all behaviours of the server and of the peers, each request has one outcome, and the counts are consistent.
func TestEachRelayedRequestHasOneOutcome(t *testing.T) {
	const requests = 400
	relaying(t, &Options{RequestTimeout: 5 * time.Second}, legacyIntro, nil, func(t *testing.T, s *script, b *front) {
		b.confirm()
		fate := rand.New(rand.NewPCG(1, 2))
		stop := make(chan struct{})
		var server sync.WaitGroup
		server.Go(func() {
			for {
				select {
				case v := <-s.Conversations():
					unreliable(v.Peer().Receive, v.Peer().Send, v.Close, v.Context(), fate)
				case <-stop:
					return
				}
			}
		})
		var outcomes [requests]int
		var mu sync.Mutex
		methods := []string{mcp.MethodCallTool, mcp.MethodReadResource, mcp.MethodSubscriptionsListen, "odd"}
		var all sync.WaitGroup
		for i := range requests {
			all.Add(1)
			ctx := t.Context()
			if i%3 == 0 {
				leaving, cancel := context.WithCancelCause(ctx)
				time.AfterFunc(time.Duration(i)*time.Millisecond, func() { cancel(errors.New("enough")) })
				ctx = leaving
			}
			m := relay.Message{ID: json.RawMessage(fmt.Sprint(i)), Method: methods[i%4], Params: json.RawMessage(`{"name":"x"}`)}
			go b.server.Request(ctx, m, func(json.RawMessage, error) {
				mu.Lock()
				defer mu.Unlock()
				if outcomes[i]++; outcomes[i] == 1 {
					all.Done()
				}
			})
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		for i, n := range outcomes {
			if n != 1 {
				t.Errorf("request %d has %d outcomes", i, n)
			}
		}
		if i := b.server.Inspect(); i.InFlight != 0 {
			t.Errorf("%d requests are in flight", i.InFlight)
		}
		close(stop)
		_ = b.server.Stop(context.Background())
		server.Wait()
	})
}

// unreliable is a server that answers a request, ignores or cancels it, or ends the connection, at random.
func unreliable(receive func(context.Context) ([]byte, error), send func(context.Context, []byte) error, end func(),
	ctx context.Context, fate *rand.Rand) {
	defer end()
	for {
		raw, err := receive(ctx)
		var m mcptest.Message
		_ = json.Unmarshal(raw, &m) // an invalid message has no id
		switch n := fate.IntN(20); {
		case err != nil:
			return
		case m.ID == nil:
		case m.Method == mcp.MethodInitialize || n < 14:
			err = send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
		case n == 14:
			err = send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":""}}`, m.ID))
		case n == 15:
			err = send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`,
				m.ID))
		case n == 16:
			return
		}
		if err != nil {
			return
		}
	}
}
