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

// implementation is the name and version that a peer has sent for itself. For a server, it also contains the negotiated
// protocol version. Peers choose name and version.
type implementation struct{ name, version, protocol string }

// otherImplementation stands for implementations beyond the limit.
var otherImplementation = implementation{names.Other, names.Other, ""}

// newImplementation returns an implementation with copies of name and version, because they may be parts of a frame.
func newImplementation(name, version string) implementation {
	return implementation{name: truncate(name, words.MaxName), version: truncate(version, words.MaxName)}
}

// implementations holds a value for each of the first implementations. All other implementations share one value. It is
// safe for concurrent use.
type implementations[V any] struct {
	series.Memo[implementation, V]
	others V // shared by implementations beyond the limit
}

// of returns the value of an implementation. build creates the value at the first call.
func (all *implementations[V]) of(i implementation, limit int, build func(implementation) V) V {
	if v, ok := all.Within(limit, i, build); ok {
		return v
	}
	return all.others
}

// setServer stores the implementation of the client's server.
func (c *Client) setServer(server implementation) {
	c.server.Store(c.tel.ins.servers.of(server, words.MaxPeers, func(i implementation) *implementation { return &i }))
}

// observeServersOf counts the ready clients by their servers. Clients with names beyond the limit are added up under
// _OTHER.
func (g *gauges) observeServersOf(o metric.Observer, clients []*Client) {
	all := map[gaugeKey]int64{}
	for _, c := range clients {
		if s := c.server.Load(); s != nil && connstate.State(c.state.Load()) == connstate.Ready {
			w := c.metrics.gaugeKey()
			w.peer = *s
			all[w]++
		}
	}
	foreignNames := func(w gaugeKey) gaugeKey { return gaugeKey{name: names.Other, peer: w.peer} }
	for w, n := range foldShortest(all, words.MaxPeers+1, foreignNames) {
		o.ObserveInt64(g.ins.serverInfo, n, w.set(&clientKeys, present(
			optional(names.KeyMCPClientServerName, w.peer.name),
			optional(names.KeyMCPClientServerVersion, w.peer.version),
			optional(names.KeyMCPProtocolVersion, w.peer.protocol))...))
	}
}

// caller counts the requests of all clients that have sent one name and version.
type caller struct {
	implementation
	requests atomic.Int64
}

// callers holds the implementations of all clients of the servers with one name. Like the attribute sets of other
// counters, implementations are never removed, so the counts stay when a server ends.
type callers struct {
	server string
	implementations[*caller]
}

// countCaller returns the caller for the client's name and version, and counts the message there unless it is a
// notification. It returns nil if the client has sent neither a name nor a version.
func (s *Server) countCaller(in *Incoming) *caller {
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

// newCaller returns the caller for a new implementation. Beyond the limit, it returns the shared caller. The first call
// registers the callback that observes callers.
func (g *gauges) newCaller(of *callers, i implementation) *caller {
	g.counting.Do(func() {
		if _, err := g.meter.RegisterCallback(g.observeCallers, g.ins.clientRequests); err != nil {
			otel.Handle(err)
		}
	})
	limit := words.MaxPeers
	if g.callerCount.Load() >= words.MaxPeersOfServers {
		limit = 0
	}
	return of.of(i, limit, func(i implementation) *caller {
		g.callerCount.Add(1)
		return &caller{implementation: i}
	})
}

// allCallers returns all callers, including the shared caller.
func (all *callers) allCallers() []*caller {
	every := []*caller{all.others}
	for _, c := range all.All() {
		every = append(every, c)
	}
	return every
}

// callersOf returns the callers of the servers with a name. Servers beyond the limit share one set of callers.
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

// observeCallers observes the number of requests from each implementation.
func (g *gauges) observeCallers(_ context.Context, o metric.Observer) error {
	g.mu.Lock()
	every := slices.Collect(maps.Values(g.callers))
	g.mu.Unlock()
	for _, c := range every {
		for _, one := range c.allCallers() {
			if n := one.requests.Load(); n > 0 {
				o.ObserveInt64(g.ins.clientRequests, n, gaugeKey{name: c.server}.set(&serverKeys, present(
					optional(names.KeyMCPServerClientName, one.name),
					optional(names.KeyMCPServerClientVersion, one.version))...))
			}
		}
	}
	return nil
}
