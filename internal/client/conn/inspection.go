package conn

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/instrument"
)

// flight is a snapshot of one call in flight, for an inspection. The call itself belongs to another goroutine.
type flight struct {
	inflight.Flight[*Request]
	method, target, uri string
	begun               time.Time
	corr                instrument.Corr
	ref                 instrument.Ref
	rounds              int
	stream              bool
}

// Inspect returns the state of the core. To make all values show the same moment, Inspect calls also, which adds
// further values, with the core's mutex held.
func (c *Conn) Inspect(also func(*inspect.Client)) inspect.Client {
	i, s, oldest, last, gaveUp := c.moment(also)
	network := c.Transport.Network()
	i.Transport, i.Protocol, i.Address = network.Transport, network.Protocol, network.Address
	for _, f := range oldest {
		i.Calls = append(i.Calls, f.show(i.Time))
	}
	if last != nil {
		i.Err = Excerpt(last.Error(), MaxErrorText)
	}
	if gaveUp != nil {
		i.GaveUp = Excerpt(gaveUp.Error(), MaxErrorText)
	}
	if s != nil {
		info := s.Conn.Info()
		i.SendQueue, i.PID = info.Queued, info.PID
	}
	if l := c.Telemetry.ListedTools(); l != nil {
		i.Tools = &inspect.ToolList{Tools: l.Tools, Bytes: l.Size.Bytes, EstimatedTokens: l.Size.EstimatedTokens}
	}
	i.Operations, i.Recent = c.Telemetry.Operations(), c.Telemetry.FlightRecord()
	return i
}

// moment returns the part of an inspection that needs the core's mutex. It also returns data that is formatted later,
// because that takes longer or calls user code: the present session, the oldest calls, the error of the last attempt or
// connection, and the reason why the core gave up.
func (c *Conn) moment(also func(*inspect.Client)) (
	i inspect.Client, s *Session, oldest []flight, last, gaveUp error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	i = inspect.Client{
		Time: now, State: c.m.State, Ended: c.m.Ended, Reason: c.m.Reason, Since: c.m.Since,
		InState: now.Sub(c.m.Since), Due: c.m.Deadline,
		Epoch: c.m.Epoch, Sessions: c.m.Session, Attempt: c.m.Attempt, Waiting: len(c.waiters),
		InFlight: c.calls.Len(), Tombstones: c.calls.Tombstones(),
	}
	if s := c.session; s != nil {
		i.Server, i.ServerVersion = Excerpt(s.Server.Name, MaxShown), Excerpt(s.Server.Version, MaxShown)
		i.Version, i.Era = s.Version, s.Version.Era().String()
	}
	also(&i)
	return i, c.session, c.oldest(), c.lastErr, c.refusal
}

// oldest returns the oldest calls in flight, in order of their IDs. The caller holds mu.
func (c *Conn) oldest() []flight {
	var first []inflight.Flight[*Request]
	for f := range c.calls.All() {
		first = Among(first, f, func(a, b inflight.Flight[*Request]) int { return cmp.Compare(a.ID, b.ID) })
	}
	all := make([]flight, len(first))
	for n, f := range first {
		r := f.Value
		all[n] = flight{f, r.Method, r.Target, r.shownURI, r.Begun, r.Corr, r.Ref, r.round, r.Opened != nil}
	}
	return all
}

// Among inserts v into the sorted slice list, and returns at most [inspect.MaxListed] elements of the result, the
// lowest ones.
func Among[T any](list []T, v T, compare func(a, b T) int) []T {
	if len(list) == inspect.MaxListed && compare(v, list[inspect.MaxListed-1]) >= 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, v, compare)
	list = slices.Insert(list, at, v)
	return list[:min(len(list), inspect.MaxListed)]
}

func (f *flight) show(now time.Time) inspect.Call {
	return inspect.Call{
		ID: f.ID, Method: Excerpt(f.method, MaxShown), Target: Excerpt(f.target, MaxShown), URI: Excerpt(f.uri, MaxShown),
		Since: f.begun, Age: now.Sub(f.begun), Deadline: f.Deadline,
		CorrID: corrText(f.corr), TraceID: f.ref.TraceID(), Retries: f.Retries, Round: f.rounds, Stream: f.stream,
	}
}

func corrText(c instrument.Corr) string {
	if c == (instrument.Corr{}) {
		return ""
	}
	return c.String()
}

// Limits of texts in an inspection, in bytes.
const (
	MaxShown     = 128
	MaxErrorText = 512
)

// Excerpt returns the beginning of s, up to limit bytes. It returns a copy, because s may be part of a large frame.
func Excerpt(s string, limit int) string {
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit-len("…")], "") + "…"
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}
