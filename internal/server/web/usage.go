package web

import (
	"iter"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Load describes the current load of a handler. All numbers are zero when the handler is idle.
type Load struct {
	Inside        int // HTTP requests in progress
	Requests      int // POSTs that occupy a place
	Bytes         int // memory of bodies
	Sessions      int // including those that are being opened
	Introductions int // memory of client introductions, in bytes
	Accounts      int // accounts that use a resource, summed over the resources
	Closing       bool
}

// Load returns the current load of the handler.
func (h *Handler) Load() (l Load) {
	h.gate.mu.Lock()
	l.Inside, l.Closing = int(h.gate.inside.Load()), h.gate.closed.Load()
	l.Requests, l.Accounts = h.gate.places.Used, len(h.gate.places.Held)
	h.gate.mu.Unlock()
	l.Bytes, _ = h.room.Usage()
	l.Accounts += h.room.Accounts()
	h.sessions.mu.Lock()
	defer h.sessions.mu.Unlock()
	l.Sessions, l.Introductions = h.sessions.places.Used, h.sessions.introductions.Used
	l.Accounts += len(h.sessions.places.Held) + len(h.sessions.introductions.Held)
	return l
}

// Sessions returns the ids and the connections of the open sessions.
func (h *Handler) Sessions() iter.Seq2[string, Conn] {
	return func(yield func(string, Conn) bool) {
		for _, s := range h.sessions.all() {
			if !yield(s.id, s.conn) {
				return
			}
		}
	}
}

// Usage yields the usage and the limit of each resource of the handler.
func (h *Handler) Usage(yield rpc.YieldUsage) {
	h.gate.mu.Lock()
	posts, waits := h.gate.places, h.gate.waits
	h.gate.mu.Unlock()
	yield(names.CapacityHTTPRequest, posts.Used, posts.Limit)
	yield(names.CapacityWaitingHandler, waits.Used, waits.Limit)
	used, limit := h.room.Usage()
	yield(names.MemoryBody, used, limit)
	h.sessions.mu.Lock()
	sessions, introductions := h.sessions.places, h.sessions.introductions
	h.sessions.mu.Unlock()
	yield(names.CapacitySession, sessions.Used, sessions.Limit)
	yield(names.MemoryIntroduction, introductions.Used, introductions.Limit)
}
