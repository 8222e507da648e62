package instrument

import (
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// gauges are the metrics that are read when they are collected: the state, the queue and the tools of each client that
// is not closed, the queue and the session of each connection of a server. One callback reads them all, and is
// registered only while there are any, so that the provider keeps nothing alive.
type gauges struct {
	meter metric.Meter
	ins   *instruments

	// registering is held while the callback is registered or unregistered. The provider holds a lock of its own then
	// and while it calls observe, which takes mu; so mu is never held around a call of the provider.
	registering  sync.Mutex
	registration metric.Registration // nil without clients; guarded by registering

	counting sync.Once    // registers another callback, for good: a counter does not forget
	told     atomic.Int64 // implementations of clients, of all servers together
	read     atomic.Bool  // the gauges have been read

	mu          sync.Mutex
	clients     []*Client
	connections map[*connection]struct{} // of servers
	callers     map[string]*callers      // by the names of servers
	shown       map[whose]bool           // names that the state was observed under, where there are more than places
}

// Connection is a connection of a server, or a session of one over HTTP, in so far as it is asked what it is like now.
// Its functions are called whenever metrics are collected and must be quick; nil means that there is nothing to tell.
type Connection struct {
	Queued    func() int  // how many messages wait to be written
	InSession func() bool // a session is open

	// Limits yields what is used of each thing that the connection, or what stands for several of them, has only so much
	// of: its kind, one of the Capacity or the Memory words of package names, how much is used, and the limit.
	Limits func(yield func(kind string, used, limit int))
}

type connection struct {
	Connection
	s *Server
}

// Connected counts a connection in the metrics of what is there now, until gone is called.
func (s *Server) Connected(c Connection) (gone func()) {
	if s == nil {
		return func() {}
	}
	g, one := &s.tel.ins.gauges, &connection{c, s}
	g.change(func() {
		if g.connections == nil {
			g.connections = map[*connection]struct{}{}
		}
		g.connections[one] = struct{}{}
	})
	return func() { g.change(func() { delete(g.connections, one) }) }
}

func (g *gauges) init(m metric.Meter, ins *instruments) { g.meter, g.ins = m, ins }

func (g *gauges) add(c *Client) {
	g.change(func() { g.clients = append(g.clients, c) })
}

func (g *gauges) remove(c *Client) {
	g.change(func() {
		if i := slices.Index(g.clients, c); i >= 0 {
			g.clients = slices.Delete(g.clients, i, i+1)
		}
	})
}

// everyClient returns the clients there are.
func (g *gauges) everyClient() []*Client {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.clients)
}

// change changes what is observed and registers or unregisters the callback as it needs.
func (g *gauges) change(f func()) {
	g.registering.Lock()
	defer g.registering.Unlock()
	g.mu.Lock()
	f()
	n := len(g.clients) + len(g.connections)
	g.mu.Unlock()

	var err error
	switch {
	case n > 0 && g.registration == nil:
		g.registration, err = g.meter.RegisterCallback(g.observe, g.ins.state, g.ins.queueLength, g.ins.serverInfo,
			g.ins.toolsSize, g.ins.toolsTokens, g.ins.toolSize, g.ins.toolTokens, g.ins.serverQueueLength, g.ins.sessions,
			g.ins.capacityUsage, g.ins.capacityLimit, g.ins.memoryUsage, g.ins.memoryLimit)
	case n == 0 && g.registration != nil:
		err = g.registration.Unregister()
		g.registration = nil
	}
	if err != nil {
		otel.Handle(err)
	}
}
