package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// errTooLong is the cause that ends a run when its time is up.
var errTooLong = errors.New("the user did not authorize in time")

// run is an authorization or a renewal under way, at most one per Authorizer. It goes on when those who wait for it
// have left: a person may be half-way through.
type run struct {
	demand demand
	renew  bool // get a token like the last one, as it has expired
	done   chan struct{}
	err    error // how it ended; to be read when done is closed
}

// start begins r in a goroutine that ends with the flow, with [Options.InteractionTimeout] or with Close. It is called
// with mu.
func (a *Authorizer) start(ctx context.Context, r *run) *run {
	r.done = make(chan struct{})
	a.running = r
	flow := &flow{a: a, fetch: a.fetcher.For(a.server), url: a.server, demand: r.demand, last: a.session}
	a.going.Go(func() {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(untraced{ctx}), a.o.InteractionTimeout, errTooLong)
		defer cancel()
		defer context.AfterFunc(a.life, cancel)()
		s, err := (*session)(nil), error(refuse(StepAuthorize, "%w", usercode.ErrExited))
		defer func() { a.finish(r, s, err) }() // even if code of the user's ends the goroutine
		s, err = a.execute(ctx, flow, r.renew)
	})
	return r
}

// untraced is the context of a request without its [httptrace.ClientTrace], which is to see the request's own
// connection and none of the flow's.
type untraced struct{ context.Context }

// Value implements [context.Context].
func (u untraced) Value(key any) any {
	v := u.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// execute runs a flow, in which code of the user may panic.
func (a *Authorizer) execute(ctx context.Context, f *flow, renew bool) (s *session, err error) {
	usercode.Run(func() {
		if renew {
			s, err = f.renew(ctx)
		} else {
			s, err = f.authorize(ctx)
		}
	}, func(failed *usercode.Failure) {
		a.o.Logger.ErrorContext(ctx, "panic in an authorization", "type", fmt.Sprintf("%T", failed.Value), "stack",
			string(failed.Stack))
		s, err = nil, refuse(StepAuthorize, "%w", failed)
	})
	if err != nil && a.life.Err() != nil {
		err = refuse(StepAuthorize, "%w", ErrClosed)
	}
	return s, err
}

// finish makes known how r ended.
func (a *Authorizer) finish(r *run, s *session, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if err == nil {
		a.session, a.failed = s, nil
	} else {
		a.failed, a.pause = r, now.Add(failurePause)
	}
	if r.renew && permanent(err) {
		a.session = a.session.afterRefusal(now)
	}
	switch {
	case err == nil && s.source == granted:
		a.noteAsked(s.requested, now)
	case r.demand.stepUp && permanent(err):
		a.noteAsked(r.demand.scopes, now)
	}
	a.running, r.err = nil, err
	close(r.done)
}

// wait waits for the end of r within ctx.
func (r *run) wait(ctx context.Context, step Step) error {
	select {
	case <-r.done:
		return r.err
	default:
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return &Error{Step: step, Err: context.Cause(ctx)}
	}
}
