package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// RequireInput returns an error by which a handler says what it needs of the client, in its own words: requests under
// keys of its choice, none if the client is only to come back, and what the handler wants to know then. The handler is
// called again with [RequestInfo.InputResponses] and [RequestInfo.RequestState]. The state travels encrypted, as all
// that is kept between rounds.
//
// Most handlers use [Elicit] and its like instead, which need no state. The same handler serves legacy clients, which
// are sent the requests one by one; a legacy client that cannot be asked, and one of any era that has not declared what
// it would have to, gets an error.
// (specification 2026-07-28, basic/patterns/mrtr, "InputRequiredResult")
func RequireInput(requests mcp.InputRequests, state string) error {
	e := &inputRequired{own: &state}
	for key, r := range requests {
		a, err := askOf(key, r)
		if err != nil {
			return fmt.Errorf("input %q: %w", key, err)
		}
		e.asks = append(e.asks, a)
	}
	if len(e.asks) == 0 && state == "" {
		return errors.New("neither requests for input nor a state")
	}
	return e
}

// askOf returns the ask that a request spells out.
func askOf(key string, r mcp.InputRequest) (*Ask, error) {
	var a *Ask
	var err error
	switch r.Method {
	case mcp.MethodElicit:
		var p mcp.ElicitParams
		err = decodeCopy(r.Params, &p)
		a = AskElicit(key, &p, nil)
	case mcp.MethodCreateMessage:
		var p mcp.CreateMessageParams
		err = decodeCopy(r.Params, &p)
		a = AskCreateMessage(key, &p, nil)
	case mcp.MethodListRoots:
		a = AskListRoots(key, nil)
	default:
		err = fmt.Errorf("clients have no method %q to be asked by", r.Method)
	}
	if key == "" {
		err = errors.New("the key is empty")
	}
	return a, err
}

// InputResponses returns what the client has sent in answer to the requests of [RequireInput], by their keys: what
// there is of this round, unchecked, in memory of its own. The keys may be any. It is nil if there is nothing.
func (r *RequestInfo) InputResponses() mcp.InputResponses {
	if r == nil || r.call == nil {
		return nil
	}
	rounds := &r.call.rounds
	rounds.mu.Lock()
	defer rounds.mu.Unlock()
	if rounds.open(r.call) != nil || rounds.given == nil {
		return nil
	}
	own := make(mcp.InputResponses, len(rounds.given))
	for key, answer := range rounds.given {
		own[key] = bytes.Clone(answer)
	}
	return own
}

// RequestState returns what the handler has given [RequireInput] last, in one of the rounds before; empty if it has
// not.
func (r *RequestInfo) RequestState() string {
	if r == nil || r.call == nil {
		return ""
	}
	rounds := &r.call.rounds
	rounds.mu.Lock()
	defer rounds.mu.Unlock()
	if rounds.open(r.call) != nil {
		return ""
	}
	return rounds.past.Own
}

// maxInputRounds is how often a handler may ask a legacy client by RequireInput.
const maxInputRounds = 10

// comeBack is the time before a handler that asked for nothing runs again. It doubles each time.
const comeBack = 50 * time.Millisecond

// handleRounds calls the handler, as inRounds does.
func (c *call) handleRounds(ctx context.Context) (any, error) {
	return c.inRounds(ctx, func() (any, error) {
		c.rounds.begin()
		return c.method.handle(ctx, c)
	})
}

// inRounds calls h, a handler or middleware, again and again as long as it requires input of a client that is not
// modern. A modern one sends the request again itself.
func (c *call) inRounds(ctx context.Context, h func() (any, error)) (any, error) {
	for round := 0; ; round++ {
		result, err := h()
		if err == nil {
			return result, nil
		}
		e, ok := errors.AsType[*inputRequired](err)
		switch {
		case !ok || c.modern():
			return c.required(err)
		case round == maxInputRounds:
			return nil, rpc.Fail(errNoInput, fmt.Errorf("input was required %d times", round))
		}
		if err := c.fulfil(ctx, e, comeBack<<round); err != nil {
			return nil, rpc.Fail(errNoInput, err)
		}
	}
}

// required answers with what is required of the client by err, an error of a handler or of middleware; any other error
// it returns.
func (c *call) required(err error) (any, error) {
	if e, ok := errors.AsType[*urlRequired](err); ok {
		return c.urlResult(e)
	}
	if e, ok := errors.AsType[*inputRequired](err); ok && c.modern() {
		return c.inputResult(e)
	}
	return nil, err
}

// fulfil asks a legacy client for what a handler requires, and lets the handler find the answers.
func (c *call) fulfil(ctx context.Context, e *inputRequired, pause time.Duration) error {
	if len(e.asks) == 0 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		c.rounds.again(nil, e.own)
		return nil
	}
	if err := c.canAsk(); err != nil {
		return err
	}
	items, err := c.info.from.inquiries(c.info.Version, e.asks)
	if err == nil {
		err = c.inquireAll(ctx, items)
	}
	if err == nil {
		c.rounds.again(items, e.own)
	}
	return err
}

// again begins another round, in which items have been answered.
func (r *rounds) again(items []*inquiry, own *string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given = mcp.InputResponses{}
	for _, it := range items {
		r.given[it.key] = r.kept[it.key]
		delete(r.kept, it.key)
	}
	r.past = r.next(own)
	r.opened, r.kept = true, nil
}
