package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// legacyAsker asks for a task of 2025-11-25: what it asks is put to the client as a request, on the stream of a
// tasks/result that waits for the task, in whatever process that is.
// (specification 2025-11-25, basic/utilities/tasks, "Input Required Status")
type legacyAsker struct{ r *taskRun }

func (a legacyAsker) ask(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error) {
	related := mcp.InputRequests{}
	for name, r := range requests {
		var err error
		if r.Params, err = a.relate(r.Params); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Method, err)
		}
		related[name] = r
	}
	responses, err := a.r.ask(ctx, related)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(responses)) {
		if responses[name], err = openRelayed(responses[name], requests[name].Method); err != nil {
			return nil, err
		}
	}
	return responses, nil
}

// relate adds the task to the params of a request, nil for none.
func (a legacyAsker) relate(params json.RawMessage) (json.RawMessage, error) {
	var meta mcp.Meta
	if own, ok := mcp.Object(params).Lookup("_meta"); ok {
		meta = mcp.Meta(own)
	}
	meta, err := a.r.legacy.relate(meta)
	if err != nil {
		return nil, err
	}
	with, err := mcp.Object(params).With("_meta", json.RawMessage(meta))
	return json.RawMessage(with), err
}

// Meta is the _meta of what is said about a question: the task that asks it, if it is one of 2025-11-25.
func (it *inquiry) Meta() mcp.Meta {
	meta, _ := mcp.Object(it.encoded).Lookup("_meta")
	task, ok := mcp.Object(meta).Lookup(mcp.MetaRelatedTask)
	if !ok {
		return nil
	}
	related, _ := mcp.Meta(nil).With(mcp.MetaRelatedTask, task) // which has been read
	return related
}

// relayed is a response of the client on its way to the handler, which may be in another process: one of these.
type relayed struct {
	Result json.RawMessage `json:"result,omitzero"`
	Error  *mcp.Error      `json:"error,omitzero"`  // what the client answered
	Broken string          `json:"broken,omitzero"` // what is wrong with what it answered
}

// relayedOf returns what the handler is to get when the client was asked, and reports whether that is anything.
func relayedOf(answer json.RawMessage, err error) (relayed, bool) {
	if err == nil {
		return relayed{Result: answer}, true
	}
	if refused, ok := errors.AsType[*ClientError](err); ok {
		return relayed{Error: &mcp.Error{Code: refused.Code, Message: refused.Message, Data: refused.Data}}, true
	}
	if broken, ok := errors.AsType[*rpc.Violation](err); ok {
		return relayed{Broken: broken.Error()}, true
	}
	return relayed{}, false
}

// openRelayed returns the result in a response, or the error that it is.
func openRelayed(raw json.RawMessage, method string) (json.RawMessage, error) {
	var r relayed
	switch err := json.Unmarshal(raw, &r); {
	case err != nil:
		return nil, fmt.Errorf("%s: the client's response: %w", method, err)
	case r.Error != nil:
		return nil, &ClientError{Method: method, Code: r.Error.Code, Message: r.Error.Message, Data: r.Error.Data}
	case r.Broken != "":
		return nil, errors.New(r.Broken)
	}
	return r.Result, nil
}

// taskWait is a tasks/result that waits for its task. But for what is asked, it is owned by the goroutine that waits.
type taskWait struct {
	k       *taskKeeper
	c       *call
	id      string        // of the task
	changed chan struct{} // has a value if the task may have changed
	ctx     context.Context
	cancel  context.CancelCauseFunc

	inquiries map[string]context.CancelFunc // by the keys of what the task asks; those that are over too
	asking    sync.WaitGroup
}

// askedKey is a request of a task.
type askedKey struct{ id, key string }

// ask puts to the client what the task asks and no other wait does, and withdraws what it does not ask any more.
func (w *taskWait) ask(t *store.Task) {
	for key, cancel := range w.inquiries {
		if _, open := t.Requests[key]; !open {
			cancel()
			delete(w.inquiries, key)
		}
	}
	if w.c.canAsk() != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(t.Requests)) {
		if w.inquiries[key] != nil || !w.k.claim(askedKey{w.id, key}, w) {
			continue
		}
		ctx, cancel := context.WithCancel(w.ctx)
		w.inquiries[key] = cancel
		request := t.Requests[key]
		w.asking.Go(func() { w.inquire(ctx, key, request) }) // ends with the answer or with ctx
	}
}

// withdraw ends what is still being asked.
func (w *taskWait) withdraw() {
	for _, cancel := range w.inquiries {
		cancel()
	}
	w.asking.Wait()
}

// inquire puts one request to the client and gives the task the response. If there is none, the next tasks/result asks
// again.
func (w *taskWait) inquire(ctx context.Context, key string, r mcp.InputRequest) {
	defer w.k.unclaim(askedKey{w.id, key}, w)
	w.c.x.Asks.Pause(&w.c.Call)
	defer w.c.x.Asks.Resume(&w.c.Call)
	q := &taskQuestion{name: r.Method}
	err := w.c.inquirer().inquire(ctx, &inquiry{question: q, key: key, encoded: r.Params})
	if response, answered := relayedOf(q.answer, err); answered {
		w.respond(key, response)
	}
	if errors.Is(err, rpc.ErrClosed) { // the client will not answer any more, and the task cannot go on without that
		w.cancel(errShuttingDown)
	}
}

// respond gives the task a response.
func (w *taskWait) respond(key string, response relayed) {
	raw, err := json.Marshal(response)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.c.Context()), storeTimeout)
	defer cancel()
	_, err = w.k.change(ctx, w.id, nil, func(t *store.Task) bool {
		return respondTask(t, mcp.InputResponses{key: raw}, stamp())
	})
	if errors.Is(err, store.ErrFull) && response.Broken == "" {
		w.respond(key, relayed{Broken: "there is no room for what the client has answered"})
	}
}

// claim makes w the one who puts a request of a task to the client, and reports false if it is another wait, whose
// client reads.
func (k *taskKeeper) claim(key askedKey, w *taskWait) bool {
	k.mu.Lock()
	holder := k.claims[key]
	k.mu.Unlock()
	if holder != nil && !holder.c.unheard() {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.claims[key] != holder {
		return false
	}
	k.claims[key] = w
	return true
}

// unclaim lets another wait put the request to the client.
func (k *taskKeeper) unclaim(key askedKey, w *taskWait) {
	k.mu.Lock()
	var others []taskListener
	if k.claims[key] == w {
		delete(k.claims, key)
		others = slices.Collect(maps.Keys(k.watches[key.id]))
	}
	k.mu.Unlock()
	for _, l := range others {
		l.note(key.id)
	}
}

// unheard reports whether the client does not read what is sent to it on behalf of a request.
func (c *call) unheard() bool { return !c.Out.Reach().Read }

// taskQuestion is a question whose answer is for the handler of a task to read.
type taskQuestion struct {
	name   string
	answer json.RawMessage
}

func (q *taskQuestion) Method() string { return q.name }
func (q *taskQuestion) check() error   { return nil }

func (q *taskQuestion) missing(mcp.Version, *mcp.ClientCapabilities, *mcp.ClientCapabilities) bool {
	return false
}

func (q *taskQuestion) params(mcp.Version, *mcp.ClientCapabilities) (any, error) { return nil, nil }

func (q *taskQuestion) Take(_ context.Context, answer json.RawMessage) error {
	q.answer = slices.Clone(answer)
	return nil
}
