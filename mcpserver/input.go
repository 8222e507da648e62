package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// rounds holds the questions to the client during one request, and the client's answers: the answers in this request,
// and the answers of the earlier rounds that this request continues.
type rounds struct {
	responses, sealed []byte // inputResponses and requestState of the params, raw; nil if absent

	mu      sync.Mutex
	opened  bool                       // guarded by mu; responses and sealed have been read
	invalid error                      // guarded by mu; error of reading responses or sealed
	past    state                      // guarded by mu; state of the earlier rounds
	given   mcp.InputResponses         // guarded by mu; answers in this request
	kept    map[string]json.RawMessage // guarded by mu; answers that the handler has used in this run
	asked   mcp.InputRequests          // guarded by mu; unanswered questions
	used    map[string]bool            // guarded by mu; keys used in this run
	begun   bool                       // guarded by mu; the handler has started
	before  map[string]bool            // guarded by mu; keys that middleware used before the handler started
	done    map[string]json.RawMessage // guarded by mu; results of Once
	doing   map[string]chan struct{}   // guarded by mu; by key of a running Once; closed when it ends
}

// arrive stores inputResponses and requestState of the params, if the method supports rounds.
func (c *call) arrive(p *jsonrpc.Params) {
	if c.modern() && asksInResult(c.info.Method) {
		c.rounds.responses, c.rounds.sealed = p.InputResponses, p.RequestState
	}
}

// resume reads inputResponses and requestState, if the request has them.
func (c *call) resume() error {
	r := &c.rounds
	if r.responses == nil && r.sealed == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open(c)
}

// open reads responses and sealed when it is first called. mu is held.
func (r *rounds) open(c *call) error {
	if r.opened {
		return r.invalid
	}
	r.opened = true
	r.past, r.given, r.invalid = r.read(c)
	r.done = maps.Clone(r.past.Done)
	return r.invalid
}

func (r *rounds) read(c *call) (past state, answers mcp.InputResponses, err error) {
	if r.responses != nil {
		if err := given.Decode(r.responses, &answers); err != nil {
			return past, nil, rpc.InvalidParams("params.inputResponses: %w", err)
		}
	}
	if r.sealed == nil {
		return past, answers, nil
	}
	text, ok := jsonrpc.Text(r.sealed)
	if !ok {
		return past, nil, rpc.InvalidParams("params.requestState is not a string")
	}
	binding, err := c.binding()
	if err != nil {
		return past, nil, err
	}
	if past, err = c.x.s.cfg.sealer.open(text, binding, time.Now()); err != nil {
		return past, nil, rpc.InvalidParams("%w", err)
	}
	return past, answers, nil
}

// take assigns a unique key to each item, and stores the answers that have arrived. It returns the unanswered items.
func (r *rounds) take(ctx context.Context, c *call, items []*inquiry) (left []*inquiry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(c); err != nil {
		return nil, err
	}
	for _, it := range items {
		it.key = r.name(it.key)
		answer, ok := r.past.Answers[it.key] // an earlier answer is final
		if !ok {
			answer, ok = r.given[it.key]
		}
		if !ok {
			left = append(left, it)
			continue
		}
		if err := it.Take(ctx, answer); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, rpc.InvalidParams("params.inputResponses: %q: %w", it.key, err)
		}
		r.keeping(it.key, answer)
	}
	return left, nil
}

// begin starts a run of the handler. It forgets the keys of the previous run, so that the questions get the same keys
// again.
func (r *rounds) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		r.begun, r.before = true, maps.Clone(r.used)
		return
	}
	r.used = maps.Clone(r.before)
}

// name returns key. If this run of the handler or earlier middleware has used key, name appends a number. mu is held.
func (r *rounds) name(key string) string {
	if r.used == nil {
		r.used = map[string]bool{}
	}
	unique := key
	for n := 2; r.used[unique]; n++ {
		unique = key + "-" + strconv.Itoa(n)
	}
	r.used[unique] = true
	return unique
}

// keep stores an answer for the next run of the handler.
func (r *rounds) keep(key string, answer json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keeping(key, answer)
}

// keeping is keep for callers that hold mu.
func (r *rounds) keeping(key string, answer json.RawMessage) {
	if r.kept == nil {
		r.kept = map[string]json.RawMessage{}
	}
	r.kept[key] = bytes.Clone(answer)
}

// require stores the questions for the client. It returns the error for the handler to return.
func (r *rounds) require(items []*inquiry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = mcp.InputRequests{}
	}
	for _, it := range items {
		r.asked[it.key] = mcp.InputRequest{Method: it.Method(), Params: it.encoded}
	}
	return &inputRequired{}
}

