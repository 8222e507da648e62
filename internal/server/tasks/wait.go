package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// A task of 2025-11-25 asks its client with a request of the server. The request is sent on the stream of a
// tasks/result that waits for the task, in any process. The client's answer is stored as a response, and the handler
// reads it from the store. (specification 2025-11-25, basic/utilities/tasks, "Input Required Status")

// askLegacy implements Ask for a task of 2025-11-25.
func (r *Run) askLegacy(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error) {
	related := mcp.InputRequests{}
	for name, q := range requests {
		var err error
		if q.Params, err = r.Legacy.relateParams(q.Params); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Method, err)
		}
		related[name] = q
	}
	responses, err := r.ask(ctx, related)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(responses)) {
		if responses[name], err = openResponse(responses[name], requests[name].Method); err != nil {
			return nil, err
		}
	}
	return responses, nil
}

// response is the client's answer in the store. The handler may run in another process. Exactly one member is set.
type response struct {
	Result json.RawMessage `json:"result,omitzero"`
	Error  *mcp.Error      `json:"error,omitzero"`  // the client refuses
	Broken string          `json:"broken,omitzero"` // why the answer is invalid
}

// responseOf converts the results of Asker.Ask to a response. It reports false if the client has not answered.
func responseOf(answer json.RawMessage, err error) (response, bool) {
	if err == nil {
		return response{Result: answer}, true
	}
	if refused, ok := errors.AsType[*rpc.RefusalError](err); ok {
		return response{Error: &mcp.Error{Code: refused.Code, Message: refused.Message, Data: refused.Data}}, true
	}
	if broken, ok := errors.AsType[*rpc.Violation](err); ok {
		return response{Broken: broken.Error()}, true
	}
	return response{}, false
}

// openResponse returns the result or the error in a response.
func openResponse(raw json.RawMessage, method string) (json.RawMessage, error) {
	var r response
	switch err := json.Unmarshal(raw, &r); {
	case err != nil:
		return nil, fmt.Errorf("%s: the client's response: %w", method, err)
	case r.Error != nil:
		return nil, &rpc.RefusalError{Method: method, Code: r.Error.Code, Message: r.Error.Message, Data: r.Error.Data}
	case r.Broken != "":
		return nil, errors.New(r.Broken)
	}
	return r.Result, nil
}

// Result answers tasks/result with the answer to the original call as soon as the answer exists. Result may wait longer
// than the request timeout, because an unfinished task is not a failure. While it waits, it asks the client the
// questions of the task. (specification 2025-11-25, basic/utilities/tasks, "Result Retrieval")
func (k *Keeper) Result(request *rpc.Call, a Asker, c Client, id string) (any, error) {
	t, err := k.find(request.Context(), c, id)
	if err == nil && !t.Status.Terminal() {
		w := &wait{keeper: k, request: request, asker: a, client: c, id: id, news: make(chan struct{}, 1),
			questions: map[string]context.CancelFunc{}}
		w.ctx, w.cancel = context.WithCancelCause(request.Context())
		defer w.cancel(nil)
		t, err = w.wait()
	}
	switch {
	case err != nil:
		return nil, err
	case t.Error != nil:
		return nil, t.Error
	case t.Result != nil:
		return t.Result, nil
	}
	return nil, errCancelled
}

var errCancelled = &mcp.Error{Code: mcp.CodeInternalError, Message: "the task was cancelled"}

// wait is a tasks/result request that waits for its task.
type wait struct {
	keeper  *Keeper
	request *rpc.Call
	asker   Asker
	client  Client
	id      string        // id of the task
	news    chan struct{} // capacity 1; signals that the task may have changed
	ctx     context.Context
	cancel  context.CancelCauseFunc

	questions map[string]context.CancelFunc // cancels each question, by key in the task; owned by the waiting goroutine
	asking    sync.WaitGroup                // goroutines that ask questions
}

// question identifies a request of a task.
type question struct{ id, key string }

