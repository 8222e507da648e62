package tasks

import (
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
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Run handles a call that is a task or may become one. Until the call becomes a task, the run ends when the request
// ends. After that, the run ends when the task ends.
type Run struct {
	Handler Handler
	Keeper  *Keeper
	Peer    *rpc.Peer     // sender of the call
	Account quota.Account // account that pays for the run and the kept task
	Client  Client        // client that may see the task
	Tool    string        // name of the tool
	Legacy  *Legacy       // set if the client of 2025-11-25 requests a task; nil for the extension
	Waits   bool          // the call becomes a task later or never
	After   time.Duration // running time after which the call becomes a task; zero for never
	TTL     time.Duration // lifetime of the task; zero for no limit

	id      string          // id of the task, if the call becomes one: at least 128 random bits
	request context.Context // context of the call
	untie   func() bool     // detaches the handler's context from the request
	ctx     context.Context // context of the handler, without the span
	cancel  context.CancelCauseFunc
	within  context.Context // context of the handler
	started bool            // the handler has started or is about to; set before another goroutine uses the run
	invalid error           // error of Bind, for a task of 2025-11-25
	errand  errand          // calls sync

	turn     lock.Mutex          // held while creating the task and while ending the run
	begun    chan struct{}       // closed after the task was created; the field first is set before
	first    *store.Task         // first revision
	answered chan struct{}       // closed after the handler returned without a task; result and err are set before
	result   *mcp.CallToolResult // answer to the request; nil if err is set
	err      error               // answer to the request; nil if result is set
	over     bool                // guarded by turn; the handler has returned
	span     instrument.Task     // guarded by turn

	mu      sync.Mutex
	record  *store.Task      // guarded by mu; latest known revision, immutable; nil before the task is created
	moved   broadcast.Signal // guarded by mu; sent after each later revision
	message *string          // guarded by mu; status message that waits to be saved; nil for none
	told    time.Time        // guarded by mu; time of the last saved status message
	asking  bool             // guarded by mu; the handler asks through the request; see [Run.CanAsk]
	timer   *time.Timer      // guarded by mu; calls sync: first to create the task, then to renew the lease
	still   bool             // guarded by mu; the timer is no longer reset
}

// Do handles the call. It returns the created task. If the handler returns before a task was created, Do returns the
// handler's answer.
func (r *Run) Do(ctx context.Context) (answer any, err error) {
	r.init(ctx)
	if r.Legacy != nil {
		if err := r.initLegacy(); err != nil {
			r.cancel(err)
			return nil, err
		}
	}
	result, err := r.start()
	if result == nil && err == nil {
		select {
		case <-r.begun:
			return r.created(), nil
		case <-r.answered:
			result, err = r.result, r.err
		}
	} else {
		r.cancel(err)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Started reports, after [Run.Do], whether the handler was started.
func (r *Run) Started() bool { return r.started }

func (r *Run) init(ctx context.Context) {
	r.id, r.request = rand.Text(), ctx
	r.begun, r.answered = make(chan struct{}), make(chan struct{})
	r.errand = errand{group: r.Keeper.group, do: r.sync}
	outliving := context.WithValue(context.WithoutCancel(ctx), rpc.InfoKey{}, r.Handler.Value())
	r.ctx, r.cancel = context.WithCancelCause(outliving)
	r.within = r.ctx
	r.tie()
}

// tie makes the handler's context end when the request's context ends.
func (r *Run) tie() {
	r.untie = context.AfterFunc(r.request, func() { r.cancel(context.Cause(r.request)) })
}

// lock locks turn.
func (r *Run) lock(ctx context.Context) (unlock func(), err error) {
	if err := r.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	return r.turn.Unlock, nil
}

// start starts the handler. Unless Waits is set, it creates the task first. If start returns a result or an error, it
// has not started the handler, and the result or error answers the request.
func (r *Run) start() (*mcp.CallToolResult, error) {
	if err := r.Keeper.enter(r); err != nil {
		return nil, err
	}
	if err := r.bind(); err != nil {
		if r.Legacy == nil {
			r.Keeper.leave(r)
			return r.Handler.Answer(r.request, nil, err)
		}
		r.invalid = err // fail the task instead, because the client expects a task
	}
	if !r.Waits {
		if err := r.Begin(r.request); err != nil {
			r.Keeper.leave(r)
			return nil, rpc.CauseOf(r.request, err)
		}
	}
	r.started = true
	if r.After > 0 {
		r.mu.Lock()
		r.timer = time.AfterFunc(r.After, r.errand.start)
		r.mu.Unlock()
	}
	if !r.Keeper.group.Start(r) {
		r.end(nil, r.Keeper.Options.Stopping)
		r.Keeper.leave(r)
		return nil, r.Keeper.Options.Stopping
	}
	return nil, nil
}

// bind validates the arguments. If user code ends the goroutine, bind releases the place of the run.
func (r *Run) bind() (err error) {
	usercode.Pass(func() { err = r.Handler.Bind(r.request) }, func() { r.Keeper.leave(r) })
	return err
}

// Begin turns the call into a task, unless it already is one. Requests about the task find it from then on. The error
// is the cause of ctx or of the request's context, [rpc.ErrAnswered], or the reason why the task cannot be created now.
// (tasks extension, "Task Creation")
func (r *Run) Begin(ctx context.Context) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case r.latest() != nil:
		return nil
	case r.over:
		return rpc.ErrAnswered
	case !r.untie():
		return context.Cause(r.request)
	}
	r.Keeper.watch(ctx)
	t := r.newTask(now())
	if err := r.save(ctx, t); err != nil {
		r.tie()
		return err
	}
	var within context.Context
	if within, r.span = r.Peer.Tel.StartTask(r.ctx, r.Tool); !r.started {
		r.within = within
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first, r.record = t, t
	r.setTimer(r.Keeper.renewal())
	close(r.begun)
	return nil
}

// newTask returns the first revision of the task.
func (r *Run) newTask(at time.Time) *store.Task {
	t := &store.Task{
		ID: r.id, Revision: 1, Change: 1, Principal: r.Client.Principal, Version: r.Client.Version,
		Method: mcp.MethodCallTool, Target: r.Tool, Status: mcp.TaskWorking, Created: at, Updated: at,
		Owner: r.Keeper.owner, Lease: r.Keeper.lease(at),
	}
	if r.TTL > 0 {
		t.Expires = at.Add(r.TTL)
	}
	return t
}

// save saves the first revision of the task if the limits of the ledger allow it.
func (r *Run) save(ctx context.Context, t *store.Task) error {
	if !r.Keeper.ledger.add(r.Account, t) {
		return rpc.Fail(rpc.ErrBusy, store.ErrFull)
	}
	err := r.Keeper.Options.Store.Save(ctx, t)
	if err == nil {
		return nil
	}
	r.Keeper.ledger.remove(r.id)
	if errors.Is(err, store.ErrFull) {
		return rpc.Fail(rpc.ErrBusy, err)
	}
	return rpc.Fail(rpc.ErrInternal, fmt.Errorf("create the task: %w", err))
}

// Run implements [rpc.Task] and calls the handler. User code may end the goroutine.
func (r *Run) Run() {
	var result *mcp.CallToolResult
	err := error(rpc.ErrPanicked)
	defer func() {
		r.end(result, err)
		r.cancel(nil)
		r.Keeper.leave(r)
	}()
	r.Peer.Tel.Labelled(r.within, mcp.MethodCallTool, r.Tool,
		func(ctx context.Context) { result, err = r.handle(ctx) })
}

// handle calls the handler, and returns ErrPanicked if the handler panics.
func (r *Run) handle(ctx context.Context) (result *mcp.CallToolResult, err error) {
	err = rpc.ErrPanicked
	usercode.Run(func() { result, err = r.answer(ctx) }, r.Peer.Failed(ctx, mcp.MethodCallTool))
	return result, err
}

// answer calls the handler and converts its result into an answer.
func (r *Run) answer(ctx context.Context) (result *mcp.CallToolResult, err error) {
	if err = r.invalid; err == nil {
		result, err = r.Handler.Handle(ctx)
	}
	if err != nil && r.latest() != nil && errors.Is(context.Cause(r.ctx), rpc.ErrCancelled) {
		return nil, rpc.ErrCancelled // the client has cancelled, so the handler's own error does not matter
	}
	return r.Handler.Answer(r.ctx, result, err)
}

// end answers the request or finishes the task.
func (r *Run) end(result *mcp.CallToolResult, err error) {
	unlock, _ := r.lock(context.Background())
	defer unlock()
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

// finish saves the outcome of the task and reports it.
func (r *Run) finish(result *mcp.CallToolResult, err error) {
	payload, err := r.payload(result, err)
	t, lost := r.saveOutcome(func(t *store.Task) {
		settle(t, payload, err, now())
		r.settleLegacy(t, result)
	})
	if errors.Is(lost, store.ErrFull) {
		err = rpc.Fail(errResult, lost)
		t, lost = r.saveOutcome(func(t *store.Task) { fail(t, errResult, now()) })
	}
	outcome := r.Handler.Outcome(result, err)
	outcome.ResultType, outcome.Told = "", err == rpc.ErrPanicked
	status := mcp.TaskFailed
	switch {
	case lost != nil:
		outcome = instrument.Result{Err: fmt.Errorf("save the outcome of the task: %w", lost)}
	case t.Status == mcp.TaskCancelled:
		outcome = instrument.Result{ErrorType: names.ErrorCancelled, CallerLeft: true}
		fallthrough
	default:
		status = t.Status
		r.news(t)
	}
	r.span.End(string(status), outcome)
}

// payload returns the encoded answer to the call.
func (r *Run) payload(result *mcp.CallToolResult, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	if result, err = r.related(result); err != nil {
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("the _meta of the result of %s: %w", mcp.MethodCallTool, err))
	}
	raw, err := r.Handler.Encode(result)
	switch limit := r.Keeper.Options.MaxResult; {
	case err != nil:
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("encode the result of %s: %w", mcp.MethodCallTool, err))
	case len(raw) > limit:
		return nil, rpc.Fail(errResult, fmt.Errorf("result of %d bytes exceeds the limit of %d bytes", len(raw), limit))
	}
	return raw, nil
}

// settle sets the outcome of a task. If the client has requested cancellation, an error means that the task was
// cancelled.
func settle(t *store.Task, payload json.RawMessage, err error, at time.Time) {
	switch {
	case err == nil:
		end(t, mcp.TaskCompleted, "", at)
		t.Result = payload
	case t.CancelRequested:
		end(t, mcp.TaskCancelled, "", at)
	default:
		fail(t, rpc.WireError(err), at)
	}
}

// saveOutcome saves a final status, unless another server has ended the task. If the store fails, saveOutcome retries
// for as long as a lease lasts.
func (r *Run) saveOutcome(settle func(*store.Task)) (*store.Task, error) {
	known, giveUp := r.latest(), time.Now().Add(r.Keeper.Options.Lease)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), storeTimeout)
		t, err := r.Keeper.change(ctx, r.id, known, func(t *store.Task) bool {
			if t.Status.Terminal() {
				return false
			}
			settle(t)
			return true
		})
		cancel()
		known = nil
		final := errors.Is(err, store.ErrNoTask) || errors.Is(err, store.ErrFull)
		if err == nil || final || time.Now().Add(pause).After(giveUp) {
			return t, err
		}
		time.Sleep(pause)
	}
}

// created returns the answer to a call that has become a task.
func (r *Run) created() any {
	if r.Legacy != nil {
		return &mcp.LegacyCreateTaskResult{Task: r.Keeper.showLegacy(r.first)}
	}
	return &mcp.CreateTaskResult{Result: mcp.Result{ResultType: mcp.ResultTask}, Task: r.Keeper.show(r.first).Task}
}
