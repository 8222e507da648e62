package mcptest

import (
	"context"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/internal/mock"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Replay returns a transport to a server that replays a recording of "mcpotel proxy --record FILE --record-content".
// The transport may be dialled any number of times: each connection uses the next session of the recording, and
// starts over after the last one.
//
// A request gets the recorded answer of the first unused request with the same method and equal params, without _meta.
// For initialize, only the revision is compared. A request without a match gets an error, and fails the test with the
// differences from the most similar recorded request. An answer to a request of the server that differs from the
// recorded answer also fails the test. tasks/get and ping may be sent any number of times. Notifications, progress and
// requests of the server keep their order, but are sent without delays.
//
// Replay calls t.Fatal if the file cannot be read.
func Replay(t testing.TB, file string) transport.Transport {
	t.Helper()
	f, err := recording.Open(file)
	if err != nil {
		t.Fatalf("mcptest: %v", err)
	}
	r := &replay{t: t}
	s, err := mock.New(f, &mock.Options{Problem: r.problem})
	if err != nil {
		t.Fatalf("mcptest: %s: %v", file, err)
	}
	life, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		r.end()
	})
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		ctx, left := context.WithCancel(ctx)
		defer left()
		defer context.AfterFunc(life, left)()
		_ = s.Serve(ctx, p) // the error of a client that disconnects does not concern the test
	})
}

// replay reports differences to a test until the test ends.
type replay struct {
	t     testing.TB
	mu    sync.Mutex
	ended bool // guarded by mu
}

func (r *replay) problem(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.t.Errorf("mcptest: %s", text)
	}
}

func (r *replay) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
