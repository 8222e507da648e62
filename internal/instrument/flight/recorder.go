// Package flight is the flight recorder of a client or a server: a ring of its latest events. An event has sizes, names
// and ids, but never content. Package instrument fills in each [Entry].
package flight

import (
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Recorder keeps the latest [telemetry.FlightSize] entries, in the order of their start. A request has one entry, which
// is added when the request is sent or arrives, and completed when the request ends. If the ring has overwritten the
// entry by then, the request gets another entry.
//
// Each Client has one Recorder, for one connection at a time. Each Server has one for all clients of one kind of
// network, for three reasons: modern clients over HTTP have no connection, separate recorders for ten thousand sessions
// would need 370 MiB, and a user wants to see all of the server's work.
//
// A Recorder must be started with Start.
type Recorder struct {
	base time.Time // time zero of the entries

	mu     sync.Mutex
	ring   []Brief          // guarded by mu; grows with its entries, so that an idle client has a small ring
	traces *[]trace.TraceID // guarded by mu; the trace of each entry, by index in ring; nil until an entry has a trace
	next   uint64           // guarded by mu; number of the next entry
	logged *logged          // guarded by mu; nil before the first log record about the recorder
}

// Start sets the time zero of the entries.
func (r *Recorder) Start(base time.Time) { r.base = base }

// Add adds an entry and returns its number. The first entry has the number 1.
func (r *Recorder) Add(e *Entry) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.append(e)
}

// append is Add with mu held. The ring has little spare capacity up to 16 entries, because a connected, idle client has
// five or six entries.
func (r *Recorder) append(e *Entry) uint64 {
	const few = 16
	if n := len(r.ring); n < few && n == cap(r.ring) {
		r.ring = append(make([]Brief, 0, n+2), r.ring...)
	}
	if len(r.ring) < telemetry.FlightSize {
		r.ring = append(r.ring, e.Brief)
	} else {
		r.ring[r.next%telemetry.FlightSize] = e.Brief
	}
	r.setTrace(r.next, e.Trace)
	r.next++
	return r.next
}

// setTrace stores the trace of the entry with this number. The first entry has the number 0 here. mu is held.
func (r *Recorder) setTrace(number uint64, id trace.TraceID) {
	if r.traces == nil {
		if !id.IsValid() {
			return
		}
		r.traces = new([]trace.TraceID)
	}
	if n := len(r.ring) - len(*r.traces); n > 0 {
		*r.traces = append(*r.traces, make([]trace.TraceID, n)...)
	}
	(*r.traces)[number%telemetry.FlightSize] = id
}

// Now returns the present as the time of an entry.
func (r *Recorder) Now() time.Duration { return time.Since(r.base) }

// At returns t as the time of an entry.
func (r *Recorder) At(t time.Time) time.Duration { return t.Sub(r.base) }

// Note adds an entry that has already ended. If the entry repeats the latest entry, Note replaces that one and
// increments its count. So a peer that sends the same message again and again does not push other entries out of the
// ring.
func (r *Recorder) Note(e Entry) {
	e.At, e.Ended = r.Now(), true
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.last(); last != nil && last.repeatedBy(&e.Brief) {
		e.Count = max(1, last.Count) + 1
		*last = e.Brief
		r.setTrace(r.next-1, e.Trace)
		if r.logged != nil {
			r.logged.next = min(r.logged.next, r.next-1) // log the entry again, because its count has changed
		}
		return
	}
	r.append(&e)
}

// End completes the entry of an operation by its number. If the ring has overwritten the entry, or if the operation has
// no entry yet (number 0), End adds an entry, which describe fills in, and returns its number.
func (r *Recorder) End(number uint64, end *Ending, describe func(*Entry)) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number == 0 || r.next-number >= telemetry.FlightSize {
		var e Entry
		describe(&e)
		number = r.append(&e)
	}
	r.ring[(number-1)%telemetry.FlightSize].Complete(end)
	return number
}

// last returns the latest entry, or nil. mu is held.
func (r *Recorder) last() *Brief {
	if r.next == 0 {
		return nil
	}
	return &r.ring[(r.next-1)%telemetry.FlightSize]
}

// Entries returns the entries in the form for users, in the order of their start.
func (r *Recorder) Entries() []telemetry.FlightEntry {
	some := r.snapshot()
	all := make([]telemetry.FlightEntry, len(some))
	for i := range some {
		all[i] = some[i].show(r.base)
	}
	return all
}

// snapshot returns a copy of the entries.
func (r *Recorder) snapshot() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.copyFrom(0)
}

// copyFrom returns a copy of all entries from this number on, in the order of their start. The first entry has the
// number 0. mu is held.
func (r *Recorder) copyFrom(from uint64) []Entry {
	if r.next > telemetry.FlightSize {
		from = max(from, r.next-telemetry.FlightSize)
	}
	some := make([]Entry, 0, r.next-from)
	for n := from; n < r.next; n++ {
		e := Entry{Brief: r.ring[n%telemetry.FlightSize]}
		if r.traces != nil {
			e.Trace = (*r.traces)[n%telemetry.FlightSize]
		}
		some = append(some, e)
	}
	slices.SortStableFunc(some, func(a, b Entry) int { return int(min(1, max(-1, a.At-b.At))) })
	return some
}
