package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// taskRun is the handler of a call that is a task, or may become one. Until it does, it belongs to the request; from
// then on to the server.
type taskRun struct {
	k    *taskKeeper
	id   string // of the task, if it becomes one: 128 bits and more that cannot be guessed
	tool *tool
	work taskWork
	peer *peer       // that has sent the call, and on whose account the task goes
	conn *connection // of the client; nil for one without a session
	info RequestInfo // what the handler sees of the call

	waits  bool          // it does not become a task at once
	after  time.Duration // but then; zero for never
	ttl    time.Duration // of the task; zero for ever
	legacy *legacyRun    // nil unless the task is one of 2025-11-25

	request context.Context // of the call
	untie   func() bool     // lets the handler outlive the request
	ctx     context.Context // of the handler, but for the span
	cancel  context.CancelCauseFunc
	within  context.Context // of the handler
	started bool            // it runs, or is about to; set before there is more than one goroutine
	errand  errand          // to the store: see sync

	interrupted error // why the context of the failed handler had ended; owned by the handler's goroutine

	turn     lock.Mutex      // held by who begins the task or ends the handling
	begun    chan struct{}   // closed when the task is there, as
	first    *store.Task     // this
	answered chan struct{}   // closed when the handler has returned before that, with
	result   any             // this
	err      error           // or that
	over     bool            // owned by who holds the turn; the handler has returned
	span     instrument.Task // owned by who holds the turn

	mu      sync.Mutex
	record  *store.Task      // guarded by mu; the latest that is known, nil until the task has begun
	moved   broadcast.Signal // guarded by mu; sent when there is a later one
	message *string          // guarded by mu; to be saved as the status message, nil for none
	told    time.Time        // guarded by mu; when the last one was saved
	asking  bool             // guarded by mu; the handler has asked for what only another round of the request brings
	timer   *time.Timer      // guarded by mu; first for the beginning, then for the next errand
	still   bool             // guarded by mu; the timer is not set any more
}

// taskWork is what is left to do for a call when its arguments are in order.
type taskWork func(ctx context.Context) (*mcp.CallToolResult, error)

// bindTask puts the arguments of a call in order. The error answers the call.
type bindTask func(context.Context, *CallToolRequest) (taskWork, error)

// newRun returns the run of a call whose context is ctx.
func (k *taskKeeper) newRun(ctx context.Context, c *call, t *tool) *taskRun {
	r := &taskRun{
		k: k, id: rand.Text(), tool: t, peer: c.x.client, conn: c.x.conn, info: c.info, request: ctx,
		waits: t.task.waits, after: t.task.after, ttl: t.task.timeToLive(&k.cfg),
		begun: make(chan struct{}), answered: make(chan struct{}),
	}
	r.info.task = r
	r.errand = errand{group: k.group, do: r.sync}
	r.ctx, r.cancel = context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), rpc.InfoKey{}, &r.info))
	r.within = r.ctx
	r.tie()
	return r
}

// tie makes the handler end with the request.
func (r *taskRun) tie() {
	r.untie = context.AfterFunc(r.request, func() { r.cancel(context.Cause(r.request)) })
}

// take takes the turn.
func (r *taskRun) take(ctx context.Context) (release func(), err error) {
	if err := r.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	return r.turn.Unlock, nil
}

// start starts the handler with the arguments of the call, in a task unless that is to begin later. What it returns, if
// it does, answers the call.
func (r *taskRun) start(arguments json.RawMessage) (any, error) {
	if err := r.k.enter(r); err != nil {
		return nil, err
	}
	work, err := r.bind(arguments)
	switch {
	case err != nil && r.legacy != nil: // the client waits for a task and nothing else
		work = func(context.Context) (*mcp.CallToolResult, error) { return nil, err }
	case err != nil:
		r.k.leave(r)
		return toolError(err, r.info.Version)
	}
	r.work = work
	if !r.waits {
		if err := r.begin(r.request); err != nil {
			r.k.leave(r)
			return nil, ended(r.request, err)
		}
	}
	r.started = true
	if r.after > 0 {
		r.mu.Lock()
		r.timer = time.AfterFunc(r.after, r.errand.ask)
		r.mu.Unlock()
	}
	if !r.k.group.Start(r) {
		r.end(nil, errShuttingDown)
		r.k.leave(r)
		return nil, errShuttingDown
	}
	return nil, nil
}

// bind decodes the arguments. If code of the user's fails in that, the place is given back.
func (r *taskRun) bind(arguments json.RawMessage) (work taskWork, err error) {
	usercode.Pass(func() {
		work, err = r.tool.task.bind(r.request,
			&CallToolRequest{RequestInfo: &r.info, Name: r.tool.Name, Arguments: arguments})
	}, func() { r.k.leave(r) })
	return work, err
}

