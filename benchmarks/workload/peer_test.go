package workload

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	Play()
	os.Exit(m.Run())
}

// peers returns the peers to test. In short mode, as under the race detector, it leaves out the floors.
func peers() []Peer {
	if testing.Short() {
		return []Peer{Ours}
	}
	return []Peer{Floor, FloorJSON, Ours}
}

func TestEveryPeerGetsTheRightAnswers(t *testing.T) {
	for _, p := range peers() {
		for _, tr := range Transports {
			for _, e := range Eras {
				for _, c := range []Canned{{e, Text, Tiny}, {e, Escaped, 10 * KiB}, {e, Items, 200 * KiB}, {e, Image, 2 * MiB},
					{e, Structured, 401}, {e, Tools, 300}} {
					t.Run(fmt.Sprintf("%s/%s/%s", p.Name, tr, c), func(t *testing.T) { rightAnswers(t, t.Context(), p, tr, c, 1) })
				}
				t.Run(fmt.Sprintf("%s/%s/%s/callers", p.Name, tr, e), func(t *testing.T) {
					rightAnswers(t, t.Context(), p, tr, Canned{e, Text, 4 * KiB}, 16)
				})
			}
		}
	}
}

func rightAnswers(t *testing.T, connection context.Context, p Peer, tr Transport, c Canned, callers int) {
	client, err := p.Connect(WithCallers(connection, callers), tr, c)
	if err != nil {
		t.Fatal(err)
	}
	call, list := c.sizes()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range 3 {
				if n, err := client.Call(context.Background(), TinyTool); err != nil || !p.Right(call, n) {
					t.Errorf("call: want %d or %d bytes, got %d, %v", call.Content, call.Size, n, err)
				}
				if n, err := client.List(context.Background()); err != nil || !p.Right(list, n) {
					t.Errorf("list: want %d tools or %d bytes, got %d, %v", list.Tools, list.Size, n, err)
				}
			}
		})
	}
	wg.Wait()
	if err := client.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestAnswersToOddRequests(t *testing.T) {
	k := newResponder(Canned{Legacy, Text, Tiny})
	for request, want := range map[string]string{
		`{"method":"tools/call","params":{},"id":"abcdefghijkl","jsonrpc":"2.0"}`: `{"jsonrpc":"2.0","id":"abcdefghijkl",` +
			`"result":{"content"`,
		`{"jsonrpc":"2.0","id":7,"method":"nothing"}`:            `{"jsonrpc":"2.0","id":7       ,"error":`,
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`:               `{"jsonrpc":"2.0","id":7,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`: ``,
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                   ``,
	} {
		if got := string(k.answer([]byte(request))); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s: want an answer that begins with %s, got %s", request, want, got)
		}
	}
}
