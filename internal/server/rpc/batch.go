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

// Batches reports whether the client may send batches: only one revision has them.
// (specification 2025-03-26, basic, "Batching")
func (x *Exchange) Batches() bool { return x.Server.Version() == mcp.Version20250326 }

// MaxBatch bounds the number of messages of a batch.
const MaxBatch = 1024

var (
	errBatchTooLong = errors.New("the batch has too many messages")
	ErrBatchFull    = &mcp.Error{Code: mcp.CodeInternalError, Message: "the answers to the batch are too large"}
)

// receiveBatch handles the messages of a batch as if they had arrived one by one. The batch collects the answers and
// sends them together. Once the answers reach FrameLimit, the remaining requests are refused.
func (x *Exchange) receiveBatch(frame []byte) {
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
	defer func() { _ = b.Answer(x.Work, Answer{}) }() // all messages are handled: see Batch.waiting
	x.receiveAll(slices.Collect(messages), b)
}

// receiveAll handles the messages of a batch. If user code ends the goroutine during one message, the remaining
// messages are still handled.
func (x *Exchange) receiveAll(messages [][]byte, b *Batch) {
	usercode.Pass(func() {
		for len(messages) > 0 {
			data := messages[0]
			messages = messages[1:]
			x.receiveOne(data, b)
		}
	}, func() { x.receiveAll(messages, b) })
}

// receiveOne handles one message of a batch.
func (x *Exchange) receiveOne(data []byte, b *Batch) {
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

// Batch is the sink for the requests of a batch. It sends all answers in one frame, after the last answer. (JSON-RPC
// 2.0, section 6)
type Batch struct {
	Mute
	Out   Sink // sink for the frame with all answers
	limit int  // size of all answers together, in bytes

	mu      sync.Mutex
	waiting int    // guarded by mu; missing answers, plus one until all messages are handled
	frame   []byte // guarded by mu; the answers so far
}

// Reach implements [Sink].
func (b *Batch) Reach() Reach { return Reach{Read: true, Batched: true} }

// full reports whether the answers have reached the limit.
func (b *Batch) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.frame) >= b.limit
}

// expect adds one to the missing answers.
func (b *Batch) expect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
}

// Notify implements [Sink].
func (b *Batch) Notify(ctx context.Context, frame []byte) error { return b.Out.Notify(ctx, frame) }

// Answer implements [Sink].
func (b *Batch) Answer(ctx context.Context, a Answer) error {
	if all, last := b.add(a); last {
		return b.Out.Answer(ctx, Answer{Frame: all})
	}
	return nil
}

// add adds an answer. It replaces an answer beyond the limit by an error. After the last answer, add returns true and
// the frame, which is nil if there are no answers.
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
