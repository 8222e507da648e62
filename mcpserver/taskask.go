package mcpserver

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

// asker is where what a handler asks of the client goes if it does not go by way of the request: a task.
type asker interface {
	// ask puts requests to the client, all at once, each under a name of the caller's, and returns the response to each
	// under the same name. It waits for them as long as ctx and the task allow. Several may ask at the same time.
	ask(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error)
}

// askerOf returns the asker for the handler whose context is ctx, nil if what it asks has to go by way of the request.
// If that means that the client sends the request anew, the call is not made a task any more by itself: the handler is
// about to return.
func askerOf(ctx context.Context) (asker, error) {
	info := RequestFrom(ctx)
	if info == nil || info.task == nil {
		return nil, nil
	}
	r := info.task
	release, err := r.take(ctx) // a beginning may be under way
	if err != nil {
		return nil, err
	}
	defer release()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.record != nil && r.legacy != nil:
		return legacyAsker{r}, nil
	case r.record != nil:
		return r, nil
	}
	r.asking = true
	return nil, nil
}

// ask opens requests of the task, under keys that it uses once, and waits until the client has responded to each.
// (tasks extension, "Task Update Requests")
func (r *taskRun) ask(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error) {
	names := slices.Sorted(maps.Keys(requests))
	keys := make([]string, len(names))
	t, err := r.k.change(ctx, r.id, r.latest(), func(t *store.Task) bool {
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
		changeTask(t, statusFor(t.Requests), stamp())
		return true
	})
	if err != nil {
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("ask the client: %w", err))
	}
	r.saw(t)
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

// await waits until the client has responded to the requests under the keys, and returns the responses that there are.
func (r *taskRun) await(ctx context.Context, keys []string) (mcp.InputResponses, error) {
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

// collect takes the responses off the task, and the requests that have none.
func (r *taskRun) collect(keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), storeTimeout)
	defer cancel()
	t, err := r.k.change(ctx, r.id, r.latest(), func(t *store.Task) bool {
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
			changeTask(t, statusFor(open), stamp())
		}
		return true
	})
	if err == nil { // else they go when the task is over
		r.saw(t)
	}
}

// askIn asks by way of a task, and takes the answers.
func askIn(ctx context.Context, a asker, items []*inquiry) error {
	requests := mcp.InputRequests{}
	for _, it := range items {
		requests[it.key] = mcp.InputRequest{Method: it.Method(), Params: it.encoded}
	}
	responses, err := a.ask(ctx, requests)
	if err != nil {
		return err
	}
	for _, it := range items {
		if err := it.Take(ctx, responses[it.key]); err != nil {
			return fmt.Errorf("%s: the client's response: %w", it.Method(), err)
		}
	}
	return nil
}
