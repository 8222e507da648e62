package conn

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Limits of the progress notifications that wait for a caller.
const (
	ProgressKept  = 16
	progressBytes = 1 << 20 // in bytes; the latest notification may be larger
)

// progressQueue holds the progress notifications that the caller has not received yet, in order of arrival. When it is
// full, it drops the oldest. The core's mutex guards it.
type progressQueue struct {
	reports []*mcp.ProgressParams
	size    int // in bytes
}

// push adds a notification. It returns the number of older notifications that were dropped to make room.
func (q *progressQueue) push(p *mcp.ProgressParams) (lost int) {
	q.size += progressSize(p)
	for ; lost < len(q.reports) && (len(q.reports)-lost == ProgressKept || q.size > progressBytes); lost++ {
		q.size -= progressSize(q.reports[lost])
	}
	q.reports = append(slices.Delete(q.reports, 0, lost), p)
	return lost
}

// progressSize returns the memory of a notification's texts, in bytes.
func progressSize(p *mcp.ProgressParams) int {
	token, _ := p.ProgressToken.Text()
	return len(p.Message) + len(p.Meta) + len(token)
}

// take returns all notifications and empties the queue.
func (q *progressQueue) take() []*mcp.ProgressParams {
	all := q.reports
	*q = progressQueue{}
	return all
}

// longTotal is the factor by which [Longer] multiplies a timeout.
const longTotal = 10

// Longer returns the default limit for the total time of an operation that may take longer than its timeout: a request
// with [Sending.Resets], and a list with many pages. The limit is ten times the timeout (longTotal). A timeout of zero
// or less means no limit.
func Longer(timeout time.Duration) time.Duration {
	return min(timeout, math.MaxInt64/longTotal) * longTotal
}

// allow starts the timeout of the request. A timeout of zero or less means no limit.
func (r *Request) allow(timeout time.Duration) {
	now := time.Now()
	r.Begun = now
	r.deadline, r.latest, r.patience = time.Time{}, time.Time{}, 0
	if timeout > 0 {
		r.deadline = now.Add(timeout)
	}
	if !r.By.IsZero() && (r.deadline.IsZero() || r.By.Before(r.deadline)) {
		r.deadline = r.By
	}
	if !r.Resets {
		return
	}
	r.patience = max(timeout, 0)
	if total := cmp.Or(r.Total, Longer(r.patience)); total > 0 {
		r.latest = now.Add(total)
		r.deadline = r.sooner(r.deadline)
	}
}

// sooner returns the earlier one of t and r.latest. A zero time means no deadline.
func (r *Request) sooner(t time.Time) time.Time {
	if !r.latest.IsZero() && (t.IsZero() || r.latest.Before(t)) {
		return r.latest
	}
	return t
}

// deliverProgress passes the waiting notifications to the caller.
func (r *Request) deliverProgress(ctx context.Context) {
	if r.OnProgress == nil {
		return
	}
	r.core.mu.Lock()
	reports := r.progress.take()
	r.core.mu.Unlock()
	if len(reports) == 0 {
		return
	}
	r.Op.Labelled(ctx, func(context.Context) {
		for _, p := range reports {
			r.OnProgress(p)
		}
	})
}

// Progress passes a progress notification to the call whose ID is the notification's token.
func (c *Conn) Progress(p *mcp.ProgressParams) {
	id, ok := p.ProgressToken.Int()
	if !ok {
		return
	}
	for range c.progressTo(id, p) {
		c.Telemetry.NotificationDropped(mcp.NotificationProgress, names.DropQueueFull)
	}
}

// progressTo queues the notification for the call with this ID. It returns the number of older notifications that were
// dropped.
func (c *Conn) progressTo(id int64, p *mcp.ProgressParams) (lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.calls.Find(id)
	if !ok || r.Progressed == nil {
		return 0
	}
	if r.patience > 0 { // the timer may still fire at the earlier deadline; then tick finds that time is left
		c.calls.Postpone(id, r.sooner(time.Now().Add(r.patience)))
	}
	if r.OnProgress == nil {
		return 0
	}
	lost = r.progress.push(p)
	select {
	case r.Progressed <- struct{}{}:
	default: // already signalled; the caller will take this notification too
	}
	return lost
}
