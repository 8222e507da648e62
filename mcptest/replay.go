package mcptest

import (
	"context"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/internal/mock"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Replay returns a transport to a server that says what another one has said in a recording, which "mcpotel proxy
// --record FILE --record-content" has written. It may be dialled any number of times: each connection is one session of
// the recording, in their order and then from the first one again.
//
// A request finds the first recorded one that equals it and was not asked for yet: its method and its params as values,
// without _meta, and of initialize the revision only. One that finds none is answered with an error, and fails the test
// with what differs from the nearest. So does an answer to what the server asks that differs from the recorded one.
// How often tasks/get and ping are sent is free. Notifications, progress and requests of the server come where they
// stood, and all at once: nothing is as slow as it was.
//
// A file that cannot be read ends the test.
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
		_ = s.Serve(ctx, p) // what a client leaves behind is no mistake of the test
	})
}

// replay tells a test of differences, as long as it runs.
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
