package mcpserver

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// servers are those of the process that serve somebody, or may be asked to over HTTP.
var servers running.Set[Server]

// Servers returns the servers of this process that serve a connection or have an [HTTPHandler] that is not shut down, in
// the order in which they were made.
func Servers() []*Server { return servers.All() }

// enlist notes whether the server is at work. s.mu is held.
func (s *Server) enlist() {
	if len(s.conns)+len(s.handlers) > 0 {
		servers.Add(s.number, s)
	} else {
		servers.Remove(s.number)
	}
}

// InspectionLimit bounds the lists of an [Inspection].
const InspectionLimit = 100

// Inspection is what a server is doing: what people want to know who look into a process that does not do what it should.
// It is plain data, and encodes as JSON. What clients chose, names for example, is cut to 128 bytes. The ids of sessions and
// tasks are secrets: of the one there is the beginning, of the other nothing.
type Inspection struct {
	Time     time.Time     `json:"time"`
	Number   uint64        `json:"number"` // of the server among those that the process has had, from 1
	Name     string        `json:"name"`   // in telemetry
	Server   string        `json:"server"` // as clients see it
	Version  string        `json:"server_version"`
	Versions []mcp.Version `json:"protocol_versions"` // that it speaks, the newest first

	Tools     int `json:"tools"`
	Resources int `json:"resources"`
	Templates int `json:"templates"` // of resources
	Prompts   int `json:"prompts"`

	Limits Limits `json:"limits"`
	Places Places `json:"places"`

	Connected     int                 `json:"connected"`             // connections, and sessions over HTTP
	Connections   []Connection        `json:"connections,omitempty"` // of those, the [InspectionLimit] with the most requests
	Handlers      []HTTPInspection    `json:"http,omitempty"`        // that are not shut down
	Subscriptions int                 `json:"subscriptions"`         // of modern clients
	InFlight      int                 `json:"in_flight"`             // requests, those that wait for a place included
	Requests      []InFlightRequest   `json:"requests,omitempty"`    // of those, the [InspectionLimit] that came first
	RunningTasks  int                 `json:"running_tasks"`         // and calls that may become tasks
	MaxTasks      int                 `json:"max_tasks"`
	Tasks         []RunningTask       `json:"tasks,omitempty"` // of those, the [InspectionLimit] that began first
	Networks      []NetworkInspection `json:"networks,omitempty"`
}

// Limits are bounds from a server's [Options].
type Limits struct {
	MaxConcurrent  int           `json:"max_concurrent"` // of one connection or session
	MaxQueued      int           `json:"max_queued"`     // likewise
	MaxTotal       int           `json:"max_total"`      // zero for none
	RequestTimeout time.Duration `json:"request_timeout_ns"`
	FrameLimit     int           `json:"frame_limit"`
}

// Places are those of [Options.MaxTotal]. Without that, nobody counts them.
type Places struct {
	Used    int  `json:"used"`
	Holders int  `json:"holders"`          // connections that have one, and requests without a connection
	Hungry  int  `json:"hungry"`           // connections with requests that wait for one
	Scarce  bool `json:"scarce,omitempty"` // nobody gets more than a share
}

// Connection is a client on a connection of its own, or in a session over HTTP.
type Connection struct {
	Number    uint64        `json:"number"`            // among those of the server, from 1
	Session   string        `json:"session,omitempty"` // the beginning of its id, over HTTP
	Transport string        `json:"transport,omitempty"`
	Protocol  string        `json:"protocol,omitempty"`
	Client    string        `json:"client,omitempty"` // by its own account; empty for modern clients, which say so with each request
	ClientVer string        `json:"client_version,omitempty"`
	Version   mcp.Version   `json:"protocol_version,omitempty"` // agreed on, likewise
	Since     time.Time     `json:"since"`
	Age       time.Duration `json:"age_ns"`
	Running   int           `json:"running"`            // requests
	Waiting   int           `json:"waiting"`            // requests that wait for a place
	Bytes     int           `json:"waiting_bytes"`      // of their frames
	Asking    int           `json:"asking"`             // requests that the client has yet to answer
	Watching  int           `json:"watching,omitempty"` // resources, by resources/subscribe
}

