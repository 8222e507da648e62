package mcptest

import (
	"context"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/internal/mock"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Replay returns a transport to a server that replays a recording of "mcpotel proxy --record FILE --record-content". A
// test may dial the transport any number of times: each connection uses the next session of the recording. After the
// last session, Replay starts over with the first.
//
// A request gets the recorded answer of the first unused request that has the same method and, without _meta, equal
// params. For initialize, Replay compares only the revision. A request without a match gets an error, and fails the
// test with the differences from the most similar recorded request. The test also fails if the client answers a
// request of the server differently from the recording. The client may send tasks/get and ping any number of times.
// Notifications, progress and requests of the server keep their order, but have no delays.
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
