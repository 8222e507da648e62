package conn

import (
	"context"
	"sync"
	"time"
)

// stopwatch bounds the parts of a handshake, one after the other. It stops while the handshake waits for an
// authorization, or for the first output of a server process. After that, the present part starts again from zero.
type stopwatch struct {
	mu    sync.Mutex
	held  bool          // guarded by mu
	limit time.Duration // limit of the present part; guarded by mu
	timer *time.Timer   // nil between parts; guarded by mu
}

// within starts a part. It returns a context that ends with ctx, or when the part has taken longer than limit. done
// ends the part.
func (s *stopwatch) within(ctx context.Context, limit time.Duration) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.timer = limit, time.AfterFunc(limit, cancel)
	if s.held {
		s.timer.Stop()
	}
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.timer.Stop()
		s.timer = nil
		cancel()
	}
}

// hold stops the watch if on is true, and otherwise starts the present part again from zero.
func (s *stopwatch) hold(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = on
	switch {
	case s.timer == nil:
	case on:
		s.timer.Stop()
	default:
		s.timer.Reset(s.limit)
	}
}
