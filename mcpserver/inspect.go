package mcpserver

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Servers returns the servers of this process that serve a connection or have an [HTTPHandler] that is not shut down,
// in the order of their creation.
func Servers() []*Server {
	var all []*Server
	for _, v := range running.Servers.All() {
		all = append(all, v.(*Server))
	}
	return all
}

// enlist adds the server to the list of running servers or removes it. s.mu is held.
func (s *Server) enlist() {
	if len(s.conns)+len(s.handlers) > 0 {
		running.Enlist(&running.Servers, s.number, s)
	} else {
		running.Servers.Remove(s.number)
	}
}

// Inspect returns a snapshot of the server's activity. The data of each connection and of each HTTP handler is
// consistent, but the server collects them one after the other, because it has no lock over all its connections.
func (s *Server) Inspect() inspect.Server {
	i := inspect.Server{
		Time: time.Now(), Number: s.number, Name: s.cfg.Name, InstanceID: s.cfg.InstanceID, Server: s.info.Name,
		Version:  s.info.Version,
		Versions: slices.Clone(s.cfg.versions),
		Tools:    s.tools.len(), Resources: s.resources.len(), Templates: s.resources.templates.len(),
		Prompts: s.prompts.len(),
		Limits: inspect.Limits{
			MaxConcurrent: s.cfg.MaxConcurrent, MaxQueued: s.cfg.MaxQueued, MaxTotal: s.cfg.MaxTotal,
			RequestTimeout: s.cfg.RequestTimeout, FrameLimit: s.cfg.FrameLimit,
		},
		Places: placesOf(s.total),
	}
	s.mu.Lock()
	conns, handlers := slices.Collect(maps.Keys(s.conns)), slices.Collect(maps.Keys(s.handlers))
	audiences := maps.Clone(s.audiences)
	observers := slices.Collect(maps.Values(s.observers))
	s.mu.Unlock()

	in := inspector{Server: i}
	sessions := map[*connection]string{}
	for _, h := range handlers {
		in.handler(h, sessions)
		delete(audiences, h.audience)
		in.Subscriptions += h.audience.len()
	}
	for a := range audiences {
		in.Subscriptions += a.len()
	}
	for _, c := range conns {
		in.connection(c, sessions[c])
	}
	in.tasks(s.tasks.keeper)
	for _, o := range observers {
		in.network(o)
	}
	return in.done()
}

// inspector collects the data of an inspection.
type inspector struct {
	inspect.Server
	calls []seenCall
}

// seenCall is a copy of the mutable state of a call, which another goroutine owns.
type seenCall struct {
	*rpc.Call
	conn      uint64
	waiting   bool
	cancelled bool
}

func (in *inspector) add(c seenCall) {
	in.InFlight++
	in.calls = among(in.calls, c, func(a, b seenCall) int { return a.Arrived.Compare(b.Arrived) })
}

// among inserts v into the sorted list first. The list keeps at most [inspect.MaxListed] values.
func among[T any](first []T, v T, compare func(a, b T) int) []T {
	if len(first) == inspect.MaxListed && compare(v, first[inspect.MaxListed-1]) >= 0 {
		return first
	}
	at, _ := slices.BinarySearchFunc(first, v, func(a, b T) int {
		if compare(a, b) <= 0 { // insert after equal values
			return -1
		}
		return 1
	})
	first = slices.Insert(first, at, v)
	return first[:min(len(first), inspect.MaxListed)]
}

func (in *inspector) handler(h *HTTPHandler, sessions map[*connection]string) {
	load := h.web.Load()
	state := inspect.HTTP{
		MaxRequests: h.cfg.MaxRequests, MaxSessions: h.cfg.MaxSessions, MaxSubscriptions: h.cfg.MaxSubscriptions,
		Shared: h.web.IsShared(), Inside: load.Inside, Requests: load.Requests, Closing: load.Closing,
		Subscriptions: h.audience.len(),
	}
	for id, c := range h.web.Sessions() {
		sessions[c.(*connection)] = id
		state.Sessions++
	}
	for c := range h.web.StatelessCalls {
		in.add(seenCall{Call: c})
	}
	in.Handlers = append(in.Handlers, state)
}

