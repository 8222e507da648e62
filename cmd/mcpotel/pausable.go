package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// pausable is a context with a time limit that pauses while a person answers a question. Calls to a legacy server need
// a pausable, because the client does not know to which of its calls a question of the server belongs.
type pausable struct {
	context.Context
	end context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer
	since  time.Time     // start of the timer; guarded by mu
	left   time.Duration // remaining time at since; guarded by mu
	asking bool          // the timer is stopped; guarded by mu
	over   bool          // the time has expired; guarded by mu
}

// pausable returns the context and the options for a call. done ends the context.
func (c *connection) pausable(ctx context.Context, client *mcpclient.Client) (_ context.Context,
	_ []mcpclient.CallOption, done func()) {
	if !c.streams.person || c.longest <= 0 || client.ProtocolVersion().Era() == mcp.Modern {
		return ctx, nil, func() {}
	}
	p, done := c.console.pausable(ctx, c.longest)
	return p, []mcpclient.CallOption{mcpclient.WithTimeout(-1)}, done
}

// inTime runs work within --timeout, if the flag is set and the command is not endless.
func (c *connection) inTime(ctx context.Context, work func(context.Context) error) error {
	if c.timeout == 0 || c.endless {
		return work(ctx)
	}
	p, done := c.console.pausable(ctx, c.timeout)
	defer done()
	err := work(p)
	if err != nil && p.remaining() <= 0 {
		return &exitError{exitConnection, fmt.Errorf("%w; --timeout %v has expired", err, c.timeout)}
	}
	return err
}

// connecting waits for a connection for at most --connect-timeout, and half a second longer: the client's own timeouts
// are equally long and have better errors, so they should expire first. With --auth there is no limit, because a person
// authorizes.
func (c *connection) connecting(ctx context.Context, wait func(context.Context) error) error {
	if c.connectTimeout == 0 || c.remote.auth {
		return wait(ctx)
	}
	const ownFirst = 500 * time.Millisecond
	limited, cancel := context.WithTimeout(ctx, c.connectTimeout+ownFirst)
	defer cancel()
	begun := time.Now()
	err := wait(limited)
	if err != nil && time.Since(begun) >= c.connectTimeout && ctx.Err() == nil {
		return fmt.Errorf("%w; --connect-timeout %v has expired", err, c.connectTimeout)
	}
	return err
}

// pausable returns a context whose timer pauses while this console asks a person. done ends the context.
func (c *console) pausable(ctx context.Context, d time.Duration) (_ *pausable, done func()) {
	p := newPausable(ctx, d)
	forget := c.watched(p)
	return p, func() {
		forget()
		p.timer.Stop()
		p.end(context.Canceled)
	}
}

func newPausable(ctx context.Context, d time.Duration) *pausable {
	p := &pausable{since: time.Now(), left: d}
	p.Context, p.end = context.WithCancelCause(ctx)
	p.timer = time.AfterFunc(d, p.expire)
	return p
}

func (p *pausable) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.asking && !p.over && p.left <= time.Since(p.since) {
		p.over = true
		p.end(context.DeadlineExceeded)
	}
}

// Err returns DeadlineExceeded when the time has expired, otherwise the error of the parent.
func (p *pausable) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return context.DeadlineExceeded
	}
	return p.Context.Err()
}

// remaining returns the remaining time.
func (p *pausable) remaining() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking {
		return p.left
	}
	return p.left - time.Since(p.since)
}

// ask pauses or resumes the timer.
func (p *pausable) ask(asking bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.asking == asking:
	case asking:
		p.left -= time.Since(p.since)
		p.timer.Stop()
	default:
		p.since = time.Now()
		p.timer.Reset(p.left)
	}
	p.asking = asking
}
