package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/waits"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// asTask is the layer that handles the task if the server turns a call into a task.
func asTask(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		err := next(ctx, cl)
		if err == nil && cl.tasks.made != nil {
			err = cl.taskCreated(cl.Outside(ctx))
		}
		return err
	}
}

// taskCreated continues a call after the server has made it a task. It gives the task to the caller, or waits for the
// outcome of the task: the answer that the server would have given without a task. If the caller stops waiting,
// taskCreated abandons the task.
func (cl *call) taskCreated(ctx context.Context) (failed *Error) {
	if v := reflect.ValueOf(cl.result); v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().SetZero() // the task is not part of the result
	}
	t, into := cl.asked.handle, any(new(mcp.CallToolResult))
	waits := t == nil
	if waits {
		t, into = newTask(cl.c, cl.c.call), cl.result
	}
	kept := false
	defer func() {
		if !kept { // for example because the function of WithTaskStatus panicked
			t.abandon(ctx, failed)
		}
	}()
	unknown := checkStatus(cl.tasks.made.Status)
	if unknown != nil {
		cl.asked.onTask = nil
	}
	t.created(cl, into)
	if unknown != nil {
		return &Error{Kind: KindProtocol, Op: cl.Method, cause: unknown}
	}
	if waits {
		if err := t.wait(ctx); err != nil {
			return err
		}
	}
	kept = true
	return nil
}

// wait waits for the outcome of the task.
func (t *Task) wait(ctx context.Context) *Error {
	if err, over := t.outcome(); over {
		return err
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.c.core.Base, func() { cancel(ErrShutdown) })()
	if t.turn.LockContext(limited) != nil {
		return t.interrupted(ctx)
	}
	defer t.turn.Unlock()
	defer t.stopAsking()
	for failures := 0; ; {
		if err, over := t.outcome(); over {
			return err
		}
		if !t.pause(limited) {
			return t.interrupted(ctx)
		}
		err := t.advance(limited)
		switch {
		case err == nil:
			failures = 0
			continue
		case limited.Err() != nil:
			return t.interrupted(ctx)
		case !transient(err):
			return err
		}
		failures++
		if err := t.postpone(err, failures); err != nil {
			return err
		}
	}
}

// pause waits until the next poll is due. It returns false if ctx ends first.
func (t *Task) pause(ctx context.Context) bool {
	t.mu.Lock()
	due, legacy := t.due, t.legacy
	t.mu.Unlock()
	if legacy {
		return t.pauseLegacy(ctx, due)
	}
	return conn.PauseFor(ctx, time.Until(due))
}

// postpone delays the next poll after a failure. If the task has expired, postpone returns an error instead.
func (t *Task) postpone(err *Error, failures int) *Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.expired() {
		gone := *err
		gone.cause = fmt.Errorf("%w: %w", ErrTaskExpired, err.cause)
		return &gone
	}
	delay := t.c.taskOptions.interval(t.state.PollIntervalMs, failures)
	if e, ok := errors.AsType[*transport.RequestError](err); ok {
		delay = max(delay, min(e.RetryAfter, waits.Most))
	}
	t.due = time.Now().Add(delay)
	return nil
}

// advance polls once and answers requests for input. The caller holds turn.
func (t *Task) advance(ctx context.Context) *Error {
	if heard, err := t.hearLegacy(ctx); heard {
		return err
	}
	d, id, err := t.poll(ctx)
	if err == nil && t.isLegacy() {
		return t.goOnLegacy(ctx, d.Status)
	}
	if err != nil || d.Status != mcp.TaskInputRequired {
		return err
	}
	if err := t.answer(ctx, id, d.InputRequests); err != nil || len(t.answers) == 0 {
		return err
	}
	if err := t.update(ctx, t.answers); err != nil {
		return t.refused(ctx, err)
	}
	clear(t.answers)
	return nil
}

// refused handles a failed update. A server may refuse an update because the task has ended in the meantime.
func (t *Task) refused(ctx context.Context, err *Error) *Error {
	if err.Kind != KindJSONRPC {
		return err
	}
	if _, _, failed := t.poll(ctx); failed != nil {
		return failed
	}
	if _, over := t.outcome(); over {
		return nil
	}
	return err
}

// maxTaskInputs is the maximum number of requests for input of one task. The limit exists because the client stores
// each key, to prevent a second answer.
const maxTaskInputs = 10_000

// answer calls the handlers for new requests for input from the poll with request ID id. It removes stored answers that
// the task no longer needs.
func (t *Task) answer(ctx context.Context, id int64, requests mcp.InputRequests) *Error {
	if err := t.checkInputs(requests); err != nil {
		return t.about(&Error{Kind: KindProtocol, Op: mcp.MethodCallTool, cause: err})
	}
	maps.DeleteFunc(t.answers, func(key string, _ json.RawMessage) bool { _, wanted := requests[key]; return !wanted })
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		t.mu.Lock()
		answered := t.answered[key]
		t.mu.Unlock()
		if _, waits := t.answers[key]; waits || answered {
			continue
		}
		answer, err := t.c.answering.input(ctx, id, requests[key])
		if err != nil {
			err.Op, err.cause = mcp.MethodCallTool, fmt.Errorf("the task requires input first: %w", err.cause)
			return t.about(err)
		}
		t.answers[key] = answer
	}
	return nil
}

// checkInputs returns an error if the task's requests for input exceed a limit.
func (t *Task) checkInputs(requests mcp.InputRequests) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.answered)+len(t.answers) > maxTaskInputs {
		return fmt.Errorf("the task requested more than %d inputs", maxTaskInputs)
	}
	return checkInputs(requests)
}

// transient reports whether the request may succeed later.
func transient(err *Error) bool {
	switch err.Kind {
	case KindTimeout:
		return true
	case KindState:
		return errors.Is(err, ErrNotReady)
	case KindTransport:
		return errors.Is(err, ErrConnectionLost) || errors.Is(err, ErrBackpressure) || conn.HTTPStatus(err) >= 500
	}
	return false
}

// interrupted returns the error of a Wait call that ended because its context ended or the client was closed.
func (t *Task) interrupted(ctx context.Context) *Error {
	e := t.about(errorOf(t.c.core.Interrupted(ctx, mcp.MethodCallTool, false)))
	e.Unsent = false // the tool has been called
	return e
}
