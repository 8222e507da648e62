package instrument

import (
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// flight is the flight recorder of a side: the latest things that happened, in the order in which they began, as sizes,
// names and ids, never content. A request has one entry, made when it is sent or arrives and completed when it ends; if
// that entry had to make room meanwhile, it gets another.
//
// It is one for each Client, which is one connection at a time. It is one for each Server, and so for each kind of
// network of a server, however many clients come: modern clients over HTTP have no connection, ten thousand sessions
// would have 370 MiB of recorders, and a user who looks wants to know what the server did, for whichever client.
//
// The zero flight is ready once its base is set.
type flight struct {
	base time.Time // what the times of entries are relative to

	mu     sync.Mutex
	ring   []brief          // guarded by mu; grows with what happens, an idle client's stays small
	traces *[]trace.TraceID // guarded by mu; those of ring, in its places; nil as long as none has one
	next   uint64           // guarded by mu; number of the next entry
	logged *flightLogged    // guarded by mu; nil as long as the recorder was not in the log
}

// entry is an entry with its trace, which few have: most operations are in none that is sampled or recorded.
type entry struct {
	brief
	trace trace.TraceID
}

// brief is an entry as the ring keeps it: of one size, with no pointer to what a peer sent. The names are as metrics
// have them.
type brief struct {
	at, elapsed    time.Duration // since base; of what has ended
	about          subject
	word           label // why: error type, reason, status; of a closed or limited set
	id             int64
	name           [16]byte // the corr id or, if peerIDLen is not 0, the beginning of an id that the peer gave
	out, in        int64    // sizes in bytes; for what has no sizes, two numbers
	count          uint32   // how often it happened in a row; zero means once
	retries, round uint16
	kind           flightKind
	direction      telemetry.Direction
	from, to       uint8 // states
	peerIDLen      uint8
	ended, failed  bool
}

// flightKind is the kind of an entry. The kinds are in the order of flightKinds.
type flightKind uint8

const (
	flownRequest flightKind = iota
	flownHandler
	flownNotification
	flownAttempt
	flownTransition
	flownBackoff
	flownViolation
	flownDrop
	flownLost
	flownPanic
	flownExit
	flownStream
	flownSession
	flownTask
	flownFailure
)

// add adds an entry and returns its number, from 1.
func (f *flight) add(e *entry) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.append(e)
}

// append is add with mu held. A client that has connected and waits has five or six entries: as long as there are few,
// the ring has room for little more.
func (f *flight) append(e *entry) uint64 {
	const few = 16
	if n := len(f.ring); n < few && n == cap(f.ring) {
		f.ring = append(make([]brief, 0, n+2), f.ring...)
	}
	if len(f.ring) < telemetry.FlightSize {
		f.ring = append(f.ring, e.brief)
	} else {
		f.ring[f.next%telemetry.FlightSize] = e.brief
	}
	f.setTrace(f.next, e.trace)
	f.next++
	return f.next
}

// setTrace keeps the trace of an entry, by its number from 0. mu is held.
func (f *flight) setTrace(number uint64, id trace.TraceID) {
	if f.traces == nil {
		if !id.IsValid() {
			return
		}
		f.traces = new([]trace.TraceID)
	}
	if n := len(f.ring) - len(*f.traces); n > 0 {
		*f.traces = append(*f.traces, make([]trace.TraceID, n)...)
	}
	(*f.traces)[number%telemetry.FlightSize] = id
}

// now is the time of an entry that begins now.
func (f *flight) now() time.Duration { return time.Since(f.base) }

// note adds an entry about a moment. One that says what the latest says already is counted with that, so that a peer
// which does the same thing all the time leaves the rest in place.
func (f *flight) note(e entry) {
	e.at, e.ended = f.now(), true
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := f.last(); last != nil && last.says(&e.brief) {
		e.count = max(1, last.count) + 1
		*last = e.brief
		f.setTrace(f.next-1, e.trace)
		if f.logged != nil {
			f.logged.next = min(f.logged.next, f.next-1) // it is news
		}
		return
	}
	f.append(&e)
}

// last is the latest entry, nil if there is none. mu is held.
func (f *flight) last() *brief {
	if f.next == 0 {
		return nil
	}
	return &f.ring[(f.next-1)%telemetry.FlightSize]
}

// says reports whether two entries about a moment say the same, but for time and sizes.
func (e *brief) says(o *brief) bool {
	return e.kind == o.kind && e.kind.repeats() && e.about == o.about && e.word == o.word && e.direction == o.direction
}

// repeats reports whether a peer can make entries of this kind as often as it likes.
func (k flightKind) repeats() bool {
	return k == flownNotification || k == flownViolation || k == flownDrop || k == flownLost || k == flownPanic
}

// land completes the entry of an operation that has ended, or adds it anew if it had to make room.
func (op *Op) land(o outcome, r *Result, elapsed time.Duration) {
	if !op.recorded {
		return
	}
	f := &op.side.flight
	if op.notification {
		var e entry
		op.describe(&e)
		op.complete(&e.brief, o, r, elapsed)
		f.note(e)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if op.entry == 0 || f.next-op.entry >= telemetry.FlightSize {
		var e entry
		op.describe(&e)
		op.entry = f.append(&e)
	}
	op.complete(&f.ring[(op.entry-1)%telemetry.FlightSize], o, r, elapsed)
}

// complete says in an entry how an operation ended.
func (op *Op) complete(e *brief, o outcome, r *Result, elapsed time.Duration) {
	e.ended, e.failed, e.elapsed = true, o.failed, elapsed
	e.out, e.in, e.retries, e.round = int64(op.bytesOut), int64(op.bytesIn), uint16(op.retries), uint16(op.round)
	switch {
	case o.failed:
		e.word = labelOf(o.errorType())
	case o.hasCode:
		e.word = labelOf(o.statusCode())
	case r.ResultType == resultInputRequired || r.ResultType == resultTask:
		e.word = labelOf(words.OneOf(flownResults, r.ResultType))
	}
}

// flownResults are the results of a request that are not the end of a call.
var flownResults = []string{resultInputRequired, resultTask}

// takeOff makes the entry of an operation that is recorded.
func (op *Op) takeOff() {
	if !op.recorded || op.notification { // of which there may be many: see land
		return
	}
	var e entry
	op.describe(&e)
	op.entry = op.side.flight.add(&e)
}

// describe says in an entry what an operation is about.
func (op *Op) describe(e *entry) {
	switch {
	case !op.start.IsZero():
		e.at = op.start.Add(op.sent).Sub(op.side.flight.base)
	case op.sending:
		e.at = op.sent
	default:
		e.at = op.side.flight.now()
	}
	e.about, e.direction = op.info.about, op.direction
	switch {
	case op.notification:
		e.kind = flownNotification
	case op.direction == telemetry.Received:
		e.kind = flownHandler
	}
	if op.span != nil {
		e.trace = op.span.SpanContext().TraceID()
	} else {
		e.trace = trace.SpanContextFromContext(op.ctx).TraceID()
	}
	if op.direction == telemetry.Received {
		if op.hasID {
			var text [20]byte
			e.peerIDLen = uint8(copy(e.name[:], strconv.AppendInt(text[:0], op.id, 10)))
		} else {
			e.peerIDLen = uint8(copy(e.name[:], op.peerID))
		}
		return
	}
	e.id = op.id
	if op.side.keys.corrID != "" && !op.notification {
		e.name = op.Corr().id
	}
}
