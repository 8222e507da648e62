package tasks

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// ID returns the id of the task; it is empty before the call becomes a task.
func (r *Run) ID() string {
	if r.latest() == nil {
		return ""
	}
	return r.id
}

// latest returns the latest known revision of the task. It is nil before the call becomes a task. The caller must not
// change it.
func (r *Run) latest() *store.Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record
}

// saved starts a background call of [Run.sync] if the store has a newer revision than the latest known one.
func (r *Run) saved(revision int64) {
	if t := r.latest(); t == nil || t.Revision < revision {
		r.errand.start()
	}
}

// learn records a revision of the task if it is newer than the latest known one.
func (r *Run) learn(t *store.Task) {
	r.mu.Lock()
	if t.Revision <= r.record.Revision {
		r.mu.Unlock()
		return
	}
	r.record = t
	r.moved.Send()
	r.mu.Unlock()
	r.news(t)
	switch {
	case t.CancelRequested:
		r.cancel(rpc.ErrCancelled)
	case t.Status.Terminal():
		r.cancel(errTaken)
	}
}

// messagePause is the minimum time between two saved status messages. So a handler may report as often as it likes.
const messagePause = 250 * time.Millisecond

// sync saves a pending status message, renews the lease, and loads revisions of other servers. Before the call becomes
// a task, sync creates the task.
func (r *Run) sync() {
	r.mu.Lock()
	known, asking := r.record, r.asking
	r.mu.Unlock()
	switch {
	case known == nil && asking:
		return // the client will send the request again, with the answer
	case known == nil:
		_ = r.Begin(r.request) // on failure, the handler continues and answers the request
		return
	case known.Status.Terminal():
		return
	}
	at := now()
	message := r.takeMessage(at)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), storeTimeout)
	defer cancel()
	t, err := r.Keeper.change(ctx, r.id, nil, func(t *store.Task) bool { return r.renew(t, message, at) })
	switch {
	case err == nil:
		r.learn(t)
	case errors.Is(err, store.ErrNoTask):
		r.cancel(ErrExpired)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.Keeper.renewal()
	if err != nil {
		next = min(next, time.Second)
		if r.message == nil {
			r.message = message
		}
	}
	if r.message != nil {
		next = min(next, r.told.Add(messagePause).Sub(at))
	}
	r.setTimer(next)
}

// renew sets the lease and the status message. It reports whether there is anything to save. message may be nil.
func (r *Run) renew(t *store.Task, message *string, at time.Time) bool {
	lease := r.Keeper.lease(at)
	if t.Status.Terminal() || message == nil && lease.Sub(t.Lease) < r.Keeper.renewal() {
		return false
	}
	t.Lease = lease
	if message != nil && *message != t.Message {
		t.Message = *message
		change(t, t.Status, at)
	}
	return true
}

// takeMessage removes and returns the status message that is due, or nil.
func (r *Run) takeMessage(at time.Time) (message *string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.message != nil && at.Sub(r.told) >= messagePause {
		message, r.message, r.told = r.message, nil, at
	}
	return message
}

// setTimer starts a background call of [Run.sync] after d, or sooner if the task expires before that. mu is held.
func (r *Run) setTimer(d time.Duration) {
	if r.still {
		return
	}
	if end := r.record.Expires; !end.IsZero() {
		d = min(d, time.Until(end))
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.timer = time.AfterFunc(max(d, 0), r.errand.start)
}

// SetMessage sets the status message of the task. It does not wait until the message is saved. The error is the cause
// of the handler's context, if that context has ended.
func (r *Run) SetMessage(message string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch waits := r.message != nil; {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case waits:
		r.message = &message
	default:
		r.message = &message
		r.setTimer(time.Until(r.told.Add(messagePause)))
	}
	return nil
}

// Progress reports progress as a status message, because tasks of the extension have no progress notifications. A
// client of 2025-11-25 also gets a progress notification. (tasks extension, "Task Status Notifications")
func (r *Run) Progress(ctx context.Context, value, total float64, message string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.report(value, total, message)
	if message == "" {
		message = strconv.FormatFloat(value, 'g', -1, 64)
		if total > 0 {
			message += " of " + strconv.FormatFloat(total, 'g', -1, 64)
		}
	}
	return r.SetMessage(message)
}