// wait waits until the task has ended.
func (w *wait) wait() (*store.Task, error) {
	k, ctx := w.keeper, w.ctx
	k.watch(ctx)
	k.mu.Lock()
	k.listen(w.id, w)
	k.mu.Unlock()
	defer func() {
		w.withdraw()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.unlisten(w.id, w)
	}()
	back, ok := w.request.Exchange.WaitForClient()
	if !ok {
		return nil, rpc.ErrBusy
	}
	defer back()
	for {
		t, err := k.find(ctx, w.client, w.id)
		if err != nil || t.Status.Terminal() {
			return t, err
		}
		w.ask(t)
		pause := k.Options.Lease // a dead server reports no changes
		if !t.Expires.IsZero() {
			pause = min(pause, time.Until(t.Expires))
		}
		timer := time.NewTimer(pause)
		select {
		case <-w.news:
		case <-timer.C:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		timer.Stop()
		if err != nil {
			return nil, err
		}
	}
}

// changed implements [listener].
func (w *wait) changed(string) {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// ask asks the client all open questions of the task, except those that another wait asks. It withdraws questions that
// are no longer open.
func (w *wait) ask(t *store.Task) {
	for key, cancel := range w.questions {
		if _, open := t.Requests[key]; !open {
			cancel()
			delete(w.questions, key)
		}
	}
	if !w.asker.CanAsk() {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(t.Requests)) {
		if w.questions[key] != nil || !w.keeper.claim(question{w.id, key}, w) {
			continue
		}
		ctx, cancel := context.WithCancel(w.ctx)
		w.questions[key] = cancel
		r := t.Requests[key]
		w.asking.Go(func() { w.askOne(ctx, key, r) }) // ends with the answer or with ctx
	}
}

// withdraw withdraws the questions that the client has not answered, and waits for the goroutines that ask them.
func (w *wait) withdraw() {
	for _, cancel := range w.questions {
		cancel()
	}
	w.asking.Wait()
}

// askOne asks the client one question and passes the response to the task. Without a response, the next tasks/result
// request asks again.
func (w *wait) askOne(ctx context.Context, key string, r mcp.InputRequest) {
	defer w.keeper.unclaim(question{w.id, key}, w)
	w.request.Exchange.Asks.Pause(w.request)
	defer w.request.Exchange.Asks.Resume(w.request)
	answer, err := w.asker.Ask(ctx, asked{r})
	if response, answered := responseOf(answer, err); answered {
		w.respond(key, response)
	}
	if errors.Is(err, rpc.ErrClosed) { // the client will send no more answers, so the task cannot finish
		w.cancel(w.keeper.Options.Stopping)
	}
}

// respond adds a response to the task.
func (w *wait) respond(key string, r response) {
	raw, err := json.Marshal(r)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.request.Context()), storeTimeout)
	defer cancel()
	_, err = w.keeper.change(ctx, w.id, nil, func(t *store.Task) bool {
		return respond(t, mcp.InputResponses{key: raw})
	})
	if errors.Is(err, store.ErrFull) && r.Broken == "" {
		w.respond(key, response{Broken: "there is no room for the client's answers"})
	}
}

// claim reserves the question for w, so that no other wait asks it. It returns false if another wait has the question
// and the client of that wait still reads its stream.
func (k *Keeper) claim(q question, w *wait) bool {
	k.mu.Lock()
	holder := k.claims[q]
	k.mu.Unlock()
	if holder != nil && holder.request.Out.Reach().Read {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.claims[q] != holder {
		return false
	}
	k.claims[q] = w
	return true
}

// unclaim releases a question and wakes the other waits, so that one of them asks it.
func (k *Keeper) unclaim(q question, w *wait) {
	k.mu.Lock()
	var others []listener
	if k.claims[q] == w {
		delete(k.claims, q)
		others = slices.Collect(maps.Keys(k.listeners[q.id]))
	}
	k.mu.Unlock()
	for _, l := range others {
		l.changed(q.id)
	}
}

// asked adapts a request of a task to [rpc.Question]. The handler validates the answer.
type asked struct{ request mcp.InputRequest }

func (q asked) Method() string                              { return q.request.Method }
func (q asked) Params() json.RawMessage                     { return q.request.Params }
func (q asked) Take(context.Context, json.RawMessage) error { return nil }
func (q asked) Meta() mcp.Meta                              { return Related(q.request.Params) }
