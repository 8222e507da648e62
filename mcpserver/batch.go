package mcpserver

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// batches reports whether the client may send arrays of messages: only one revision has them.
// (specification 2025-03-26, basic, "Batching")
func (x *exchange) batches() bool {
	a := x.session.agreed.Load()
	return a != nil && a.version == mcp.Version20250326
}

// takeBatch deals with the messages of a batch as if they had come one by one. The answers go back together.
func (x *exchange) takeBatch(frame []byte) {
	messages, err := jsonrpc.Batch(frame)
	if err != nil {
		x.refuse(violationOf(nil, err), len(frame), x.out)
		return
	}
	b := &batch{out: x.out, waiting: 1}
	for data := range messages {
		m, err := jsonrpc.Parse(data)
		switch {
		case err != nil:
			b.expect()
			x.refuse(violationOf(&m, err), len(data), b)
		case m.Kind == jsonrpc.Request:
			b.expect()
			x.request(&m, b)
		default:
			x.route(&m, b)
		}
	}
	_ = b.answer(x.work, answer{}) // for the batch itself
}

// batch is the sink of the requests of a batch: their answers go back in one frame when the last one is there.
// (JSON-RPC 2.0, section 6)
type batch struct {
	out sink

	mu      sync.Mutex
	waiting int    // guarded by mu; requests without an answer, and one for the batch while it is being read
	frame   []byte // guarded by mu; the answers so far
}

// expect announces an answer.
func (b *batch) expect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
}

func (b *batch) notify(ctx context.Context, frame []byte) error { return b.out.notify(ctx, frame) }

func (b *batch) answer(ctx context.Context, a answer) error {
	if all, last := b.add(a.frame); last {
		return b.out.answer(ctx, answer{frame: all})
	}
	return nil
}

// add takes one answer, nil for a request that gets none. If this was the last, it returns all of them, nil if there are
// none, and true.
func (b *batch) add(frame []byte) (all []byte, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if frame != nil {
		separator := byte(',')
		if b.frame == nil {
			separator = '['
		}
		b.frame = append(append(b.frame, separator), frame...)
	}
	b.waiting--
	if b.waiting == 0 && b.frame != nil {
		all = append(b.frame, ']')
	}
	return all, b.waiting == 0
}
