package mcpclient

import (
	"cmp"
	"math"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Progress is one report of how far a call has got.
type Progress = mcp.ProgressParams

// progressKept is how many reports wait for a caller that is busy with one.
const progressKept = 16

// progressRing holds the reports that a caller has not taken yet, in order; the oldest gives way. It is guarded by the
// client's mutex.
type progressRing struct {
	reports []Progress
	first   int
}

// push adds a report and reports whether another one was lost for it.
func (r *progressRing) push(p Progress) (lost bool) {
	if len(r.reports) < progressKept {
		r.reports = append(r.reports, p)
		return false
	}
	r.reports[r.first] = p
	r.first = (r.first + 1) % progressKept
	return true
}

// take empties the ring.
func (r *progressRing) take() []Progress {
	all := append(r.reports[r.first:len(r.reports):len(r.reports)], r.reports[:r.first]...)
	*r = progressRing{}
	return all
}

// WithProgress asks the server for reports of progress and hands them to f, in order, in the goroutine of the call, all
// that arrived before the result before the call returns. While f runs, the latest 16 reports are kept. f may call the
// client.
func WithProgress(f func(Progress)) CallOption { return func(cl *call) { cl.onProgress = f } }

// ResetTimeoutOnProgress asks the server for reports of progress, and each of them gives the request its timeout anew: a call
// takes as long as it does, provided that the server shows in time that it is at work. total bounds the whole of it, from
// the beginning of the request, whatever the server reports; zero means ten times the timeout. Negative means no bound but
// that of the context, with which a server can keep the call waiting for ever. The reports themselves are for
// [WithProgress]. (specification 2026-07-28, basic/patterns/cancellation, "Timeouts")
func ResetTimeoutOnProgress(total time.Duration) CallOption {
	return func(cl *call) { cl.resets, cl.total = true, total }
}

// longTotal is how many timeouts a request may take that progress prolongs, unless told otherwise.
const longTotal = 10

// allow gives the next request of the call its time, none or below for no limit.
func (cl *call) allow(timeout time.Duration) {
	now := time.Now()
	cl.begun = now
	cl.deadline, cl.latest, cl.patience = time.Time{}, time.Time{}, 0
	if timeout > 0 {
		cl.deadline = now.Add(timeout)
	}
	if !cl.resets {
		return
	}
	cl.patience = max(timeout, 0)
	if total := cmp.Or(cl.total, min(cl.patience, math.MaxInt64/longTotal)*longTotal); total > 0 {
		cl.latest = now.Add(total)
		cl.deadline = cl.sooner(cl.deadline)
	}
}

// sooner returns the deadline t, zero for none, or the latest one that cl can have if that comes first.
func (cl *call) sooner(t time.Time) time.Time {
	if !cl.latest.IsZero() && (t.IsZero() || cl.latest.Before(t)) {
		return cl.latest
	}
	return t
}

// deliverProgress hands the waiting reports to the caller.
func (c *Client) deliverProgress(cl *call) {
	if cl.onProgress == nil {
		return
	}
	c.mu.Lock()
	reports := cl.progress.take()
	c.mu.Unlock()
	for _, p := range reports {
		cl.onProgress(p)
	}
}

// progress gives a report to the call that asked for it, whose id is the token.
func (c *Client) progress(p Progress) {
	if id, ok := p.ProgressToken.Int(); ok && c.progressTo(id, p) {
		c.tel.NotificationDropped(mcp.NotificationProgress, telemetry.DropQueueFull)
	}
}

// progressTo reports whether an older report was lost.
func (c *Client) progressTo(id int64, p Progress) (lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cl, ok := c.calls.Find(id)
	if !ok || cl.progressed == nil {
		return false
	}
	if cl.patience > 0 { // the timer, if it was set to the deadline before, finds that there is time
		c.calls.Postpone(id, cl.sooner(time.Now().Add(cl.patience)))
	}
	if cl.onProgress == nil {
		return false
	}
	lost = cl.progress.push(p)
	select {
	case cl.progressed <- struct{}{}:
	default: // it has been told and will take this one too
	}
	return lost
}
