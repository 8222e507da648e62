package rpc

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

// Batches reports whether the client may send arrays of messages: only one revision has them.
// (specification 2025-03-26, basic, "Batching")
func (x *Exchange) Batches() bool { return x.Server.Version() == mcp.Version20250326 }

// MaxBatch is how many messages a batch may have.
const MaxBatch = 1024

var (
	errBatchTooLong = errors.New("the batch has too many messages")
	ErrBatchFull    = &mcp.Error{Code: mcp.CodeInternalError, Message: "the answers to the batch are too large"}
)

// takeBatch deals with the messages of a batch as if they had come one by one. The answers go back together, so they
// are kept until then: when those there are fill a frame of the limit, what is left of the batch is refused.
func (x *Exchange) takeBatch(frame []byte) {
	messages, err := jsonrpc.Batch(frame)
	if err != nil {
		x.refuse(jsonrpc.ViolationOf(nil, err), frame, x.Out)
		return
	}
	n := 0
	for range messages {
		if n++; n > MaxBatch {
			x.refuse(&jsonrpc.Violation{Reason: jsonrpc.InvalidEnvelope, Cause: errBatchTooLong}, frame, x.Out)
			return
		}
	}
	b := &Batch{Out: x.Out, limit: x.FrameLimit, waiting: 1}
	defer func() { _ = b.Answer(x.Work, Answer{}) }() // for the batch itself
	x.takeAll(slices.Collect(messages), b)
}

// takeAll deals with the messages of a batch. If code of the user's ends the goroutine in one, the others have their
// turn before.
func (x *Exchange) takeAll(messages [][]byte, b *Batch) {
	usercode.Pass(func() {
		for len(messages) > 0 {
			data := messages[0]
			messages = messages[1:]
			x.takeOne(data, b)
		}
	}, func() { x.takeAll(messages, b) })
}

// takeOne deals with a message of a batch.
func (x *Exchange) takeOne(data []byte, b *Batch) {
	m, err := jsonrpc.Parse(data)
	switch {
	case err != nil:
		b.expect()
		x.refuse(jsonrpc.ViolationOf(&m, err), data, b)
	case m.Kind == jsonrpc.Request && b.full():
		b.expect()
		x.Server.CountRefused(names.RefusalOverloaded, Answer{Err: ErrBusy, Refused: true}, false)
		_ = b.Answer(x.Work, Answer{Frame: AppendError(nil, m.ID, ErrBusy), Err: ErrBusy, Refused: true, ID: m.ID})
	case m.Kind == jsonrpc.Request:
		b.expect()
		x.Request(x.Server.NewCall(), &m, b)
	default:
		x.route(&m, b)
	}
}

// Batch is the sink of the requests of a batch: their answers go back in one frame when the last one is there.
// (JSON-RPC 2.0, section 6)
type Batch struct {
	Mute
	Out   Sink
	limit int // of the answers together, in bytes

	mu      sync.Mutex
	waiting int    // guarded by mu; requests without an answer, and one for the batch while it is being read
	frame   []byte // guarded by mu; the answers so far
}

func (b *Batch) Reach() Reach { return Reach{Read: true, Batched: true} }

// full reports whether there is no room for a further answer.
func (b *Batch) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.frame) >= b.limit
}

// expect announces an answer.
func (b *Batch) expect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
}

func (b *Batch) Notify(ctx context.Context, frame []byte) error { return b.Out.Notify(ctx, frame) }

func (b *Batch) Answer(ctx context.Context, a Answer) error {
	if all, last := b.add(a); last {
		return b.Out.Answer(ctx, Answer{Frame: all})
	}
	return nil
}

// add takes one answer; one that finds no room among others gives way to an error. If this was the last, add returns
// all of them, nil if there are none, and true.
func (b *Batch) add(a Answer) (all []byte, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	frame := a.Whole()
	if b.frame != nil && len(b.frame)+len(frame) > b.limit && !a.ID.IsZero() {
		frame = AppendError(nil, a.ID, ErrBatchFull)
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
