package conn

import (
	"context"
	"sync"
	"time"
)

// stopwatch bounds parts of a handshake, one after the other. It stands still while the handshake waits for an
// authorization, and then begins anew.
type stopwatch struct {
	mu    sync.Mutex
	held  bool          // guarded by mu
	limit time.Duration // guarded by mu; of the present part
	timer *time.Timer   // guarded by mu; nil between parts
}

// within returns a context that ends with ctx, or when the part that begins now has taken longer than limit. The part
// ends with the call of done.
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

// hold stops the watch, or lets it go on.
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
