package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// Targeted is the handler of a call. Targets returns the tool or prompt, and the URI of the resource.
type Targeted interface{ Targets() (target, uri string) }

// Inspect adds the connections, handlers, requests and networks to i, whose Time is set.
func (s *Server) Inspect(i *inspect.Server) {
	i.Number, i.Name, i.InstanceID, i.Versions = s.Number, s.Name, s.InstanceID, slices.Clone(s.Versions)
	i.Limits = inspect.Limits{
		MaxConcurrent: s.MaxConcurrent, MaxQueued: s.MaxQueued, MaxTotal: s.MaxTotal, FrameLimit: s.FrameLimit,
	}
	i.Places = placesOf(s.Total)
	s.mu.Lock()
	conns, handlers := slices.Collect(maps.Keys(s.conns)), slices.Collect(maps.Keys(s.handlers))
	observers := slices.Collect(maps.Values(s.observers))
	s.mu.Unlock()

	in := inspector{Server: i}
	sessions := map[*Conn]string{}
	for _, h := range handlers {
		in.handler(h, sessions)
	}
	for _, c := range conns {
		in.connection(c, sessions[c])
	}
	for _, o := range observers {
		in.network(o)
	}
	in.done()
}

// inspector collects the data of an inspection.
type inspector struct {
	*inspect.Server
	calls []seenCall
}

// seenCall is a copy of the mutable state of a call. Another goroutine owns the call.
type seenCall struct {
	*rpc.Call
	conn      uint64
	waiting   bool
	cancelled bool
}

func (in *inspector) add(c seenCall) {
	in.InFlight++
	in.calls = Among(in.calls, c, func(a, b seenCall) int { return a.Arrived.Compare(b.Arrived) })
}

// Among inserts v into the sorted slice list, and returns at most [inspect.MaxListed] elements of the result, the
// lowest ones.
func Among[T any](list []T, v T, compare func(a, b T) int) []T {
	if len(list) == inspect.MaxListed && compare(v, list[inspect.MaxListed-1]) >= 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, v, func(a, b T) int {
		if compare(a, b) <= 0 { // insert after equal values
			return -1
		}
		return 1
	})
	list = slices.Insert(list, at, v)
	return list[:min(len(list), inspect.MaxListed)]
}

func (in *inspector) handler(h *HTTP, sessions map[*Conn]string) {
	load := h.Web.Load()
	state := inspect.HTTP{
		MaxRequests: h.MaxRequests, MaxSessions: h.MaxSessions, MaxSubscriptions: h.MaxSubscriptions,
		Shared: h.Web.IsShared(), Inside: load.Inside, Requests: load.Requests, Closing: load.Closing,
	}
	state.Subscriptions, _ = h.role.Subscriptions()
	in.Subscriptions += state.Subscriptions
	for id, c := range h.Web.Sessions() {
		sessions[c.(interface{ conn() *Conn }).conn()] = id
		state.Sessions++
	}
	for c := range h.Web.StatelessCalls {
		in.add(seenCall{Call: c})
	}
	in.Handlers = append(in.Handlers, state)
}

func (in *inspector) connection(c *Conn, session string) {
	network := c.X.Peer.Network
	see := inspect.Connection{
		Number: c.Number, Transport: network.Transport, Protocol: network.Protocol, Since: c.since,
		Age:    in.Time.Sub(c.since),
		Asking: c.X.Asks.Len(),
	}
	resources, subscriptions := c.Role.Watching()
	see.Watching = resources
	in.Subscriptions += subscriptions
	if session != "" {
		see.Session = session[:min(len(session), shownSession)] + "…"
	}
	if a := c.X.Terms.Agreed.Load(); a != nil {
		see.Client, see.ClientVersion, see.Version = Excerpt(a.Client.Name), Excerpt(a.Client.Version), a.Version
	}
	see.Running, see.Waiting, see.Bytes = c.Calls.Each(func(live *rpc.Call, waiting, cancelled bool) {
		in.add(seenCall{live, c.Number, waiting, cancelled})
	})
	in.Connected++
	in.Connections = Among(in.Connections, see, func(a, b inspect.Connection) int {
		if load := (b.Running + b.Waiting) - (a.Running + a.Waiting); load != 0 {
			return load
		}
		return a.Since.Compare(b.Since)
	})
}

// shownSession is the number of characters of a session id that an inspection shows: enough to distinguish sessions,
// but too few to guess the id.
const shownSession = 6

func (in *inspector) network(o rpc.Observer) {
	see := inspect.Network{
		Transport: o.Network.Transport, Protocol: o.Network.Protocol, Version: o.Network.ProtocolVersion,
		Operations: o.Tel.Operations(), Recent: o.Tel.FlightRecord(),
	}
	if len(see.Operations)+len(see.Recent) > 0 {
		in.Networks = append(in.Networks, see)
	}
}

// done adds the requests to the inspection and sorts the networks.
func (in *inspector) done() {
	for _, c := range in.calls {
		ref := c.Op.Ref() // immutable
		method, _ := c.Handler.About()
		target, uri := c.Handler.(Targeted).Targets()
		in.Requests = append(in.Requests, inspect.Request{
			Connection: c.conn, ID: shortID(c.ID.String()), Method: Excerpt(method), Target: Excerpt(target),
			URI:   Excerpt(uri),
			Since: c.Arrived, Age: in.Time.Sub(c.Arrived), Waiting: c.waiting, Cancelled: c.cancelled, TraceID: ref.TraceID(),
		})
	}
	slices.SortFunc(in.Networks, func(a, b inspect.Network) int {
		return strings.Compare(a.Transport+a.Protocol+a.Version, b.Transport+b.Protocol+b.Version)
	})
}

// maxShown is the maximum length of texts in an inspection, in bytes.
const maxShown = 128

// Excerpt returns a copy of the beginning of s. It copies because s may be part of a large frame.
func Excerpt(s string) string {
	if len(s) > maxShown {
		return strings.ToValidUTF8(s[:maxShown-len("…")], "") + "…"
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}

func shortID(id string) string { return strings.ToValidUTF8(id[:min(len(id), 16)], "") }

// placesOf returns the usage of a limiter. A nil limiter has no places.
func placesOf(l *quota.Limiter) inspect.Places {
	u := l.Usage()
	return inspect.Places{Used: u.Used, Holders: u.Holders, Hungry: u.Waiting, Scarce: u.Scarce}
}
