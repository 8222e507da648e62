package web

import (
	"errors"
	"net/http"
	"sync"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// handOver passes a message for an HTTP+SSE session to the process that has the session's stream. It returns
// [store.ErrNoSession] if the principal has no session with this id.
func (f *fleet) handOver(r *http.Request, id, principal string, frame []byte) error {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	raw, _, err := f.use(ctx, id, 0)
	if err != nil {
		return err
	}
	record, err := decodeSessionRecord(raw)
	if err == nil && (record.Principal != principal || record.Process == "" || record.Process == f.self) {
		err = store.ErrNoSession
	}
	if err != nil {
		return err
	}
	err = f.tell(ctx, record.Process, signal{Kind: signalFrame, Session: id, Frame: frame})
	if errors.Is(err, store.ErrNoProcess) {
		return store.ErrNoSession
	}
	return err
}

// handed is the queue of messages that the client sent to other processes, in order. A task of the session's group
// processes them, because the session answers some of them immediately and the client may read slowly.
type handed struct {
	s *session

	mu     sync.Mutex
	frames [][]byte // guarded by mu
	bytes  int      // guarded by mu; total size of frames
	taking bool     // guarded by mu; the task is running
}

// maxHanded limits the number of queued messages; FrameLimit limits their total size. Messages beyond these limits are
// dropped: the client sends more than it reads.
const maxHanded = 1024

func (h *handed) add(frame []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.frames); n == 0 || n < maxHanded && h.bytes+len(frame) <= h.s.cfg.FrameLimit {
		h.frames = append(h.frames, frame)
		h.bytes += len(frame)
	}
	if !h.taking {
		h.taking = h.s.conn.Exchange().Group.Start(h)
	}
}

func (h *handed) Run() {
	for frame := h.next(); frame != nil; frame = h.next() {
		h.s.conn.Exchange().Receive(frame)
	}
}

// next removes and returns the oldest message, or nil.
func (h *handed) next() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.frames) == 0 {
		h.taking = false
		return nil
	}
	frame := h.frames[0]
	h.frames[0] = nil
	h.frames = h.frames[1:]
	h.bytes -= len(frame)
	return frame
}
