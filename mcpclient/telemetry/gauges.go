package telemetry

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// gauges are the metrics that are read when they are collected: the state and the queue of each client that is not
// closed. One callback reads them all, and is registered only while there are clients, so that the provider keeps
// nothing alive.
type gauges struct {
	meter metric.Meter
	ins   *instruments

	// registering is held while the callback is registered or unregistered. The provider holds a lock of its own then
	// and while it calls observe, which takes mu; so mu is never held around a call of the provider.
	registering  sync.Mutex
	registration metric.Registration // nil without clients; guarded by registering

	mu      sync.Mutex
	clients []*Client
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

// change changes the set of clients and registers or unregisters the callback as it needs.
func (g *gauges) change(f func()) {
	g.registering.Lock()
	defer g.registering.Unlock()
	g.mu.Lock()
	f()
	n := len(g.clients)
	g.mu.Unlock()

	var err error
	switch {
	case n > 0 && g.registration == nil:
		g.registration, err = g.meter.RegisterCallback(g.observe, g.ins.state, g.ins.queueLength)
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
	states, queues := map[attribute.Set]int64{}, map[attribute.Set]int64{}
	g.mu.Lock()
	clients := slices.Clone(g.clients)
	g.mu.Unlock()
	for _, c := range clients {
		current := connstate.State(c.state.Load())
		for _, s := range connstate.States() {
			n := int64(0)
			if s == current {
				n = 1
			}
			states[attribute.NewSet(attribute.String(keyClientName, c.name), attribute.String(keyClientState, s.String()))] += n
		}
		if length := c.queue.Load(); length != nil {
			queues[attribute.NewSet(attribute.String(keyClientName, c.name))] += int64((*length)())
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
