package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Retry makes a call again that has failed, up to n times, where that can do no harm. Zero and less mean never, which
// is the default.
//
// A call is made again if the client was not ready, the connection was lost, or the transport or the server was busy;
// and either [SafeToRetry] says so of the error, or the server may do twice what it is asked once: the method only
// reads or sets what stays set, or the tool is marked readOnlyHint or idempotentHint in the list of tools, as far as
// the client has listed them. All else is final: an answer, an error of the server or of the tool, a timeout, the end
// of the context, and a failure behind a first answer, such as a wish for input or a task.
//
// All tries together have the time of one call, see [WithTimeout]. Before a try the client waits 100 ms, twice as long
// each time, up to 5 s, a quarter more or less; then until it is ready. Each try is a request with a span of its own,
// which has a link to the one before and the same correlation id; the log record mcp_client.request.reissued says so.
func Retry(n int) CallOption { return func(a *asked) { a.retries = max(0, n) } }

// The wait before a call is made again.
const (
	retryMin = 100 * time.Millisecond
	retryMax = 5 * time.Second
)

// untilItWorks is the layer that makes a call again.
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

// worthRepeating reports whether the call may be made again after err, and may then come to another end.
func (cl *call) worthRepeating(err *Error) bool {
	switch {
	case err == nil, cl.again(), cl.tasks.made != nil, transport.Permanent(err):
		return false
	case err.Kind == KindTransport, err.Kind == KindState && errors.Is(err, ErrNotReady):
		return err.Unsent || cl.Harmless()
	}
	return false
}
