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

// asTask is the layer that waits for the outcome of a task which the server has made of a call.
func asTask(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		err := next(ctx, cl)
		if err == nil && cl.tasks.made != nil {
			err = cl.taskCreated(cl.Outside(ctx))
		}
		return err
	}
}

// taskCreated goes on with a call that the server has answered with a task: the caller has asked for a task, or waits
// for its outcome. The outcome is what the server would have answered without a task. A caller who does not wait to the
// end does not want the task any more.
func (cl *call) taskCreated(ctx context.Context) (failed *Error) {
	if v := reflect.ValueOf(cl.result); v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().SetZero() // the task is no part of the result
	}
	t, into := cl.asked.handle, any(new(mcp.CallToolResult))
	waits := t == nil
	if waits {
		t, into = newTask(cl.c, cl.c.call), cl.result
	}
	kept := false
	defer func() {
		if !kept { // which a panic of the user's function for the status is one reason for
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

// wait waits for the outcome.
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

// pause waits until the server wants to be asked. It reports false if ctx ends first.
func (t *Task) pause(ctx context.Context) bool {
	t.mu.Lock()
	due, legacy := t.due, t.legacy
	t.mu.Unlock()
	if legacy {
		return t.pauseLegacy(ctx, due)
	}
	return conn.PauseFor(ctx, time.Until(due))
}

// postpone lets the next poll wait after one has failed, unless the server need not know the task any more.
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

// advance polls and gives the server what it needs. It is called with turn held.
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

// refused deals with an update that has failed. A server that refuses it may have ended the task meanwhile.
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

// maxTaskInputs is how much a task can ask for in all. Each key is remembered, so that nothing is answered twice.
const maxTaskInputs = 10_000

// answer has the handlers answer those of the requests that came by the poll id and have no answer yet. Answers that
// the task does not need any more are forgotten.
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
			err.Op, err.cause = mcp.MethodCallTool, fmt.Errorf("the task needs an answer first: %w", err.cause)
			return t.about(err)
		}
		t.answers[key] = answer
	}
	return nil
}

// checkInputs says which bound the server exceeds that asks for all this.
func (t *Task) checkInputs(requests mcp.InputRequests) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.answered)+len(t.answers) > maxTaskInputs {
		return fmt.Errorf("the task has asked for more than %d inputs", maxTaskInputs)
	}
	return checkInputs(requests)
}

// transient reports whether asking again later may help.
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

// interrupted is the error of a Wait whose context ended, or whose client was stopped.
func (t *Task) interrupted(ctx context.Context) *Error {
	e := t.about(errorOf(t.c.core.Interrupted(ctx, mcp.MethodCallTool, false)))
	e.Unsent = false // the tool has been called
	return e
}
