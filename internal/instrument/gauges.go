package instrument

import (
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// gauges holds the metrics that are read at collection: the state, queue, process and tools of each open client, and
// the queue and session of each connection of a server. One callback reads all of them. The callback is registered only while
// there are clients or connections, so that the provider keeps no ended client in memory.
type gauges struct {
	meter metric.Meter
	ins   *instruments

	// registering is held while the callback is registered or unregistered. The provider holds its own lock during these
	// calls, and also while it calls observe, which locks mu. So mu must not be held during a call of the provider.
	registering  sync.Mutex
	registration metric.Registration // nil without clients and connections; guarded by registering

	counting    sync.Once    // registers the callback of the counters, which is never unregistered
	callerCount atomic.Int64 // number of implementations of clients, over all servers
	read        atomic.Bool  // the gauges have been read

	mu          sync.Mutex
	clients     []*Client
	connections map[*connection]struct{} // of servers
	callers     map[string]*callers      // key: name of the server
	// shown holds the names that the last observation of the state included, if the limit of names was exceeded.
	shown     map[gaugeKey]bool
	processes processTimes // guarded by mu
}

// Connection holds functions that read the current state of a server's connection, or of a session over HTTP. Each
// collection of metrics calls them, so they must be quick. A nil function means that the connection does not have this
// metric.
type Connection struct {
	Queued    func() int  // returns the number of messages waiting to be written
	InSession func() bool // reports whether a session is open

	// Limits yields the use of each limited resource of the connection, or of the owner of several connections: the kind
	// of the resource (a Capacity or Memory constant of package names), the used amount, and the limit.
	Limits func(yield func(kind string, used, limit int))
}

type connection struct {
	Connection
	s *Server
}

// Connected includes a connection in the gauges until the caller calls gone.
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
			g.processes.ended(c)
		}
	})
}

// openClients returns all open clients.
func (g *gauges) openClients() []*Client {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.clients)
}

// change runs f, which changes the observed clients or connections. Then it registers or unregisters the callback if
// necessary.
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
			g.ins.capacityUsage, g.ins.capacityLimit, g.ins.memoryUsage, g.ins.memoryLimit,
			g.ins.processMemory, g.ins.processes, g.ins.processTime, g.ins.processUptime)
	case n == 0 && g.registration != nil:
		err = g.registration.Unregister()
		g.registration = nil
	}
	if err != nil {
		otel.Handle(err)
	}
}
