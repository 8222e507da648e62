package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
)

// Once calls f and returns its result, and does not call it again while the request is being dealt with: when the
// handler runs anew because the client has answered what it was asked, Once returns the result from before. So it is
// the place for what must not be done twice, such as an order that is placed before the user is asked how to pay. An
// error of f is returned, and forgets the call.
//
// What f returns goes through JSON, each time: between the rounds it is kept by the client, encrypted. The key names
// the call among those of the handler. Where the client asks nothing, and outside of a request, Once only calls f.
//
// A client may send its first request again, or one of the rounds as often as it likes until [Options.StateTTL] is
// over. What must not happen twice whatever a client does has to be prevented where it happens.
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

// once returns the result that f has had, or calls f. While one caller does, others with the same key wait.
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

// enter returns the result under a key, or what to wait for until another goroutine has it, or neither: then it is for
// the caller to do.
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

// do calls f and keeps its result, unless it fails or panics.
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
