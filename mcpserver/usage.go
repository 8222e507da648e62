package mcpserver

import (
	"runtime"
	"weak"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// usage yields the connection's use of its limits. It is called when metrics are collected.
func (c *connection) usage(yield rpc.YieldUsage) {
	c.table.Usage(yield)
	c.exchange.s.usage(yield)
	if c.exchange.client.watching != nil {
		yieldMemory(yield, names.MemoryWatched, c.exchange.client.watching)
	}
}

// usage yields the use of the limits that all clients share.
func (s *Server) usage(yield rpc.YieldUsage) {
	if s.total != nil {
		u := s.total.Usage()
		yield(names.CapacityTotal, u.Used, u.Limit)
	}
	s.tasks.keeper.Usage(yield)
}

// observeLimits observes the handler's limits until Shutdown, or until the garbage collector finds that the
// program has forgotten the handler.
func (h *HTTPHandler) observeLimits() {
	self := weak.Make(h)
	o := h.s.observer(web.HTTP1)
	h.gone = o.Tel.Connected(instrument.Connection{Limits: func(yield rpc.YieldUsage) {
		if h := self.Value(); h != nil {
			h.usage(yield)
		}
	}})
	runtime.AddCleanup(h, func(gone func()) { gone() }, h.gone)
}

// usage yields the use of the handler's limits.
func (h *HTTPHandler) usage(yield rpc.YieldUsage) {
	h.s.usage(yield)
	yieldMemory(yield, names.MemoryWatched, h.watching)
	h.web.Usage(yield)
	h.audience.mu.Lock()
	subscriptions := h.audience.places
	h.audience.mu.Unlock()
	yield(names.CapacitySubscription, subscriptions.Used, subscriptions.Limit)
}

// yieldMemory yields the use of a memory budget.
func yieldMemory(yield rpc.YieldUsage, kind string, m *quota.Memory) {
	used, limit := m.Usage()
	yield(kind, used, limit)
}
