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

// gaugeKey identifies a series of a gauge: all clients with the same name and group, or the connections of all servers
// with the same name and transport. Some gauges distinguish more: mcp_client.server.info has a series for each server
// that the clients are connected to (peer), and the gauges of tool definitions have a series for each tool and each
// measured part of its definition. Fields that do not apply are empty.
type gaugeKey struct {
	name, group, transport string
	peer                   implementation
	tool, part             string
}

func (w gaugeKey) compare(other gaugeKey) int {
	return cmp.Or(cmp.Compare(w.name, other.name), cmp.Compare(w.group, other.group),
		cmp.Compare(w.transport, other.transport), cmp.Compare(w.peer.name, other.peer.name),
		cmp.Compare(w.peer.version, other.peer.version), cmp.Compare(w.peer.protocol, other.peer.protocol),
		cmp.Compare(w.tool, other.tool), cmp.Compare(w.part, other.part))
}

func (m *metrics) gaugeKey() gaugeKey {
	w := gaugeKey{name: m.side.name}
	if m.side.group != "" {
		w.group = m.groupLabel()
	}
	return w
}

// clientsBeyond returns the series for the clients of w if the limit of names is exceeded.
func clientsBeyond(w gaugeKey) gaugeKey {
	w.name, w.group = names.Other, cmp.Or(w.group, names.Other)
	return w
}

// serversBeyond returns the series for servers if the limit of names is exceeded. Servers have no groups.
func serversBeyond(gaugeKey) gaugeKey { return gaugeKey{name: names.Other} }

// set returns the attributes of w together with others.
func (w gaugeKey) set(k *keys, others ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(present(optional(k.group, w.group),
		optional(names.KeyNetworkTransport, w.transport)), append(others, attribute.String(k.name, w.name))...)...))
}

// observe observes all gauges. It adds up clients with the same name, because OpenTelemetry does not define two
// observations of one attribute set. Unlike counters, gauges choose their names at each collection. So if the limit of
// names is exceeded, two collections may have different names.
func (g *gauges) observe(_ context.Context, o metric.Observer) error {
	g.read.Store(true)
	g.observeServers(o)
	clients := g.openClients()
	g.observeStates(o, clients)
	g.observeServersOf(o, clients)
	g.observeTools(o, clients)
	g.observeProcesses(o, clients)
	queues := map[gaugeKey]int64{}
	for _, c := range clients {
		if length := c.queue.Load(); length != nil {
			queues[c.metrics.gaugeKey()] += int64((*length)())
		}
	}
	for w, n := range foldShortest(queues, words.FoldedNames, clientsBeyond) {
		o.ObserveInt64(g.ins.queueLength, n, w.set(&clientKeys))
	}
	return nil
}

func (g *gauges) observeStates(o metric.Observer, clients []*Client) {
	states, all := connstate.States(), map[gaugeKey]inStates{}
	for _, c := range clients {
		w := c.metrics.gaugeKey()
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

// inStates counts clients by state.
type inStates [connstate.Closing + 1]int64

func (n inStates) allReady() bool { return n == inStates{connstate.Ready: n[connstate.Ready]} }

// foldStates keeps the counts of as many names as the limit allows, and adds up the other clients of each group. It
// first keeps names with a client that is not ready, so that an alert names the client. Then it keeps names that the
// last collection has shown, because a backend would keep the last state of a name that disappears.
func (g *gauges) foldStates(all map[gaugeKey]inStates) map[gaugeKey]inStates {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := func(a, b gaugeKey) int {
		return cmp.Or(first(!all[a].allReady(), !all[b].allReady()), first(g.shown[a], g.shown[b]),
			a.compare(b))
	}
	order := slices.SortedFunc(maps.Keys(all), before)
	room := words.MaxSets/len(inStates{}) - words.FoldedNames
	folded, shown := make(map[gaugeKey]inStates, room), make(map[gaugeKey]bool, room)
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

// first compares a and b for sorting. true sorts before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// observeServers observes the sums over the connections of each server name, and the fullest limits.
func (g *gauges) observeServers(o metric.Observer) {
	g.mu.Lock()
	connections := slices.Collect(maps.Keys(g.connections))
	g.mu.Unlock()
	sessions, queues := map[gaugeKey]int64{}, map[gaugeKey]int64{}
	fullest := map[limited]usage{}
	for _, c := range connections {
		w := c.s.metrics.gaugeKey()
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
	for w, n := range foldShortest(sessions, words.FoldedNames, serversBeyond) {
		o.ObserveInt64(g.ins.sessions, n, w.set(&serverKeys))
	}
	for w, n := range foldShortest(queues, words.FoldedNames, serversBeyond) {
		o.ObserveInt64(g.ins.serverQueueLength, n, w.set(&serverKeys))
	}
	g.observeFullest(o, fullest)
}

// foldShortest returns the lengths by name. If the limit of names is exceeded, it adds up the shortest ones under the
// names that foreignNames returns. others is the maximum number of different names that foreignNames returns.
func foldShortest(all map[gaugeKey]int64, others int, foreignNames func(gaugeKey) gaugeKey) map[gaugeKey]int64 {
	if len(all) <= words.MaxSets {
		return all
	}
	order := slices.SortedFunc(maps.Keys(all), func(a, b gaugeKey) int {
		return cmp.Or(-cmp.Compare(all[a], all[b]), a.compare(b))
	})
	folded := make(map[gaugeKey]int64, words.MaxSets)
	for i, w := range order {
		n := all[w]
		if i >= words.MaxSets-others {
			w = foreignNames(w)
		}
		folded[w] += n
	}
	return folded
}
