package instrument

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// whose is what a gauge is observed for: all clients of one name and group, or the connections of all servers of one
// name and transport; those of one kind of peer, or a part of a tool's definition, perhaps. What does not apply is
// empty.
type whose struct {
	name, group, transport string
	peer                   implementation
	tool, part             string
}

func (w whose) compare(other whose) int {
	return cmp.Or(cmp.Compare(w.name, other.name), cmp.Compare(w.group, other.group),
		cmp.Compare(w.transport, other.transport), cmp.Compare(w.peer.name, other.peer.name),
		cmp.Compare(w.peer.version, other.peer.version), cmp.Compare(w.peer.protocol, other.peer.protocol),
		cmp.Compare(w.tool, other.tool), cmp.Compare(w.part, other.part))
}

func (m *metrics) whose() whose {
	w := whose{name: m.side.name}
	if m.side.group != "" {
		w.group = m.groupLabel()
	}
	return w
}

// clientsBeyond stands for the clients of w where there are more names than places.
func clientsBeyond(w whose) whose {
	w.name, w.group = names.Other, cmp.Or(w.group, names.Other)
	return w
}

// serversBeyond is the same for servers, which have no groups.
func serversBeyond(whose) whose { return whose{name: names.Other} }

// set returns the attributes that say whose it is, and others.
func (w whose) set(k *keys, others ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(present(optional(k.group, w.group),
		optional(names.KeyNetworkTransport, w.transport)), append(others, attribute.String(k.name, w.name))...)...))
}

// observe adds clients of the same name up: observing one set of attributes twice is not defined. Unlike other metrics
// these are made anew each time, so that names may take turns where there are more than places.
func (g *gauges) observe(_ context.Context, o metric.Observer) error {
	g.read.Store(true)
	g.observeServers(o)
	clients := g.everyClient()
	g.observeStates(o, clients)
	g.observeServersOf(o, clients)
	g.observeTools(o, clients)
	queues := map[whose]int64{}
	for _, c := range clients {
		if length := c.queue.Load(); length != nil {
			queues[c.metrics.whose()] += int64((*length)())
		}
	}
	for w, n := range theLongest(queues, words.FoldedNames, clientsBeyond) {
		o.ObserveInt64(g.ins.queueLength, n, w.set(&clientKeys))
	}
	return nil
}

func (g *gauges) observeStates(o metric.Observer, clients []*Client) {
	states, all := connstate.States(), map[whose]inStates{}
	for _, c := range clients {
		w := c.metrics.whose()
		n := all[w]
		n[c.state.Load()]++
		all[w] = n
	}
	if len(all)*len(states) > words.MaxSets {
		all = g.foldStates(all)
	}
	for w, n := range all {
		for _, s := range states {
			state := attribute.String(names.KeyMCPClientConnectionState, s.String())
			o.ObserveInt64(g.ins.state, n[s], w.set(&clientKeys, state))
		}
	}
}

// inStates counts clients by their states.
type inStates [connstate.Closing + 1]int64

func (n inStates) allReady() bool { return n == inStates{connstate.Ready: n[connstate.Ready]} }

// foldStates counts the clients of a group together but for those names for which there are places: names that are not
// ready come first, so that an alert names the client. A name that has been shown is shown until another one needs its
// place more: a backend that hears nothing any more of a client would take its last state for good.
func (g *gauges) foldStates(all map[whose]inStates) map[whose]inStates {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := func(a, b whose) int {
		return cmp.Or(first(!all[a].allReady(), !all[b].allReady()), first(g.shown[a], g.shown[b]),
			a.compare(b))
	}
	order := slices.SortedFunc(maps.Keys(all), before)
	room := words.MaxSets/len(inStates{}) - words.FoldedNames
	folded, shown := make(map[whose]inStates, room), make(map[whose]bool, room)
	for i, w := range order {
		n := all[w]
		if i < room {
			folded[w], shown[w] = n, true
			continue
		}
		w = clientsBeyond(w)
		sum := folded[w]
		for i := range n {
			sum[i] += n[i]
		}
		folded[w] = sum
	}
	g.shown = shown
	return folded
}

// first puts what a is true of before what b is true of.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// observeServers adds the connections of a server up.
func (g *gauges) observeServers(o metric.Observer) {
	g.mu.Lock()
	connections := slices.Collect(maps.Keys(g.connections))
	g.mu.Unlock()
	sessions, queues := map[whose]int64{}, map[whose]int64{}
	fullest := map[limited]usage{}
	for _, c := range connections {
		w := c.s.metrics.whose()
		c.observeLimits(w, fullest)
		if c.Queued != nil {
			queues[w] += int64(c.Queued())
		}
		if w.transport = c.s.base.Transport; c.InSession != nil {
			n := int64(0)
			if c.InSession() {
				n = 1
			}
			sessions[w] += n
		}
	}
	for w, n := range theLongest(sessions, words.FoldedNames, serversBeyond) {
		o.ObserveInt64(g.ins.sessions, n, w.set(&serverKeys))
	}
	for w, n := range theLongest(queues, words.FoldedNames, serversBeyond) {
		o.ObserveInt64(g.ins.serverQueueLength, n, w.set(&serverKeys))
	}
	g.observeFullest(o, fullest)
}

// theLongest returns the lengths by name, those for which there are no places added up under another: the shortest.
// Of such others there are so many at most.
func theLongest(all map[whose]int64, others int, beyond func(whose) whose) map[whose]int64 {
	if len(all) <= words.MaxSets {
		return all
	}
	order := slices.SortedFunc(maps.Keys(all), func(a, b whose) int {
		return cmp.Or(-cmp.Compare(all[a], all[b]), a.compare(b))
	})
	folded := make(map[whose]int64, words.MaxSets)
	for i, w := range order {
		n := all[w]
		if i >= words.MaxSets-others {
			w = beyond(w)
		}
		folded[w] += n
	}
	return folded
}