// HTTPInspection is what an [HTTPHandler] is doing.
type HTTPInspection struct {
	Inside        int  `json:"inside"`   // HTTP requests and responses that are streams
	Requests      int  `json:"requests"` // POSTs of those, without the ones that last
	MaxRequests   int  `json:"max_requests"`
	Sessions      int  `json:"sessions"` // of legacy clients
	MaxSessions   int  `json:"max_sessions"`
	Subscriptions int  `json:"subscriptions"` // of modern clients
	MaxSubs       int  `json:"max_subscriptions"`
	Shared        bool `json:"shared,omitempty"`  // sessions are known in other processes too
	Closing       bool `json:"closing,omitempty"` // no more requests are let in
}

// InFlightRequest is a request that is being answered, or waits for that.
type InFlightRequest struct {
	Connection uint64        `json:"connection,omitempty"` // its number; zero for a request that is answered by itself
	ID         string        `json:"id"`                   // up to 16 bytes of it
	Method     string        `json:"method"`
	Target     string        `json:"target,omitempty"` // tool or prompt
	URI        string        `json:"uri,omitempty"`    // of the resource
	Since      time.Time     `json:"since"`
	Age        time.Duration `json:"age_ns"`
	Waiting    bool          `json:"waiting,omitempty"` // for a place
	Cancelled  bool          `json:"cancelled,omitempty"`
	TraceID    string        `json:"trace_id,omitempty"` // empty if it has no span
}

// RunningTask is the handler of a call that has become a task, or may become one.
type RunningTask struct {
	Tool   string         `json:"tool"`
	Status mcp.TaskStatus `json:"status,omitempty"` // empty as long as it is no task
	Since  time.Time      `json:"since,omitzero"`   // of the task
	Age    time.Duration  `json:"age_ns,omitempty"`
}

// NetworkInspection is what telemetry knows of a server's connections over one kind of network.
type NetworkInspection struct {
	Transport  string                  `json:"transport,omitempty"` // network.transport; empty in memory
	Protocol   string                  `json:"protocol,omitempty"`
	Version    string                  `json:"protocol_version,omitempty"`
	Operations []telemetry.Operation   `json:"operations,omitempty"`
	Recent     []telemetry.FlightEntry `json:"recent,omitempty"`
}

// Inspect returns what the server is doing. What it says of each connection, and of each handler over HTTP, is of one
// moment; these moments are one after the other, for a server has no lock of all its connections.
func (s *Server) Inspect() Inspection {
	i := Inspection{
		Time: time.Now(), Number: s.number, Name: s.cfg.Name, Server: s.info.Name, Version: s.info.Version,
		Versions: slices.Clone(s.cfg.versions),
		Tools:    s.tools.len(), Resources: s.resources.len(), Templates: s.templates.len(), Prompts: s.prompts.len(),
		Limits: Limits{
			MaxConcurrent: s.cfg.MaxConcurrent, MaxQueued: s.cfg.MaxQueued, MaxTotal: s.cfg.MaxTotal,
			RequestTimeout: s.cfg.RequestTimeout, FrameLimit: s.cfg.FrameLimit,
		},
		Places: s.total.inspect(),
	}
	s.mu.Lock()
	conns, handlers, audiences := slices.Collect(maps.Keys(s.conns)), slices.Collect(maps.Keys(s.handlers)), maps.Clone(s.audiences)
	observers := slices.Collect(maps.Values(s.observers))
	s.mu.Unlock()

	in := inspector{Inspection: i}
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
	in.tasks(s.tasks)
	for _, o := range observers {
		in.network(o)
	}
	return in.done()
}

// inspector gathers an Inspection.
type inspector struct {
	Inspection
	calls []seenCall
}

// seenCall is a call as it was when it was looked at, for it belongs to another.
type seenCall struct {
	*call
	conn      uint64
	waiting   bool
	cancelled bool
}

func (in *inspector) add(c seenCall) {
	in.InFlight++
	in.calls = among(in.calls, c, func(a, b seenCall) int { return a.arrived.Compare(b.arrived) })
}

// among puts v into its place among the first [InspectionLimit] there are, if it is one of them.
func among[T any](first []T, v T, compare func(a, b T) int) []T {
	if len(first) == InspectionLimit && compare(v, first[InspectionLimit-1]) >= 0 {
		return first
	}
	at, _ := slices.BinarySearchFunc(first, v, func(a, b T) int {
		if compare(a, b) <= 0 { // behind those that are equal
			return -1
		}
		return 1
	})
	first = slices.Insert(first, at, v)
	return first[:min(len(first), InspectionLimit)]
}