func (in *inspector) connection(c *connection, session string) {
	network := c.exchange.Peer.Network
	see := inspect.Connection{
		Number: c.number, Transport: network.Transport, Protocol: network.Protocol, Since: c.since,
		Age:    in.Time.Sub(c.since),
		Asking: c.exchange.Asks.Len(), Watching: c.watched.len(),
	}
	if session != "" {
		see.Session = session[:min(len(session), shownSession)] + "…"
	}
	if a := c.exchange.terms.agreed.Load(); a != nil {
		see.Client, see.ClientVersion, see.Version = excerpt(a.client.Name), excerpt(a.client.Version), a.version
	}
	see.Running, see.Waiting, see.Bytes = c.table.Each(func(live *rpc.Call, waiting, cancelled bool) {
		in.add(seenCall{live, c.number, waiting, cancelled})
	})
	in.Connected++
	in.Connections = among(in.Connections, see, func(a, b inspect.Connection) int {
		if load := (b.Running + b.Waiting) - (a.Running + a.Waiting); load != 0 {
			return load
		}
		return a.Since.Compare(b.Since)
	})
}

// shownSession is the number of characters of a session id in an inspection: enough to distinguish sessions, and far
// too few to guess the id.
const shownSession = 6

func (in *inspector) tasks(k *tasks.Keeper) {
	in.MaxTasks = k.Options.MaxRunning
	k.Each(func(tool string, t *store.Task) {
		see := inspect.Task{Tool: excerpt(tool)}
		if t != nil {
			see.Status, see.Since, see.Age = t.Status, t.Created, in.Time.Sub(t.Created)
		}
		in.RunningTasks++
		in.Tasks = among(in.Tasks, see, func(a, b inspect.Task) int { return a.Since.Compare(b.Since) })
	})
}

func (in *inspector) network(o rpc.Observer) {
	see := inspect.Network{
		Transport: o.Network.Transport, Protocol: o.Network.Protocol, Version: o.Network.ProtocolVersion,
		Operations: o.Tel.Operations(), Recent: o.Tel.FlightRecord(),
	}
	if len(see.Operations)+len(see.Recent) > 0 {
		in.Networks = append(in.Networks, see)
	}
}

// done fills in the requests, and sorts the networks.
func (in *inspector) done() inspect.Server {
	for _, c := range in.calls {
		ref := c.Op.Ref() // immutable
		method, _ := c.Handler.About()
		target, uri := c.Handler.(aboutTarget).aboutTarget()
		in.Requests = append(in.Requests, inspect.Request{
			Connection: c.conn, ID: shortID(c.ID.String()), Method: excerpt(method), Target: excerpt(target),
			URI:   excerpt(uri),
			Since: c.Arrived, Age: in.Time.Sub(c.Arrived), Waiting: c.waiting, Cancelled: c.cancelled, TraceID: ref.TraceID(),
		})
	}
	slices.SortFunc(in.Networks, func(a, b inspect.Network) int {
		return strings.Compare(a.Transport+a.Protocol+a.Version, b.Transport+b.Protocol+b.Version)
	})
	return in.Server
}

// maxShown is the maximum length of texts in an inspection, in bytes.
const maxShown = 128

// excerpt returns a copy of the beginning of s. It copies because s may be part of a large frame.
func excerpt(s string) string {
	if len(s) > maxShown {
		return strings.ToValidUTF8(s[:maxShown-len("…")], "") + "…"
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}

func shortID(id string) string { return strings.ToValidUTF8(id[:min(len(id), 16)], "") }

func (r *registry[T]) len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byName)
}

func (a *audience) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.subs)
}

// len returns the number of entries; a nil list has none.
func (w *watchlist) len() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.uris)
}

// placesOf returns the usage of a limiter; a nil limiter has no places.
func placesOf(l *quota.Limiter) inspect.Places {
	u := l.Usage()
	return inspect.Places{Used: u.Used, Holders: u.Holders, Hungry: u.Waiting, Scarce: u.Scarce}
}

// aboutTarget is implemented by the handler of a call. It returns the tool or prompt, and the URI of the resource.
type aboutTarget interface{ aboutTarget() (target, uri string) }

func (c *call) aboutTarget() (target, uri string)        { return c.target, c.uri }
func (r *relayedCall) aboutTarget() (target, uri string) { return r.target, r.uri }
