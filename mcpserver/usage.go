package mcpserver

import (
	"runtime"
	"weak"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// yieldUsage takes how much of a limited resource is in use, and the limit.
type yieldUsage = func(kind string, used, limit int)

// usage yields what the connection uses of its limits. It is called when metrics are collected.
func (c *connection) usage(yield yieldUsage) {
	c.table.usage(yield)
	c.s.usage(yield)
	if c.peer.watching != nil {
		c.peer.watching.usage(yield)
	}
}

func (t *calls) usage(yield yieldUsage) {
	t.mu.Lock()
	running, waiting, bytes := t.running, len(t.waiting), t.bytes
	t.mu.Unlock()
	yield(names.CapacityRequest, running, t.limit)
	yield(names.CapacityQueue, waiting, t.queue)
	yield(names.MemoryFrame, bytes, t.capacity)
}

// usage yields what is used of the limits that all clients share.
func (s *Server) usage(yield yieldUsage) {
	if l := s.total; l != nil {
		l.mu.Lock()
		used := l.used
		l.mu.Unlock()
		yield(names.CapacityTotal, used, l.limit)
	}
	k := s.tasks
	k.mu.Lock()
	running, limit := k.places.used, k.places.limit
	k.mu.Unlock()
	yield(names.CapacityTask, running, limit)
	l := k.ledger
	l.mu.Lock()
	tasks, bytes := l.tasks, l.bytes
	l.mu.Unlock()
	yield(names.CapacityKeptTask, tasks.used, tasks.limit)
	yield(names.MemoryTaskResult, bytes.used, bytes.limit)
}

func (r *watchRoom) usage(yield yieldUsage) {
	r.mu.Lock()
	used, limit := r.bytes.used, r.bytes.limit
	r.mu.Unlock()
	yield(names.MemoryWatched, used, limit)
}

// observeLimits observes the handler's limits until Shutdown, or until the garbage collector finds that the
// program has forgotten the handler.
func (h *HTTPHandler) observeLimits() {
	self := weak.Make(h)
	h.gone = h.http1.tel.Connected(instrument.Connection{Limits: func(yield yieldUsage) {
		if h := self.Value(); h != nil {
			h.usage(yield)
		}
	}})
	runtime.AddCleanup(h, func(gone func()) { gone() }, h.gone)
}

// usage yields what is used of the limits of the handler.
func (h *HTTPHandler) usage(yield yieldUsage) {
	h.s.usage(yield)
	h.watching.usage(yield)
	h.gate.mu.Lock()
	posts, waits := h.gate.places, h.gate.waits
	h.gate.mu.Unlock()
	yield(names.CapacityHTTPRequest, posts.used, posts.limit)
	yield(names.CapacityWaitingHandler, waits.used, waits.limit)
	h.room.mu.Lock()
	bodies := h.room.bytes
	h.room.mu.Unlock()
	yield(names.MemoryBody, bodies.used, bodies.limit)
	h.sessions.mu.Lock()
	sessions, introductions := h.sessions.places, h.sessions.introductions
	h.sessions.mu.Unlock()
	yield(names.CapacitySession, sessions.used, sessions.limit)
	yield(names.MemoryIntroduction, introductions.used, introductions.limit)
	h.audience.mu.Lock()
	subscriptions := h.audience.places
	h.audience.mu.Unlock()
	yield(names.CapacitySubscription, subscriptions.used, subscriptions.limit)
}
