package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// RequireInput returns an error for a handler to return if it needs input from the client. Unlike
// [RequestInfo.Elicit], RequireInput takes the requests themselves, under keys that the handler chooses, and a state
// for the handler's next run. requests may be empty if the client should only send the request again. The server then
// calls the handler again with [RequestInfo.InputResponses] and [RequestInfo.RequestState]. Between the rounds, the
// client keeps the state, encrypted.
//
// Most handlers use [RequestInfo.Elicit] and similar functions instead, which need no state. A handler with
// RequireInput also works with legacy clients, which get the requests directly. A legacy client that cannot be asked
// gets an error, and so does a client of either era that lacks a required capability.
// (specification 2026-07-28, basic/patterns/mrtr, "InputRequiredResult")
func (r *RequestInfo) RequireInput(requests mcp.InputRequests, state string) error {
	e := &inputRequired{own: &state}
	for key, request := range requests {
		a, err := askOf(key, request)
		if err != nil {
			return fmt.Errorf("input %q: %w", key, err)
		}
		e.asks = append(e.asks, a)
	}
	if len(e.asks) == 0 && state == "" {
		return errors.New("RequireInput needs a request or a state")
	}
	return e
}

// askOf converts a request for input to an Ask.
func askOf(key string, r mcp.InputRequest) (*Ask, error) {
	var a *Ask
	var err error
	switch r.Method {
	case mcp.MethodElicit:
		var p mcp.ElicitParams
		err = given.Decode(r.Params, &p)
		a = AskElicit(key, &p, nil)
	case mcp.MethodCreateMessage:
		var p mcp.CreateMessageParams
		err = given.Decode(r.Params, &p)
		a = AskCreateMessage(key, &p, nil)
	case mcp.MethodListRoots:
		a = AskListRoots(key, nil)
	default:
		err = fmt.Errorf("clients do not handle the method %q", r.Method)
	}
	if key == "" {
		err = errors.New("the key is empty")
	}
	return a, err
}

// InputResponses returns a copy of the client's answers to the requests of [RequestInfo.RequireInput] in this round, by
// key. The answers are not validated, and a client may send any keys. The map is nil if the request has no answers.
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

// RequestState returns the latest state that the handler passed to [RequestInfo.RequireInput] in an earlier round. It
// returns an empty string if there is no such state.
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

// maxInputRounds limits the rounds in which a handler may ask a legacy client by RequireInput.
const maxInputRounds = 10

// comeBack is the delay before the next run of a handler that required input without a question. The delay doubles
// with each round.
const comeBack = 50 * time.Millisecond

// handleRounds calls the handler until it requires no more input; see inRounds.
func (c *call) handleRounds(ctx context.Context) (any, error) {
	return c.inRounds(ctx, func() (any, error) {
		c.rounds.begin()
		return c.method.handle(ctx, c)
	})
}

// inRounds calls h, a handler or middleware. For a legacy client, inRounds asks for the required input and calls h
// again until h requires no more input. A modern client itself sends the request again.
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
			return nil, rpc.Fail(errNoInput, fmt.Errorf("the handler required input in more than %d rounds", round))
		}
		if err := c.fulfil(ctx, e, comeBack<<round); err != nil {
			return nil, rpc.Fail(errNoInput, err)
		}
	}
}

// required converts a handler's error that requires input. It returns the result that requests the input from the
// client or, if a legacy client must open a URL, the error with that URL. Other errors are returned unchanged.
func (c *call) required(err error) (any, error) {
	if e, ok := errors.AsType[*urlRequired](err); ok {
		return c.urlResult(e)
	}
	if e, ok := errors.AsType[*inputRequired](err); ok && c.modern() {
		return c.inputResult(e)
	}
	return nil, err
}

// fulfil asks a legacy client for the required input, and stores the answers for the handler's next run.
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
	items, err := inquiries(&c.info.from, c.info.Version, e.asks)
	if err == nil {
		err = c.inquireAll(ctx, items)
	}
	if err == nil {
		c.rounds.again(items, e.own)
	}
	return err
}

// again starts the next round with the answers to items.
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
