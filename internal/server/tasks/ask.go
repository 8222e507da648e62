package tasks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// CanAsk reports whether the handler asks the client through the task, with Ask. Otherwise the handler asks through the
// request. Then the call no longer becomes a task after [Run.After], because the handler may return soon so that the
// client can send the request again. ctx is the context of the handler.
func (r *Run) CanAsk(ctx context.Context) (bool, error) {
	unlock, err := r.lock(ctx) // another goroutine may be creating the task
	if err != nil {
		return false, err
	}
	defer unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.record == nil {
		r.asking = true
	}
	return r.record != nil, nil
}

// Ask sends several requests to the client at once. The caller has chosen a name for each request, and gets the
// response under the same name. Ask waits until all responses have arrived, or until ctx or the task ends. If a client
// of 2025-11-25 refuses, the error is a [*rpc.RefusalError]. Ask is safe for concurrent use.
func (r *Run) Ask(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error) {
	if r.Legacy != nil {
		return r.askLegacy(ctx, requests)
	}
	return r.ask(ctx, requests)
}

// ask adds requests to the task under new keys, and waits until the client has responded to each request. (tasks
// extension, "Task Update Requests")
func (r *Run) ask(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error) {
	names := slices.Sorted(maps.Keys(requests))
	keys := make([]string, len(names))
	t, err := r.Keeper.change(ctx, r.id, r.latest(), func(t *store.Task) bool {
		if t.Status.Terminal() {
			return false
		}
		t.Requests = maps.Clone(t.Requests)
		if t.Requests == nil {
			t.Requests = mcp.InputRequests{}
		}
		for i, name := range names {
			t.Asked++
			keys[i] = strconv.FormatInt(t.Asked, 10)
			t.Requests[keys[i]] = requests[name]
		}
		change(t, statusFor(t.Requests), now())
		return true
	})
	if err != nil {
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("ask the client: %w", err))
	}
	r.learn(t)
	responses, err := r.await(ctx, keys)
	r.collect(keys)
	if err != nil {
		return nil, err
	}
	named := mcp.InputResponses{}
	for i, name := range names {
		named[name] = responses[keys[i]]
	}
	return named, nil
}

// await waits until the client has responded to the requests under these keys. It returns all responses of the task.
func (r *Run) await(ctx context.Context, keys []string) (mcp.InputResponses, error) {
	for {
		r.mu.Lock()
		t, moved := r.record, r.moved.Next()
		r.mu.Unlock()
		if !slices.ContainsFunc(keys, func(key string) bool { _, there := t.Responses[key]; return !there }) {
			return t.Responses, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		}
	}
}

// collect removes the requests under these keys, and their responses, from the task.
func (r *Run) collect(keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), storeTimeout)
	defer cancel()
	t, err := r.Keeper.change(ctx, r.id, r.latest(), func(t *store.Task) bool {
		if t.Status.Terminal() {
			return false
		}
		open := maps.Clone(t.Requests)
		t.Responses = maps.Clone(t.Responses)
		for _, key := range keys {
			delete(open, key)
			delete(t.Responses, key)
		}
		withdrawn := len(open) < len(t.Requests)
		if t.Requests = open; withdrawn {
			change(t, statusFor(open), now())
		}
		return true
	})
	if err == nil { // otherwise the end of the task removes them
		r.learn(t)
	}
}
