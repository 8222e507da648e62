package mcpclient

import (
	"cmp"
	"context"
	"time"
)

// An operation is what a user calls: it may take more requests than one, such as a list of the tools before the call of
// one. Its timeout is for all of them together, until the server has answered the call with a wish for input: a person
// may take time.

// until bounds the first request of a call, and what the client does before, by a moment.
func until(by time.Time) CallOption { return func(a *asked) { a.By = by } }

// timed fixes when the time of an operation with these options is over.
func (cfg *config) timed(options []CallOption, begun time.Time) []CallOption {
	a := askedBy(options)
	by := cfg.endOf(a, begun)
	if by.IsZero() {
		return options
	}
	return append(options[:len(options):len(options)], until(by))
}

// endOf returns when the time of an operation is over, zero for never. If it is a part of another, that is fixed.
func (cfg *config) endOf(a *asked, begun time.Time) time.Time {
	if timeout := cmp.Or(a.Timeout, cfg.RequestTimeout); a.By.IsZero() && timeout > 0 {
		return begun.Add(timeout)
	}
	return a.By
}

// within bounds a part of an operation with these options that is no request by the time there is.
func (cfg *config) within(ctx context.Context, options []CallOption) (context.Context, context.CancelFunc) {
	a := askedBy(options)
	if by := cfg.endOf(a, time.Now()); !by.IsZero() {
		return context.WithDeadlineCause(ctx, by, ErrTimeout)
	}
	return context.WithCancel(ctx)
}

// toList returns the options for a list that is a part of an operation with these: its time, and what it waits for.
func toList(options []CallOption) []CallOption {
	a := askedBy(options)
	ask := []CallOption{WithTimeout(a.Timeout), until(a.By)}
	if a.Wait {
		ask = append(ask, WaitForReady())
	}
	if a.WaitForRoom {
		ask = append(ask, WaitForRoom())
	}
	if a.GoesOn {
		ask = append(ask, goesOn)
	}
	return ask
}
