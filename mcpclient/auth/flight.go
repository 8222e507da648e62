package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// errTooLong is the cause that ends a flight when its time is up.
var errTooLong = errors.New("nobody authorized in time")

// flight is an authorization or a renewal under way, at most one per Authorizer. It goes on when those who wait for it
// have left: a person may be half-way through.
type flight struct {
	want  want
	renew bool // get a token like the last one, as it has expired
	done  chan struct{}
	err   error // how it ended; to be read when done is closed
}

// launch starts f in a goroutine that ends with the flow, with [Options.InteractionTimeout] or with Close. It is called
// with mu.
func (a *Authorizer) launch(ctx context.Context, f *flight) *flight {
	f.done = make(chan struct{})
	a.flight = f
	flow := &flow{a: a, fetch: a.fetcher.For(a.server), url: a.server, want: f.want, last: a.session}
	a.going.Go(func() {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(apart{ctx}), a.o.InteractionTimeout, errTooLong)
		defer cancel()
		defer context.AfterFunc(a.life, cancel)()
		s, err := (*session)(nil), error(refuse(StepAuthorize, "%w", usercode.ErrExited))
		defer func() { a.land(f, s, err) }() // even if code of the user's ends the goroutine
		s, err = a.fly(ctx, flow, f.renew)
	})
	return f
}

// apart is the context of a request without its [httptrace.ClientTrace], which is to see the request's own connection
// and none of the flow's.
type apart struct{ context.Context }

// Value implements [context.Context].
func (a apart) Value(key any) any {
	v := a.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// fly runs a flow, in which code of the user may panic.
func (a *Authorizer) fly(ctx context.Context, f *flow, renew bool) (s *session, err error) {
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

// land makes known how f ended.
func (a *Authorizer) land(f *flight, s *session, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.o.Now()
	if err == nil {
		a.session, a.failed = s, nil
	} else {
		a.failed, a.pause = f, now.Add(failurePause)
	}
	if f.renew && permanent(err) {
		a.session = a.session.afterRefusal(now)
	}
	switch {
	case err == nil && s.source == granted:
		a.noteAsked(s.requested, now)
	case f.want.stepUp && permanent(err):
		a.noteAsked(f.want.scopes, now)
	}
	a.flight, f.err = nil, err
	close(f.done)
}

// wait waits for the end of f within ctx.
func (f *flight) wait(ctx context.Context, step Step) error {
	select {
	case <-f.done:
		return f.err
	default:
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return &Error{Step: step, Err: context.Cause(ctx)}
	}
}
