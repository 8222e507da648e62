package transport

import (
	"context"
	"time"
)

const (
	// defaultGrace bounds Close when its context has no deadline.
	defaultGrace = 5 * time.Second

	// settle is a short wait for an event that follows an end: the last byte after the end of a process, or the return of
	// a function after the end of its context.
	settle = 50 * time.Millisecond
)

// patience is the time budget of one Close, which it spends step by step.
type patience struct {
	start  time.Time
	budget time.Duration
}

// patienceOf returns the time until the deadline of ctx, no time if ctx has ended, and grace if ctx has no deadline.
func patienceOf(ctx context.Context, grace time.Duration) patience {
	now := time.Now()
	deadline, ok := ctx.Deadline()
	switch {
	case ctx.Err() != nil:
		return patience{start: now}
	case ok:
		return patience{start: now, budget: deadline.Sub(now)}
	}
	return patience{start: now, budget: grace}
}

// await waits for done until percent of the budget has passed or ctx ends. It reports whether done was closed.
func (p patience) await(ctx context.Context, done <-chan struct{}, percent int) bool {
	return await(ctx, done, time.Until(p.start.Add(p.budget*time.Duration(percent)/100)))
}

// last waits for done until the budget is spent, and at least for settle. It reports whether done was closed.
func (p patience) last(done <-chan struct{}) bool {
	return within(max(settle, time.Until(p.start.Add(p.budget))), done)
}

// within waits for done and reports whether it was closed within d.
func within(d time.Duration, done <-chan struct{}) bool {
	return await(context.Background(), done, d)
}

// await waits for done, at most for d and until ctx ends. It reports whether done was closed, even if d has passed or
// ctx has ended at the same time.
func await(ctx context.Context, done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
