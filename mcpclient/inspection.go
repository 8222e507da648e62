package mcpclient

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
)

// inspected is what an inspection is told by code that is not the client's own.
type inspected struct {
	last, gaveUp error
	session      *session
}

// flight is a call in flight as it was at the moment of the inspection, for the call itself belongs to another.
type flight struct {
	inflight.Flight[*request]
	method, target, uri string
	begun               time.Time
	corr                instrument.Corr
	ref                 instrument.Ref
	rounds              int
	stream              bool
}

// inspect is the one moment of an inspection, in which also is called.
func (c *core) inspect(also func(*inspect.Client)) (i inspect.Client, more inspected, oldest []flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	i = inspect.Client{
		Time: now, State: c.m.State, Ended: c.m.Ended, Reason: c.m.Reason, Since: c.m.Since, InState: now.Sub(c.m.Since), Due: c.m.Deadline,
		Epoch: c.m.Epoch, Sessions: c.m.Session, Attempt: c.m.Attempt, Waiting: len(c.waiters),
		InFlight: c.calls.Len(), Tombstones: c.calls.Tombstones(),
	}
	if s := c.session; s != nil {
		i.Server, i.ServerVersion = excerpt(s.server.Name, maxShown), excerpt(s.server.Version, maxShown)
		i.Version, i.Era = s.version, s.version.Era().String()
	}
	also(&i)
	return i, inspected{c.lastErr, c.refusal, c.session}, c.oldest()
}

// oldest returns the calls in flight that were made first, in this order. It is called with mu held.
func (c *core) oldest() []flight {
	var first []inflight.Flight[*request]
	for f := range c.calls.All() {
		first = among(first, f, func(a, b inflight.Flight[*request]) int { return cmp.Compare(a.ID, b.ID) })
	}
	all := make([]flight, len(first))
	for n, f := range first {
		r := f.Value
		all[n] = flight{f, r.method, r.target, r.shownURI, r.begun, r.corr, r.ref, r.round, r.opened != nil}
	}
	return all
}

// among puts v into its place among the first [inspect.Limit] there are, if it is one of them.
func among[T any](first []T, v T, compare func(a, b T) int) []T {
	if len(first) == inspect.Limit && compare(v, first[inspect.Limit-1]) >= 0 {
		return first
	}
	at, _ := slices.BinarySearchFunc(first, v, compare)
	first = slices.Insert(first, at, v)
	return first[:min(len(first), inspect.Limit)]
}

func (f *flight) show(now time.Time) inspect.Call {
	return inspect.Call{
		ID: f.ID, Method: excerpt(f.method, maxShown), Target: excerpt(f.target, maxShown), URI: excerpt(f.uri, maxShown),
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
