package web

import (
	"errors"
	"net/http"
	"sync"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// handOver gives a message for a session of HTTP+SSE to the process that has its stream. It returns
// [store.ErrNoSession] if the principal has none with that id.
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

// handed are messages of a client that have come to another process, in their order. A task of the session's group
// takes them: some are answered at once, and the client may be slow.
type handed struct {
	s *session

	mu     sync.Mutex
	frames [][]byte // guarded by mu
	bytes  int      // guarded by mu; of those
	taking bool     // guarded by mu
}

// maxHanded is how many wait; together they may be as large as one frame of the limit. A client that sends more without
// taking what it gets loses them.
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

// next returns the next message, nil if there is none.
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
