package instrument

import (
	"context"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// gauges are the metrics that are read when they are collected: the state and the queue of each client that is not
// closed, the queue and the session of each connection of a server. One callback reads them all, and is registered only
// while there are any, so that the provider keeps nothing alive.
type gauges struct {
	meter metric.Meter
	ins   *instruments

	// registering is held while the callback is registered or unregistered. The provider holds a lock of its own then
	// and while it calls observe, which takes mu; so mu is never held around a call of the provider.
	registering  sync.Mutex
	registration metric.Registration // nil without clients; guarded by registering

	mu          sync.Mutex
	clients     []*Client
	connections map[*connection]struct{} // of servers
}

// Connection is a connection of a server, or a session of one over HTTP, in so far as it is asked what it is like now.
// Its functions are called whenever metrics are collected and must be quick; nil means that there is nothing to tell.
type Connection struct {
	Queued    func() int  // how many messages wait to be written
	InSession func() bool // a session is open
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
	g, one := &s.tel.gauges, &connection{c, s}
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
		g.registration, err = g.meter.RegisterCallback(g.observe, g.ins.state, g.ins.queueLength, g.ins.serverQueueLength,
			g.ins.sessions)
	case n == 0 && g.registration != nil:
		err = g.registration.Unregister()
		g.registration = nil
	}
	if err != nil {
		otel.Handle(err)
	}
}

// observe adds clients of the same name up: observing one set of attributes twice is not defined.
func (g *gauges) observe(_ context.Context, o metric.Observer) error {
	g.observeServers(o)
	states, queues := map[attribute.Set]int64{}, map[attribute.Set]int64{}
	for _, c := range g.everyClient() {
		current := connstate.State(c.state.Load())
		for _, s := range connstate.States() {
			n := int64(0)
			if s == current {
				n = 1
			}
			states[attribute.NewSet(attribute.String(names.KeyMCPClientName, c.name),
				attribute.String(names.KeyMCPClientConnectionState, s.String()))] += n
		}
		if length := c.queue.Load(); length != nil {
			queues[attribute.NewSet(attribute.String(names.KeyMCPClientName, c.name))] += int64((*length)())
		}
	}
	for set, n := range states {
		o.ObserveInt64(g.ins.state, n, metric.WithAttributeSet(set))
	}
	for set, n := range queues {
		o.ObserveInt64(g.ins.queueLength, n, metric.WithAttributeSet(set))
	}
	return nil
}

// observeServers adds the connections of a server up.
func (g *gauges) observeServers(o metric.Observer) {
	g.mu.Lock()
	connections := slices.Collect(maps.Keys(g.connections))
	g.mu.Unlock()
	sessions, queues := map[attribute.Set]int64{}, map[attribute.Set]int64{}
	for _, c := range connections {
		name := attribute.String(names.KeyMCPServerName, c.s.name)
		if c.InSession != nil {
			n := int64(0)
			if c.InSession() {
				n = 1
			}
			sessions[attribute.NewSet(present(name, c.s.transport())...)] += n
		}
		if c.Queued != nil {
			queues[attribute.NewSet(name)] += int64(c.Queued())
		}
	}
	for set, n := range sessions {
		o.ObserveInt64(g.ins.sessions, n, metric.WithAttributeSet(set))
	}
	for set, n := range queues {
		o.ObserveInt64(g.ins.serverQueueLength, n, metric.WithAttributeSet(set))
	}
}