// begin makes the call a task: when it returns nil, requests about the task find it.
// (tasks extension, "Task Creation")
func (r *taskRun) begin(ctx context.Context) error {
	release, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	switch {
	case r.latest() != nil:
		return nil
	case r.over:
		return ErrAnswered
	case !r.untie():
		return context.Cause(r.request)
	}
	r.k.watch(ctx)
	record := r.newRecord(stamp())
	if !r.k.ledger.open(r.peer.who, record) {
		r.tie()
		return rpc.Fail(rpc.ErrBusy, store.ErrFull)
	}
	if err := r.k.cfg.Store.Save(ctx, record); err != nil {
		r.k.ledger.drop(r.id)
		r.tie()
		if errors.Is(err, store.ErrFull) {
			return rpc.Fail(rpc.ErrBusy, err)
		}
		return rpc.Fail(rpc.ErrInternal, fmt.Errorf("create the task: %w", err))
	}
	var within context.Context
	if within, r.span = r.peer.Tel.StartTask(r.ctx, r.tool.Name); !r.started {
		r.within = within
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first, r.record = record, record
	r.rest(r.k.beat())
	close(r.begun)
	return nil
}

// newRecord is how a task begins.
func (r *taskRun) newRecord(now time.Time) *store.Task {
	record := &store.Task{
		ID: r.id, Revision: 1, Change: 1, Principal: r.peer.principal, Version: r.info.Version, Method: r.info.Method,
		Target: r.tool.Name, Status: mcp.TaskWorking, Created: now, Updated: now, Owner: r.k.owner,
		Lease: r.k.lease(now),
	}
	if r.ttl > 0 {
		record.Expires = now.Add(r.ttl)
	}
	return record
}

// Run calls the handler and concludes, whatever becomes of it: it may even end its goroutine.
func (r *taskRun) Run() {
	result, err := any(nil), error(rpc.ErrPanicked)
	defer func() {
		r.end(result, err)
		r.cancel(nil)
		r.k.leave(r)
	}()
	r.peer.Tel.Labelled(r.within, r.info.Method, r.tool.Name,
		func(ctx context.Context) { result, err = r.handle(ctx) })
}

// handle calls the handler, and turns a panic into an error.
func (r *taskRun) handle(ctx context.Context) (result any, err error) {
	err = rpc.ErrPanicked
	usercode.Run(func() { result, err = r.outcome(ctx) }, r.peer.Failed(ctx, r.info.Method))
	return result, err
}

// outcome returns what the handler does, in the form of an answer.
func (r *taskRun) outcome(ctx context.Context) (result any, err error) {
	out, err := r.work(ctx)
	if err != nil && r.latest() != nil && errors.Is(context.Cause(r.ctx), rpc.ErrCancelled) {
		return nil, rpc.ErrCancelled // whatever the error is: the client has asked for it
	}
	if r.legacy != nil {
		err = r.legacyError(err)
	}
	result, err = toolAnswer(r.ctx, out, err, r.info.Version)
	r.interrupted = interruption(r.ctx, result, err)
	return result, err
}

// end answers the request, or finishes the task.
func (r *taskRun) end(result any, err error) {
	release, _ := r.take(context.Background())
	defer release()
	r.over = true
	r.mu.Lock()
	r.still = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	if r.latest() == nil {
		r.result, r.err = result, err
		close(r.answered)
		return
	}
	r.finish(result, err)
}

// finish saves the outcome of the task.
func (r *taskRun) finish(result any, err error) {
	payload, err := r.payload(result, err)
	record, lost := r.save(func(t *store.Task) {
		settleTask(t, payload, err, stamp())
		r.settleLegacy(t, result)
	})
	if errors.Is(lost, store.ErrFull) {
		err = rpc.Fail(errTaskResult, lost)
		record, lost = r.save(func(t *store.Task) { failTask(t, errTaskResult, stamp()) })
	}
	end := interrupted(outcome(result, err), cmp.Or(r.interrupted, err))
	end.ResultType, end.Told = "", err == rpc.ErrPanicked
	status := mcp.TaskFailed
	switch {
	case lost != nil:
		end = instrument.Result{Err: fmt.Errorf("save the outcome of the task: %w", lost)}
	case record.Status == mcp.TaskCancelled:
		end = instrument.Result{ErrorType: names.ErrorCancelled, CallerLeft: true}
		fallthrough
	default:
		status = record.Status
		r.news(record)
	}
	r.span.End(string(status), end)
}

// payload returns what the request would have been answered with, encoded.
func (r *taskRun) payload(result any, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	answer, ok := result.(*mcp.CallToolResult)
	if !ok {
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("a task cannot be answered with a %T", result))
	}
	if answer, err = r.related(answer); err != nil {
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("the _meta of the result of %s: %w", r.info.Method, err))
	}
	raw, err := view{r.k.s, r.info.Version, r.info.Principal()}.encode(nil, answer)
	switch {
	case err != nil:
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("encode the result of %s: %w", r.info.Method, err))
	case len(raw) > r.k.cfg.MaxResult:
		return nil, rpc.Fail(errTaskResult, fmt.Errorf("result of %d bytes is above the limit of %d", len(raw),
			r.k.cfg.MaxResult))
	}
	return raw, nil
}