// inputRequired is the error of a handler that needs the client's answers first.
type inputRequired struct {
	asks []*Ask  // questions in addition to rounds.asked
	own  *string // the handler's new state; nil to keep the previous state
}

func (e *inputRequired) Error() string {
	return "the client must be asked first: return this error from the handler; the server then calls the handler again"
}

func (e *inputRequired) Unwrap() []error { return []error{ErrInputRequired, errNoInput} }

// errNoInput is the answer to a request that needs input from a client that cannot be asked.
var errNoInput = &mcp.Error{Code: mcp.CodeInternalError,
	Message: "the request needs input, but the client cannot be asked"}

// next returns the state for the next round. mu is held.
func (r *rounds) next(own *string) state {
	next := state{Round: r.past.Round + 1, Answers: maps.Clone(r.past.Answers), Done: r.done, Own: r.past.Own}
	if own != nil {
		next.Own = *own
	}
	if next.Answers == nil {
		next.Answers = r.kept
	} else {
		maps.Copy(next.Answers, r.kept)
	}
	return next
}

// inputResult returns the result that asks a modern client the questions of the handler.
func (c *call) inputResult(e *inputRequired) (any, error) {
	if !asksInResult(c.info.Method) {
		return nil, e
	}
	if len(e.asks) > 0 {
		items, err := inquiries(&c.info.from, c.info.Version, e.asks)
		if err != nil {
			return nil, err
		}
		_ = c.rounds.require(items)
	}
	binding, err := c.binding()
	if err != nil {
		return nil, err
	}
	r := &c.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	sealed, err := c.x.s.cfg.sealer.seal(r.next(e.own), binding, time.Now())
	if err != nil {
		return nil, err
	}
	return &mcp.InputRequiredResult{
		Result: mcp.Result{ResultType: mcp.ResultInputRequired}, InputRequests: maps.Clone(r.asked), RequestState: &sealed,
	}, nil
}

// Once calls f and returns its result, and calls f only once for a request. When the handler runs again because the
// client has answered a question, Once returns the earlier result. Use Once for side effects that must not happen
// twice, for example to place an order before the user is asked how to pay. If f returns an error, Once returns the
// error and does not remember the call.
//
// Once converts the result of f to JSON and back, even in the first round, because the client keeps the result between
// the rounds, encrypted. The key identifies the call among the calls of the handler. Outside of a request, and if the
// handler asks no questions, Once just calls f.
//
// A client may repeat its first request, and may repeat a later round any number of times within [Options.StateTTL].
// Once does not protect against such clients; if that matters, make the effect itself idempotent.
// (specification 2026-07-28, basic/patterns/mrtr, "Server Requirements (Basic Workflow)")
func Once[T any](ctx context.Context, key string, f func() (T, error)) (result T, err error) {
	r := RequestFrom(ctx)
	if r == nil || r.call == nil {
		return f()
	}
	raw, err := r.call.rounds.once(ctx, r.call, key, func() (json.RawMessage, error) {
		value, err := f()
		if err != nil {
			return nil, err
		}
		return json.Marshal(value)
	})
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("once %s: %w", key, err)
	}
	return result, nil
}

// once returns the earlier result of f, or calls f. Concurrent callers with the same key wait for the first one.
func (r *rounds) once(ctx context.Context, c *call, key string, f func() (json.RawMessage, error)) (json.RawMessage,
	error) {
	for {
		raw, busy, err := r.enter(c, key)
		switch {
		case err != nil || raw != nil:
			return raw, err
		case busy == nil:
			return r.do(key, f)
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// enter returns the result for key. If another goroutine is calling f, enter returns a channel that is closed after
// that call. If both results are nil, the caller must call do.
func (r *rounds) enter(c *call, key string) (raw json.RawMessage, busy <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(c); err != nil {
		return nil, nil, err
	}
	if raw, ok := r.done[key]; ok {
		return raw, nil, nil
	}
	if busy, ok := r.doing[key]; ok {
		return nil, busy, nil
	}
	if r.doing == nil {
		r.doing = map[string]chan struct{}{}
	}
	r.doing[key] = make(chan struct{})
	return nil, nil, nil
}

// do calls f and stores its result, unless f fails or panics.
func (r *rounds) do(key string, f func() (json.RawMessage, error)) (raw json.RawMessage, err error) {
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if raw != nil && err == nil {
			if r.done == nil {
				r.done = map[string]json.RawMessage{}
			}
			r.done[key] = raw
		}
		close(r.doing[key])
		delete(r.doing, key)
	}()
	return f()
}
