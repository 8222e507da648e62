package transport

import (
	"context"
	"time"
)

const (
	// defaultGrace is how long Close may take when its context does not say.
	defaultGrace = 5 * time.Second

	// settle is how long what follows from an end is waited for: the last byte after the end of a process, the return of a
	// function whose context has ended.
	settle = 50 * time.Millisecond
)

// patience is the time one Close has, to be spent step by step.
type patience struct {
	start  time.Time
	budget time.Duration
}

// patienceOf returns the time until the deadline of ctx, none if ctx has ended, and grace if it has no deadline.
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

// await waits for done until so many percent of the time have passed or ctx has ended. It reports whether done came.
func (p patience) await(ctx context.Context, done <-chan struct{}, percent int) bool {
	return await(ctx, done, time.Until(p.start.Add(p.budget*time.Duration(percent)/100)))
}

// last waits for done until the time is over, and a moment if it is over already. It reports whether done came.
func (p patience) last(done <-chan struct{}) bool {
	return within(max(settle, time.Until(p.start.Add(p.budget))), done)
}

// within waits for done and reports whether it came within d.
func within(d time.Duration, done <-chan struct{}) bool {
	return await(context.Background(), done, d)
}

// await waits for done, at most for d and until ctx has ended. It reports whether done came, and prefers to.
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