// settleTask gives a task its outcome: an error after the client has cancelled is what it wanted.
func settleTask(t *store.Task, payload json.RawMessage, err error, now time.Time) {
	switch {
	case err == nil:
		endTask(t, mcp.TaskCompleted, "", now)
		t.Result = payload
	case t.CancelRequested:
		endTask(t, mcp.TaskCancelled, "", now)
	default:
		failTask(t, rpc.WireError(err), now)
	}
}

// save saves a final status as soon as the store takes it, unless another server has ended the task. It gives up when
// the store has failed for as long as a lease.
func (r *taskRun) save(settle func(*store.Task)) (*store.Task, error) {
	known, giveUp := r.latest(), time.Now().Add(r.k.cfg.Lease)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), storeTimeout)
		record, err := r.k.change(ctx, r.id, known, func(t *store.Task) bool {
			if t.Status.Terminal() {
				return false
			}
			settle(t)
			return true
		})
		cancel()
		known = nil
		given := errors.Is(err, store.ErrNoTask) || errors.Is(err, store.ErrFull)
		if err == nil || given || time.Now().Add(pause).After(giveUp) {
			return record, err
		}
		time.Sleep(pause)
	}
}

// latest returns what is known of the task, nil before it has begun. It is not to be changed.
func (r *taskRun) latest() *store.Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record
}

// changed is told that the task was saved, by this process or another.
func (r *taskRun) changed(revision int64) {
	if t := r.latest(); t == nil || t.Revision < revision {
		r.errand.ask()
	}
}

// saw takes note of the task as it is now.
func (r *taskRun) saw(t *store.Task) {
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
		r.cancel(errTaskTaken)
	}
}

// taskPause is how long the status message of a task is kept back after the last one, so that a handler may be as
// talkative as it likes.
const taskPause = 250 * time.Millisecond

// beat is how often a task gets a sign of life.
func (k *taskKeeper) beat() time.Duration { return k.cfg.Lease / 3 }

// sync saves what there is to save, a sign of life among it if one is due, and looks at what others have saved. Before
// the task has begun, it begins it.
func (r *taskRun) sync() {
	r.mu.Lock()
	known, asking := r.record, r.asking
	r.mu.Unlock()
	switch {
	case known == nil && asking:
		return // the client is to come back with the answer
	case known == nil:
		_ = r.begin(r.request) // if that fails, the handler goes on and answers the request
		return
	case known.Status.Terminal():
		return
	}
	now := stamp()
	message := r.takeMessage(now)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), storeTimeout)
	defer cancel()
	t, err := r.k.change(ctx, r.id, nil, func(t *store.Task) bool {
		lease := r.k.lease(now)
		if t.Status.Terminal() || message == nil && lease.Sub(t.Lease) < r.k.beat() {
			return false
		}
		t.Lease = lease
		if message != nil && *message != t.Message {
			t.Message = *message
			changeTask(t, t.Status, now)
		}
		return true
	})
	switch {
	case err == nil:
		r.saw(t)
	case errors.Is(err, store.ErrNoTask):
		r.cancel(errTaskExpired)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.k.beat()
	if err != nil {
		next = min(next, time.Second)
		if r.message == nil {
			r.message = message
		}
	}
	if r.message != nil {
		next = min(next, r.told.Add(taskPause).Sub(now))
	}
	r.rest(next)
}

// takeMessage returns the status message that is to be saved now, nil for none.
func (r *taskRun) takeMessage(now time.Time) (message *string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.message != nil && now.Sub(r.told) >= taskPause {
		message, r.message, r.told = r.message, nil, now
	}
	return message
}

// rest sees to it that there is an errand after a while, and no later than the task's end, unless there are to be none
// any more. mu is held.
func (r *taskRun) rest(d time.Duration) {
	if r.still {
		return
	}
	if end := r.record.Expires; !end.IsZero() {
		d = min(d, time.Until(end))
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.timer = time.AfterFunc(max(d, 0), r.errand.ask)
}

// say sees to it that the status message is saved soon, without waiting for it.
func (r *taskRun) say(message string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch waits := r.message != nil; {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case waits:
		r.message = &message
	default:
		r.message = &message
		r.rest(time.Until(r.told.Add(taskPause)))
	}
	return nil
}

// stamp is the time as tasks have it: what JSON does to it changes nothing.
func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
