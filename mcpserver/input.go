package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// rounds is what the client has been asked for the sake of one request, and what it has answered: with this request and
// with those before that it repeats.
type rounds struct {
	responses, sealed []byte // members of the params, raw; nil for none

	mu      sync.Mutex
	opened  bool                       // guarded by mu; the members have been read
	invalid error                      // guarded by mu; why they could not be
	past    state                      // guarded by mu; of the rounds before
	given   mcp.InputResponses         // guarded by mu; in this round
	kept    map[string]json.RawMessage // guarded by mu; answers that a handler has taken while it runs
	asked   mcp.InputRequests          // guarded by mu; what it misses
	used    map[string]bool            // guarded by mu; keys that it has used
	begun   bool                       // guarded by mu; the handler has begun
	before  map[string]bool            // guarded by mu; keys that middleware had used before that
	done    map[string]json.RawMessage // guarded by mu; results of Once
	doing   map[string]chan struct{}   // guarded by mu; closed when a Once has ended
}

// arrive notes what a request brings of the rounds before, if it is one that can.
func (c *call) arrive(p *jsonrpc.Params) {
	if c.modern() && asksInResult(c.info.Method) {
		c.rounds.responses, c.rounds.sealed = p.InputResponses, p.RequestState
	}
}

// resume reads what a request brings of the rounds before, if it brings anything.
func (c *call) resume() error {
	r := &c.rounds
	if r.responses == nil && r.sealed == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open(c)
}

// open reads the members of the params. mu is held.
func (r *rounds) open(c *call) error {
	if r.opened {
		return r.invalid
	}
	r.opened = true
	r.past, r.given, r.invalid = r.read(c)
	r.done = maps.Clone(r.past.Done)
	return r.invalid
}

func (r *rounds) read(c *call) (past state, given mcp.InputResponses, err error) {
	if r.responses != nil {
		if err := decodeCopy(r.responses, &given); err != nil {
			return past, nil, invalidParams("params.inputResponses: %w", err)
		}
	}
	if r.sealed == nil {
		return past, given, nil
	}
	text, ok := jsonrpc.Text(r.sealed)
	if !ok {
		return past, nil, invalidParams("params.requestState is no string")
	}
	binding, err := c.binding()
	if err != nil {
		return past, nil, err
	}
	if past, err = c.x.s.cfg.sealer.open(text, binding, time.Now()); err != nil {
		return past, nil, invalidParams("%w", err)
	}
	return past, given, nil
}

// take gives items their keys and those answers that are there. It returns the others.
func (r *rounds) take(ctx context.Context, c *call, items []*inquiry) (left []*inquiry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(c); err != nil {
		return nil, err
	}
	for _, it := range items {
		it.key = r.name(it.key)
		answer, ok := r.past.Answers[it.key] // what was answered once stays so
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
			return nil, invalidParams("params.inputResponses: %q: %w", it.key, err)
		}
		r.keeping(it.key, answer)
	}
	return left, nil
}

// begin says that the handler begins, perhaps again: then it asks for the same under the same keys.
func (r *rounds) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		r.begun, r.before = true, maps.Clone(r.used)
		return
	}
	r.used = maps.Clone(r.before)
}

// name gives out a key that has not been used since the handler began, or by middleware before. mu is held.
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

// keep notes an answer, for when the handler runs again.
func (r *rounds) keep(key string, answer json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keeping(key, answer)
}

// keeping is keep; mu is held.
func (r *rounds) keeping(key string, answer json.RawMessage) {
	if r.kept == nil {
		r.kept = map[string]json.RawMessage{}
	}
	r.kept[key] = bytes.Clone(answer)
}

// require notes what the client is to be asked for, and returns the error for the handler to return.
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

// inputRequired is the error of a handler whose client has to be asked first.
type inputRequired struct {
	asks []*Ask  // besides what has been noted
	own  *string // what the handler wants to know then; nil for what it wanted before
}

func (e *inputRequired) Error() string {
	return "the client has to be asked first: the handler is to return this error, and is called again with the answers"
}

func (e *inputRequired) Unwrap() []error { return []error{ErrInputRequired, errNoInput} }

// errNoInput answers a request that needs input and cannot ask for it.
var errNoInput = &mcp.Error{Code: mcp.CodeInternalError,
	Message: "the request needs input for which the client cannot be asked"}

// next returns what is to be remembered for the next round. mu is held.
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

// inputResult returns the result that asks a modern client for what the handler needs.
func (c *call) inputResult(e *inputRequired) (any, error) {
	if !asksInResult(c.info.Method) {
		return nil, e
	}
	if len(e.asks) > 0 {
		items, err := c.info.from.inquiries(c.info.Version, e.asks)
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
