package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// errTooLong is the cancellation cause of a run that timed out.
var errTooLong = errors.New("the user did not authorize in time")

// run is an authorization or a renewal in progress. An Authorizer has at most one. A run continues after its waiters
// have left, because a person may be about to authorize.
type run struct {
	demand demand
	renew  bool // the run replaces an expired or expiring token by a new token with the same scopes
	done   chan struct{}
	err    error // outcome; read it only after done is closed
}

// start runs r in a goroutine. The goroutine ends with the flow, which [Options.InteractionTimeout] and Close also end.
// The caller holds mu.
func (a *Authorizer) start(ctx context.Context, r *run) *run {
	r.done = make(chan struct{})
	a.running = r
	flow := &flow{a: a, fetch: a.fetcher.For(a.server), url: a.server, demand: r.demand, last: a.session}
	a.runs.Go(func() {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(untraced{ctx}), a.o.InteractionTimeout, errTooLong)
		defer cancel()
		defer context.AfterFunc(a.ctx, cancel)()
		s, err := (*session)(nil), error(refuse(StepAuthorize, "%w", usercode.ErrExited))
		defer func() { a.finish(r, s, err) }() // runs even if user code calls runtime.Goexit
		s, err = a.execute(ctx, flow, r.renew)
	})
	return r
}

// untraced is the context of a request without its [httptrace.ClientTrace], because the trace must not report the
// connections of the flow.
type untraced struct{ context.Context }

// Value implements [context.Context].
func (u untraced) Value(key any) any {
	v := u.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// execute runs a flow and recovers from panics of user code.
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
	if err != nil && a.ctx.Err() != nil {
		err = refuse(StepAuthorize, "%w", ErrClosed)
	}
	return s, err
}

// finish records the outcome of r and wakes its waiters.
func (a *Authorizer) finish(r *run, s *session, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if err == nil {
		a.session, a.failed = s, nil
	} else {
		a.failed, a.pauseEnd = r, now.Add(failurePause)
	}
	if r.renew && permanent(err) {
		a.session = a.session.afterRefusal(now)
	}
	switch {
	case err == nil && s.source == granted:
		a.recordRequested(s.requested, now)
	case r.demand.stepUp && permanent(err):
		a.recordRequested(r.demand.scopes, now)
	}
	a.running, r.err = nil, err
	close(r.done)
}

// wait waits for the end of r, within ctx.
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
