package mcpgo

import (
	"context"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// listens holds the subscriptions/listen requests that wait for their acknowledgment, by id.
type listens struct {
	mu      sync.Mutex
	waiting map[string]*listening
}

// listening is one such request. mcp-go waits for the response as long as the stream lives; the span of the request
// ends earlier.
type listening struct {
	op     *instrument.Op // guarded by listens.mu
	opened func() func(error)
	ended  func(error) // nil before the acknowledgment
}

// listen sends subscriptions/listen. The operation ends with the acknowledgment.
func (t *observedTransport) listen(ctx context.Context, op *instrument.Op,
	q transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id := fmt.Sprint(q.ID.Value())
	l := &listening{op: op, opened: func() func(error) { return t.tel.StreamOpened(names.StreamListen) }}
	t.listens.add(id, l)
	response, err := t.inner.SendRequest(ctx, q)
	end, _ := t.outcome(ctx, q.Method, response, err)
	reason := err
	if ctx.Err() != nil {
		reason = nil // cancellation ends a stream in order
	}
	t.listens.over(id, end, reason)
	return response, err
}

func (ls *listens) add(id string, l *listening) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.waiting == nil {
		ls.waiting = map[string]*listening{}
	}
	ls.waiting[id] = l
}

// acknowledged ends the operation and starts the stream.
func (ls *listens) acknowledged(id string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l, ok := ls.waiting[id]; ok && l.ended == nil {
		l.op.End(instrument.Result{})
		l.ended = l.opened()
	}
}

// over ends the stream, or the operation if there was no acknowledgment.
func (ls *listens) over(id string, end instrument.Result, err error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.waiting[id]
	delete(ls.waiting, id)
	if l.ended != nil {
		l.ended(err)
		return
	}
	l.op.End(end)
}
