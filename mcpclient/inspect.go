package mcpclient

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// clients are those of the process that have not ended.
var clients running.Set[Client]

// Clients returns the clients of this process that have not ended (see [Client.Done]), in the order in which they were
// created.
func Clients() []*Client { return clients.All() }

// InspectionLimit bounds the lists of an [Inspection].
const InspectionLimit = 100

// Inspection is what a client is doing at one moment: what people want to know who look into a process that does not do
// what it should. It is plain data, and encodes as JSON. What a peer chose, names for example, is cut to 128 bytes.
type Inspection struct {
	Time   time.Time `json:"time"`
	Number uint64    `json:"number"` // of the client among those that the process has had, from 1
	Name   string    `json:"name"`

	Transport string `json:"transport,omitempty"` // network.transport: pipe, tcp; empty in memory
	Protocol  string `json:"protocol,omitempty"`  // under MCP: http
	Address   string `json:"address,omitempty"`   // that is dialled
	PID       int    `json:"pid,omitempty"`       // of a server that is a child process

	State    connstate.State  `json:"state"`
	Ended    bool             `json:"ended,omitempty"` // the client has; State stays closing
	Reason   connstate.Reason `json:"reason"`          // why State was entered
	Since    time.Time        `json:"since"`           // when
	InState  time.Duration    `json:"in_state_ns"`     // how long ago
	Due      time.Time        `json:"due,omitzero"`    // when State ends by itself: in backoff with the next attempt, else because it takes too long; zero if it does not
	Epoch    uint64           `json:"epoch"`           // numbers the connections, from 1
	Sessions uint64           `json:"sessions"`        // how often the client has become ready
	Attempt  int              `json:"attempt"`         // to connect, since the client was last ready, as in [Status]
	Err      string           `json:"error,omitempty"` // why the last attempt or connection failed; empty when ready
	GaveUp   string           `json:"gave_up,omitempty"`
	Waiting  int              `json:"waiting"` // goroutines that wait for a state, calls among them

	Server        string      `json:"server,omitempty"` // by its own account; empty if the client is not ready, as the next
	ServerVersion string      `json:"server_version,omitempty"`
	Version       mcp.Version `json:"protocol_version,omitempty"`
	Era           string      `json:"era,omitempty"` // modern or legacy

	InFlight   int            `json:"in_flight"`       // calls
	Calls      []InFlightCall `json:"calls,omitempty"` // of those, the [InspectionLimit] that were made first
	Tombstones int            `json:"tombstones"`      // of calls that ended without an answer
	Answering  int            `json:"answering"`       // requests of the server

	SendQueue     int      `json:"send_queue"`    // frames that have not left, as far as the transport knows; a moment later than all else
	Notifications int      `json:"notifications"` // that wait for their handlers
	QueueLimit    int      `json:"notification_limit"`
	Subscribed    int      `json:"subscribed"`              // resources whose changes the client wants to hear of
	Subscriptions []string `json:"subscriptions,omitempty"` // of those, the first [InspectionLimit] URIs
	Listening     bool     `json:"listening,omitempty"`     // to a modern server's changes

	// Operations and Recent are what the client's telemetry knows, nil if that is off. They are read when all else has been.
	Operations []telemetry.Operation   `json:"operations,omitempty"`
	Recent     []telemetry.FlightEntry `json:"recent,omitempty"`
}

// InFlightCall is a request that has no answer yet.
type InFlightCall struct {
	ID       int64         `json:"id"`
	Method   string        `json:"method"`
	Target   string        `json:"target,omitempty"` // tool or prompt
	URI      string        `json:"uri,omitempty"`    // of the resource
	Since    time.Time     `json:"since"`            // waiting for the client to be ready included
	Age      time.Duration `json:"age_ns"`
	Deadline time.Time     `json:"deadline,omitzero"` // zero for none
	CorrID   string        `json:"corr_id,omitempty"`
	TraceID  string        `json:"trace_id,omitempty"` // empty if it has no span
	Retries  int           `json:"retries,omitempty"`  // of sending
	Round    int           `json:"round,omitempty"`    // of a call whose server has asked for input
	Stream   bool          `json:"stream,omitempty"`   // a subscription, which has no other end than its own
}

