package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// pausable is a context that ends after some time, in which that does not count during which a person is asked. A call
// of a legacy server needs it: nothing tells the client for which of its calls the server asks.
type pausable struct {
	context.Context
	end context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer
	since  time.Time     // guarded by mu; when the timer was started
	left   time.Duration // guarded by mu; when the timer was started
	asking bool          // guarded by mu; the timer stands still
	over   bool          // guarded by mu
}

// pausable returns the context for a call, and the options that go with it. done ends it.
func (c *connection) pausable(ctx context.Context, client *mcpclient.Client) (_ context.Context,
	_ []mcpclient.CallOption, done func()) {
	if !c.streams.person || c.longest <= 0 || client.ProtocolVersion().Era() == mcp.Modern {
		return ctx, nil, func() {}
	}
	p, done := c.console.pausable(ctx, c.longest)
	return p, []mcpclient.CallOption{mcpclient.WithTimeout(-1)}, done
}

// inTime does the work of a command within the time of the whole, if there is a limit.
func (c *connection) inTime(ctx context.Context, work func(context.Context) error) error {
	if c.timeout == 0 || c.endless {
		return work(ctx)
	}
	p, done := c.console.pausable(ctx, c.timeout)
	defer done()
	err := work(p)
	if err != nil && p.remaining() <= 0 {
		return &exitError{exitConnection, fmt.Errorf("%w; the time of --timeout %v is over", err, c.timeout)}
	}
	return err
}

// connecting waits for a connection no longer than it may take. The client's own timeouts, which are as long and know
// what they wait for, come first; and persons who authorize are not hurried.
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
		return fmt.Errorf("%w; the time of --connect-timeout %v is over", err, c.connectTimeout)
	}
	return err
}

// pausable returns a context whose time stands still while a person is asked at this console. done ends it.
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

// Err says that the time is over, or what the parent says.
func (p *pausable) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return context.DeadlineExceeded
	}
	return p.Context.Err()
}

// remaining returns how much time is left.
func (p *pausable) remaining() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking {
		return p.left
	}
	return p.left - time.Since(p.since)
}

// ask says whether a person is being asked.
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