func (in *inspector) handler(h *HTTPHandler, sessions map[*connection]string) {
	state := HTTPInspection{
		MaxRequests: h.gate.limit, MaxSessions: h.sessions.limit, MaxSubs: h.audience.limit, Shared: h.fleet != nil,
		Subscriptions: h.audience.len(),
	}
	h.gate.mu.Lock()
	state.Inside, state.Requests, state.Closing = h.gate.inside, h.gate.posts, h.gate.closed
	h.gate.mu.Unlock()
	open := h.sessions.all()
	state.Sessions = len(open)
	for _, s := range open {
		sessions[s.connection] = s.id
	}
	h.crowd.mu.Lock()
	for c := range h.crowd.live {
		in.add(seenCall{call: c})
	}
	h.crowd.mu.Unlock()
	in.Handlers = append(in.Handlers, state)
}

func (in *inspector) connection(c *connection, session string) {
	see := Connection{
		Number: c.number, Transport: c.network.Transport, Protocol: c.network.Protocol, Since: c.since, Age: in.Time.Sub(c.since),
		Asking: c.asks.len(), Watching: c.session.watched.len(),
	}
	if session != "" {
		see.Session = session[:min(len(session), shownSession)] + "…"
	}
	if a := c.session.agreed.Load(); a != nil {
		see.Client, see.ClientVer, see.Version = excerpt(a.client.Name), excerpt(a.client.Version), a.version
	}
	t := c.table
	t.mu.Lock()
	see.Running, see.Waiting, see.Bytes = t.running, len(t.waiting), t.bytes
	waiting := make(map[*call]bool, len(t.waiting))
	for _, w := range t.waiting {
		waiting[w] = true
	}
	for _, live := range t.live {
		in.add(seenCall{live, c.number, waiting[live], live.cancelled != nil})
	}
	t.mu.Unlock()
	in.Connected++
	in.Connections = among(in.Connections, see, func(a, b Connection) int {
		if load := (b.Running + b.Waiting) - (a.Running + a.Waiting); load != 0 {
			return load
		}
		return a.Since.Compare(b.Since)
	})
}

// shownSession is how much of the id of a session is shown: enough to tell a few apart, and far from enough to guess it.
const shownSession = 6

func (in *inspector) tasks(k *taskKeeper) {
	in.MaxTasks = k.cfg.MaxRunning
	k.mu.Lock()
	runs := slices.Collect(maps.Values(k.runs))
	k.mu.Unlock()
	for _, r := range runs {
		see := RunningTask{Tool: excerpt(r.tool.Name)}
		if record := r.latest(); record != nil {
			see.Status, see.Since, see.Age = record.Status, record.Created, in.Time.Sub(record.Created)
		}
		in.RunningTasks++
		in.Tasks = among(in.Tasks, see, func(a, b RunningTask) int { return a.Since.Compare(b.Since) })
	}
}

func (in *inspector) network(o observer) {
	see := NetworkInspection{
		Transport: o.network.Transport, Protocol: o.network.Protocol, Version: o.network.ProtocolVersion,
		Operations: o.tel.Operations(), Recent: o.tel.FlightRecord(),
	}
	if len(see.Operations)+len(see.Recent) > 0 {
		in.Networks = append(in.Networks, see)
	}
}

// done writes down the requests, and puts what has no order of its own into one.
func (in *inspector) done() Inspection {
	for _, c := range in.calls {
		ref := c.op.Ref() // it never changes
		in.Requests = append(in.Requests, InFlightRequest{
			Connection: c.conn, ID: shortID(c.info.ID.String()), Method: excerpt(c.info.Method), Target: excerpt(c.target), URI: excerpt(c.uri),
			Since: c.arrived, Age: in.Time.Sub(c.arrived), Waiting: c.waiting, Cancelled: c.cancelled, TraceID: ref.TraceID(),
		})
	}
	slices.SortFunc(in.Networks, func(a, b NetworkInspection) int {
		return strings.Compare(a.Transport+a.Protocol+a.Version, b.Transport+b.Protocol+b.Version)
	})
	return in.Inspection
}

// maxShown is how long texts in an inspection are, in bytes.
const maxShown = 128

// excerpt returns a copy of the beginning of s: the whole may be part of a large frame.
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

// len returns how many requests the client has yet to answer; nil has none.
func (a *asks) len() int {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}

// len returns how many there are on the list; nil has none.
func (w *watchlist) len() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.uris)
}

// inspect returns how the places are used; nil has none.
func (l *limiter) inspect() Places {
	if l == nil {
		return Places{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return Places{Used: l.used, Holders: l.holders, Hungry: len(l.hungry), Scarce: time.Now().Before(l.scarce)}
}