// Inspect returns what the client is doing. All but what is marked is of one moment, in which nothing else happens to the
// client; nobody's code is called in it, and it is short however much there is.
func (c *Client) Inspect() Inspection {
	i, why, oldest := c.inspect()
	i.Transport, i.Protocol, i.Address = c.network.Transport, c.network.Protocol, c.network.Address
	for _, f := range oldest {
		i.Calls = append(i.Calls, f.show(i.Time))
	}
	if why.last != nil {
		i.Err = excerpt(why.last.Error(), maxErrorText)
	}
	if why.gaveUp != nil {
		i.GaveUp = excerpt(why.gaveUp.Error(), maxErrorText)
	}
	if s := why.session; s != nil {
		info := s.conn.Info()
		i.SendQueue, i.PID = info.Queued, info.PID
	}
	i.Operations, i.Recent = c.tel.Operations(), c.tel.FlightRecord()
	return i
}

// inspected is what an Inspection is told by code that is not the client's own.
type inspected struct {
	last, gaveUp error
	session      *session
}

// flight is a call in flight as it was at the moment of the inspection, for the call itself belongs to another.
type flight struct {
	inflight.Flight[*call]
	method, target, uri string
	begun               time.Time
	corr                telemetry.Corr
	ref                 telemetry.Ref
	rounds              int
	stream              bool
}

// inspect is the one moment of an inspection.
func (c *Client) inspect() (i Inspection, more inspected, oldest []flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	i = Inspection{
		Time: now, Number: c.number, Name: c.cfg.Name,
		State: c.m.State, Ended: c.m.Ended, Reason: c.m.Reason, Since: c.m.Since, InState: now.Sub(c.m.Since), Due: c.m.Deadline,
		Epoch: c.m.Epoch, Sessions: c.m.Session, Attempt: c.m.Attempt, Waiting: len(c.waiters),
		InFlight: c.calls.Len(), Tombstones: c.calls.Tombstones(),
	}
	if s := c.session; s != nil {
		i.Server, i.ServerVersion = excerpt(s.server.Name, maxShown), excerpt(s.server.Version, maxShown)
		i.Version, i.Era, i.Listening = s.version, s.version.Era().String(), s.listening
	}
	i.Answering = c.serving.count()
	i.Notifications, i.QueueLimit = c.dispatcher.queued()
	i.Subscribed, i.Subscriptions = c.watches.show()
	return i, inspected{c.lastErr, c.refusal, c.session}, c.oldest()
}

// oldest returns the calls in flight that were made first, in this order. It is called with mu held.
func (c *Client) oldest() []flight {
	var first []inflight.Flight[*call]
	for f := range c.calls.All() {
		first = among(first, f, func(a, b inflight.Flight[*call]) int { return cmp.Compare(a.ID, b.ID) })
	}
	all := make([]flight, len(first))
	for n, f := range first {
		cl := f.Value
		all[n] = flight{f, cl.method, cl.target, cl.shownURI, cl.begun, cl.corr, cl.ref, cl.rounds, cl.acknowledged != nil}
	}
	return all
}

// among puts v into its place among the first [InspectionLimit] there are, if it is one of them.
func among[T any](first []T, v T, compare func(a, b T) int) []T {
	if len(first) == InspectionLimit && compare(v, first[InspectionLimit-1]) >= 0 {
		return first
	}
	at, _ := slices.BinarySearchFunc(first, v, compare)
	first = slices.Insert(first, at, v)
	return first[:min(len(first), InspectionLimit)]
}

func (f *flight) show(now time.Time) InFlightCall {
	return InFlightCall{
		ID: f.ID, Method: excerpt(f.method, maxShown), Target: excerpt(f.target, maxShown), URI: excerpt(f.uri, maxShown),
		Since: f.begun, Age: now.Sub(f.begun), Deadline: f.Deadline,
		CorrID: corrText(f.corr), TraceID: f.ref.TraceID(), Retries: f.Retries, Round: f.rounds, Stream: f.stream,
	}
}

func corrText(c telemetry.Corr) string {
	if c == (telemetry.Corr{}) {
		return ""
	}
	return c.String()
}

// Limits of texts in an inspection, in bytes.
const (
	maxShown     = 128
	maxErrorText = 512
)

// excerpt returns a copy of the beginning of s: the whole may be part of a large frame.
func excerpt(s string, limit int) string {
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit-len("…")], "") + "…"
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}

// count returns how many requests of the server are being answered.
func (s *serving) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// queued returns how many notifications wait, and how many may.
func (d *dispatcher) queued() (n, limit int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.queue.len(), d.queue.limit
}

// show returns how many resources are wanted, and which, as far as there is room for them.
func (t *watches) show() (wanted int, uris []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uri, w := range t.all {
		if !w.wanted {
			continue
		}
		wanted++
		uris = among(uris, uri, cmp.Compare)
	}
	for i := range uris {
		uris[i] = excerpt(uris[i], maxShown)
	}
	return wanted, uris
}
