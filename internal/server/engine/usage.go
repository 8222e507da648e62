package engine

import (
	"runtime"
	"weak"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// usage yields how much of the connection's limits is in use. It is called when metrics are collected.
func (c *Conn) usage(yield rpc.YieldUsage) {
	c.Calls.Usage(yield)
	c.Server.usage(yield)
	if c.Client.Watching != nil {
		yieldMemory(yield, names.MemoryWatched, c.Client.Watching)
	}
}

// usage yields how much is in use of the limits that all clients share.
func (s *Server) usage(yield rpc.YieldUsage) {
	if s.Total != nil {
		u := s.Total.Usage()
		yield(names.CapacityTotal, u.Used, u.Limit)
	}
	if s.Usage != nil {
		s.Usage(yield)
	}
}

// observeLimits observes the handler's limits until Shutdown, or until the garbage collector finds that the program no
// longer uses the handler.
func (h *HTTP) observeLimits() {
	self := weak.Make(h)
	o := h.Server.Observer(web.HTTP1)
	h.gone = o.Tel.Connected(instrument.Connection{Limits: func(yield rpc.YieldUsage) {
		if h := self.Value(); h != nil {
			h.usage(yield)
		}
	}})
	runtime.AddCleanup(h, func(gone func()) { gone() }, h.gone)
}

// usage yields how much of the handler's limits is in use.
func (h *HTTP) usage(yield rpc.YieldUsage) {
	h.Server.usage(yield)
	yieldMemory(yield, names.MemoryWatched, h.watching)
	h.Web.Usage(yield)
	open, limit := h.role.Subscriptions()
	yield(names.CapacitySubscription, open, limit)
}

// yieldMemory yields how much of a memory budget is in use.
func yieldMemory(yield rpc.YieldUsage, kind string, m *quota.Memory) {
	used, limit := m.Usage()
	yield(kind, used, limit)
}
