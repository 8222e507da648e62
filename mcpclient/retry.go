package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Retry repeats a failed call up to n times, if that is harmless. Zero, the default, and negative values mean never.
//
// The client retries a call if two conditions hold. First, the client was not ready, the connection was lost, or the
// transport or the server was busy. Second, [SafeToRetry] holds for the error, or the call is idempotent: the method
// only reads or sets a value, or the client has listed the tool and the list marks it with readOnlyHint or
// idempotentHint. Every other outcome is final: an answer, an error of the server or of the tool, a timeout, the end of
// the context, and a failure after a first answer, such as a request for input or a task.
//
// All attempts together have the timeout of one call, see [WithTimeout]. The client waits 100 ms before the first retry
// and twice as long before each further one, up to 5 s, with ±25 % jitter. After the delay, the client waits until it
// is ready. Each attempt is a request with its own span, which has a link to the previous span and the same correlation
// ID. The log record mcp_client.request.reissued reports each retry.
func Retry(n int) CallOption { return func(a *asked) { a.retries = max(0, n) } }

// Shortest and longest delay before a retry.
const (
	retryMin = 100 * time.Millisecond
	retryMax = 5 * time.Second
)

// untilItWorks is the layer that retries a call.
func untilItWorks(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		if cl.asked.retries == 0 {
			return next(ctx, cl)
		}
		if timeout := cmp.Or(cl.Timeout, cl.c.cfg.RequestTimeout); cl.By.IsZero() && timeout > 0 {
			cl.By = time.Now().Add(timeout)
		}
		by := cl.By
		err := next(ctx, cl)
		for wait := retryMin; cl.asked.retries > 0 && cl.worthRepeating(err); wait = min(2*wait, retryMax) {
			pause := wait + time.Duration((rand.Float64()-0.5)/2*float64(wait))
			if !by.IsZero() && time.Until(by) <= pause || !conn.PauseFor(ctx, pause) {
				return err
			}
			cl.asked.retries--
			cl.Seen = cl.Seen || !err.Unsent
			cl.Wait, cl.anew = true, true
			err = next(ctx, cl)
		}
		return err
	}
}

// worthRepeating reports whether the call may be retried after err, and whether a retry may succeed.
func (cl *call) worthRepeating(err *Error) bool {
	switch {
	case err == nil, cl.again(), cl.tasks.made != nil, transport.Permanent(err):
		return false
	case err.Kind == KindTransport, err.Kind == KindState && errors.Is(err, ErrNotReady):
		return err.Unsent || cl.Harmless()
	}
	return false
}

// Harmless reports whether the call is idempotent. A tool is idempotent if the server lists it with readOnlyHint or
// idempotentHint; the client trusts the server. A call that requests a task is not idempotent, because each attempt
// creates a task.
func (cl *call) Harmless() bool {
	if cl.Method != mcp.MethodCallTool {
		return methods.Harmless(cl.Method)
	}
	t, _ := cl.c.tools.find(cl.Target)
	return t != nil && t.harmless && cl.asked.asTask == nil
}
