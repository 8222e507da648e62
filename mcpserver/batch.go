package mcpserver

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// batches reports whether the client may send arrays of messages: only one revision has them.
// (specification 2025-03-26, basic, "Batching")
func (x *rpcExchange) batches() bool { return x.server.version() == mcp.Version20250326 }

// maxBatch is how many messages a batch may have.
const maxBatch = 1024

var (
	errBatchTooLong = errors.New("the batch has too many messages")
	errBatchFull    = &mcp.Error{Code: mcp.CodeInternalError, Message: "the answers to the batch are too large"}
)

// takeBatch deals with the messages of a batch as if they had come one by one. The answers go back together, so they
// are kept until then: when those there are fill a frame of the limit, what is left of the batch is refused.
func (x *rpcExchange) takeBatch(frame []byte) {
	messages, err := jsonrpc.Batch(frame)
	if err != nil {
		x.refuse(jsonrpc.ViolationOf(nil, err), frame, x.out)
		return
	}
	n := 0
	for range messages {
		if n++; n > maxBatch {
			x.refuse(&jsonrpc.Violation{Reason: jsonrpc.InvalidEnvelope, Cause: errBatchTooLong}, frame, x.out)
			return
		}
	}
	b := &batch{out: x.out, limit: x.frameLimit, waiting: 1}
	defer func() { _ = b.answer(x.work, answer{}) }() // for the batch itself
	x.takeAll(slices.Collect(messages), b)
}

// takeAll deals with the messages of a batch. If code of the user's ends the goroutine in one, the others have their
// turn before.
func (x *rpcExchange) takeAll(messages [][]byte, b *batch) {
	usercode.Pass(func() {
		for len(messages) > 0 {
			data := messages[0]
			messages = messages[1:]
			x.takeOne(data, b)
		}
	}, func() { x.takeAll(messages, b) })
}

// takeOne deals with a message of a batch.
func (x *rpcExchange) takeOne(data []byte, b *batch) {
	m, err := jsonrpc.Parse(data)
	switch {
	case err != nil:
		b.expect()
		x.refuse(jsonrpc.ViolationOf(&m, err), data, b)
	case m.Kind == jsonrpc.Request && b.full():
		b.expect()
		x.server.countRefused(names.RefusalOverloaded, answer{err: errBusy, refused: true}, false)
		_ = b.answer(x.work, answer{frame: appendError(nil, m.ID, errBusy), err: errBusy, refused: true, id: m.ID})
	case m.Kind == jsonrpc.Request:
		b.expect()
		x.request(x.server.newCall(), &m, b)
	default:
		x.route(&m, b)
	}
}

// batch is the sink of the requests of a batch: their answers go back in one frame when the last one is there.
// (JSON-RPC 2.0, section 6)
type batch struct {
	mute
	out   sink
	limit int // of the answers together, in bytes

	mu      sync.Mutex
	waiting int    // guarded by mu; requests without an answer, and one for the batch while it is being read
	frame   []byte // guarded by mu; the answers so far
}

func (b *batch) reach() reach { return reach{read: true, batched: true} }

// full reports whether there is no room for a further answer.
func (b *batch) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.frame) >= b.limit
}

// expect announces an answer.
func (b *batch) expect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
}

func (b *batch) notify(ctx context.Context, frame []byte) error { return b.out.notify(ctx, frame) }

func (b *batch) answer(ctx context.Context, a answer) error {
	if all, last := b.add(a); last {
		return b.out.answer(ctx, answer{frame: all})
	}
	return nil
}

// add takes one answer; one that finds no room among others gives way to an error. If this was the last, add returns
// all of them, nil if there are none, and true.
func (b *batch) add(a answer) (all []byte, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	frame := a.whole()
	if b.frame != nil && len(b.frame)+len(frame) > b.limit && !a.id.IsZero() {
		frame = appendError(nil, a.id, errBatchFull)
	}
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
