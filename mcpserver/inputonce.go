package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
)

// Once calls f and returns its result, and calls f only once for a request. When the handler runs again because the
// client has answered a question, Once returns the earlier result. Use Once for side effects that must not happen
// twice, for example to place an order before the user is asked how to pay. If f returns an error, Once returns the
// error and does not remember the call.
//
// The result of f is converted to JSON and back, even in the first round, because the client keeps it between the
// rounds, encrypted. The key identifies the call among the calls of the handler. Outside of a request, and if the
// client is asked no questions, Once just calls f.
//
// A client may repeat its first request, and may repeat a later round any number of times within [Options.StateTTL].
// Once does not protect against such clients; make the effect itself idempotent where that matters.
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

// enter returns the result for key, or a channel that is closed when another goroutine has finished the call. If both
// are nil, the caller must call do.
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
