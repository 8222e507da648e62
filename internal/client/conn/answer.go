package conn

import (
	"context"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Answerer sends the answer to a request. A nil frame sends nothing. patient means that the calling goroutine may wait
// for room in the transport.
type Answerer func(frame []byte, patient bool) error

// Answer sends an answer over the connection. The goroutine that reads is not patient: it must not wait for the server,
// because the server may be waiting for that goroutine. If the transport is busy, its answer is lost. The goroutine of
// a handler is patient.
func (r *Reader) Answer(frame []byte, patient bool) error {
	if frame == nil {
		return nil
	}
	o := outgoing{Message: transport.Message{Data: frame, Kind: transport.KindResponse}}
	if r.Session != nil {
		o.ProtocolVersion = string(r.Session.Version)
	}
	if patient {
		o.room = inLine
	}
	return r.c.send(r.Link.Ctx, r.Link, &o)
}

// PauseFor waits for d. It returns false if ctx ends first.
func PauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// batchAnswer collects the answers to the requests of a batch, and sends them as one batch when the last answer has
// arrived. (JSON-RPC 2.0, section 6; specification 2025-03-26)
type batchAnswer struct {
	mu      sync.Mutex
	waiting int      // number of requests without an answer, plus one while the batch is being read; guarded by mu
	frames  [][]byte // guarded by mu
	send    Answerer
}

func (b *batchAnswer) expect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
}

// answer adds one answer; a nil frame means no answer. The last call sends all answers.
func (b *batchAnswer) answer(frame []byte, patient bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if frame != nil {
		b.frames = append(b.frames, frame)
	}
	if b.waiting--; b.waiting > 0 || len(b.frames) == 0 {
		return nil
	}
	all := []byte{'['}
	for i, f := range b.frames {
		if i > 0 {
			all = append(all, ',')
		}
		all = append(all, f...)
	}
	return b.send(append(all, ']'), patient)
}

func ErrorFrame(id jsonrpc.ID, e *mcp.Error) []byte {
	frame, err := jsonrpc.AppendError(nil, id, &jsonrpc.WireError{Code: e.Code, Message: e.Message, Data: e.Data})
	if err != nil { // the data is not valid JSON
		frame, _ = jsonrpc.AppendError(nil, id, &jsonrpc.WireError{Code: e.Code, Message: e.Message})
	}
	return frame
}
