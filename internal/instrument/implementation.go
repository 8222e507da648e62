package instrument

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// implementation is what a peer calls itself, and the version of the protocol that was agreed on with a server. Peers
// choose the first two.
type implementation struct{ name, version, protocol string }

// otherImplementation stands for those beyond the limit.
var otherImplementation = implementation{names.Other, names.Other, ""}

// newImplementation returns copies: the strings may be parts of a frame.
func newImplementation(name, version string) implementation {
	return implementation{name: truncate(name, words.MaxName), version: truncate(version, words.MaxName)}
}

// implementations are those that metrics tell apart, the first ones, each with what is kept of it. It is safe for
// concurrent use.
type implementations[V any] struct {
	series.Memo[implementation, V]
	others V // of those beyond the limit
}

// of returns what is kept of an implementation, which build makes the first time.
func (all *implementations[V]) of(i implementation, limit int, build func(implementation) V) V {
	if v, ok := all.Within(limit, i, build); ok {
		return v
	}
	return all.others
}

// meet keeps what the server of the client calls itself.
func (c *Client) meet(server implementation) {
	c.server.Store(c.tel.ins.servers.of(server, words.MaxPeers, func(i implementation) *implementation { return &i }))
}

// observeServersOf counts the clients that are ready by their servers. Those of names for which there are no places
// are added up by the server alone.
func (g *gauges) observeServersOf(o metric.Observer, clients []*Client) {
	all := map[whose]int64{}
	for _, c := range clients {
		if s := c.server.Load(); s != nil && connstate.State(c.state.Load()) == connstate.Ready {
			w := c.metrics.whose()
			w.peer = *s
			all[w]++
		}
	}
	beyond := func(w whose) whose { return whose{name: names.Other, peer: w.peer} }
	for w, n := range theLongest(all, words.MaxPeers+1, beyond) {
		o.ObserveInt64(g.ins.serverInfo, n, w.set(&clientKeys, present(
			optional(names.KeyMCPClientServerName, w.peer.name),
			optional(names.KeyMCPClientServerVersion, w.peer.version),
			optional(names.KeyMCPProtocolVersion, w.peer.protocol))...))
	}
}

// caller is one implementation of clients, as servers see it.
type caller struct {
	implementation
	requests atomic.Int64
}

// callers are the implementations of the clients of all servers of one name. They are kept for good, as the sets of
// other counters are: what was counted stays counted when a server ends.
type callers struct {
	server string
	implementations[*caller]
}

// called counts a request of a client that calls itself so, and returns what its span says of it, nil for nothing.
func (s *Server) called(in *Incoming) *caller {
	if in.ClientName == "" && in.ClientVersion == "" {
		return nil
	}
	c, ok := s.callers.Lookup(implementation{name: in.ClientName, version: in.ClientVersion})
	if !ok {
		c = s.tel.ins.gauges.newCaller(s.callers, newImplementation(in.ClientName, in.ClientVersion))
	}
	if !in.Notification {
		c.requests.Add(1)
	}
	return c
}

// newCaller returns the caller for an implementation that has none yet, or is beyond a limit. With the first there is a
// callback that observes them.
func (g *gauges) newCaller(of *callers, i implementation) *caller {
	g.counting.Do(func() {
		if _, err := g.meter.RegisterCallback(g.observeCallers, g.ins.clientRequests); err != nil {
			otel.Handle(err)
		}
	})
	limit := words.MaxPeers
	if g.told.Load() >= words.MaxPeersOfServers {
		limit = 0
	}
	return of.of(i, limit, func(i implementation) *caller {
		g.told.Add(1)
		return &caller{implementation: i}
	})
}

// everyone returns those there are.
func (all *callers) everyone() []*caller {
	every := []*caller{all.others}
	for _, c := range all.All() {
		every = append(every, c)
	}
	return every
}

// callersOf returns those of the servers with a name. Servers beyond the limit share theirs.
func (g *gauges) callersOf(server string) *callers {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.callers[server]; !known && len(g.callers) >= words.MaxServers {
		server = names.Other
	}
	c := g.callers[server]
	if c == nil {
		c = &callers{server: server}
		c.others = &caller{implementation: otherImplementation}
		if g.callers == nil {
			g.callers = map[string]*callers{}
		}
		g.callers[server] = c
	}
	return c
}

// observeCallers tells how many requests were received from each.
func (g *gauges) observeCallers(_ context.Context, o metric.Observer) error {
	g.mu.Lock()
	every := slices.Collect(maps.Values(g.callers))
	g.mu.Unlock()
	for _, c := range every {
		for _, one := range c.everyone() {
			if n := one.requests.Load(); n > 0 {
				o.ObserveInt64(g.ins.clientRequests, n, whose{name: c.server}.set(&serverKeys, present(
					optional(names.KeyMCPServerClientName, one.name),
					optional(names.KeyMCPServerClientVersion, one.version))...))
			}
		}
	}
	return nil
}
