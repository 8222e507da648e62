package conn

import (
	"errors"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// record is an event that is reported without the mutex held, in order: a transition, the end of a session, or a change
// in the number of tombstones.
type record struct {
	transition connstate.Transition
	ref        instrument.Ref // attempt that opened the connection
	err        error
	delay      time.Duration // time until the next attempt, for a transition to backoff

	sessionEnd *Session
	ended      time.Time

	tombstones int // change in the number of tombstones
}

// UntoldRecords is the maximum number of records that wait to be reported. A maximum is necessary because the user's
// OnTransition may never return.
const UntoldRecords = 256

// teller reports records to the telemetry and to the user's OnTransition. Its goroutine exists only while there are
// records.
type teller struct {
	core    *Conn
	records []record      // records to report; guarded by core.mu
	untold  uint32        // number of dropped records that have not been reported yet; guarded by core.mu
	running bool          // the goroutine exists; guarded by core.mu
	done    chan struct{} // closed when no records are left; nil unless a goroutine waits for that; guarded by core.mu
}

// note adds a record. Records wait while OnTransition runs. Each attempt to connect adds a few records; consecutive
// changes of tombstones share one record. The caller holds core.mu.
func (t *teller) note(r record) {
	if last := len(t.records) - 1; last >= 0 && r.tombstones != 0 && t.records[last].tombstones != 0 {
		t.records[last].tombstones += r.tombstones
		return
	}
	if len(t.records) == UntoldRecords {
		t.omit()
	}
	t.records = append(t.records, r)
	if !t.running {
		t.running = true
		spawn := t.core.goroutines.Go
		spawn(func() { usercode.Persist(spawn, t.run) }) // the goroutine ends when no records are left
	}
}

// omit drops the oldest record to make room. Records of tombstones are merged instead, so that their counts stay right.
// The caller holds core.mu.
func (t *teller) omit() {
	i := slices.IndexFunc(t.records, func(r record) bool { return r.tombstones == 0 })
	if i > 0 && i+1 < len(t.records) && t.records[i+1].tombstones != 0 {
		t.records[i-1].tombstones += t.records[i+1].tombstones
		t.records = slices.Delete(t.records, i+1, i+2)
	}
	t.records = slices.Delete(t.records, i, i+1)
	t.untold++
}

// run reports the records in order. If user code ends the goroutine, another goroutine continues with the next record.
func (t *teller) run() {
	for {
		r, untold, ok := t.next()
		if !ok {
			return
		}
		if untold > 0 {
			t.core.Telemetry.Untold(int(untold))
		}
		t.core.tell(&r)
	}
}

// next removes the oldest record, and returns it with the number of records that were dropped before it. It returns
// false if there is no record.
func (t *teller) next() (r record, untold uint32, ok bool) {
	t.core.mu.Lock()
	defer t.core.mu.Unlock()
	if len(t.records) == 0 {
		t.running = false
		if t.done != nil {
			close(t.done)
			t.done = nil
		}
		return record{}, 0, false
	}
	r, untold = t.records[0], t.untold
	t.records[0], t.untold = record{}, 0
	if t.records = t.records[1:]; len(t.records) == 0 {
		t.records = nil
	}
	return r, untold, true
}

// wait waits until all records have been reported.
func (t *teller) wait() {
	t.core.mu.Lock()
	defer t.core.mu.Unlock()
	for t.running {
		done := make(chan struct{})
		t.done = done
		t.core.mu.Unlock()
		<-done
		t.core.mu.Lock()
	}
}

// tell reports one record.
func (c *Conn) tell(r *record) {
	if s := r.sessionEnd; s != nil {
		if s.Era.Serves() { // modern versions have no sessions
			s.Peer.SessionEnd(r.ended.Sub(s.since), errorType(r.err))
		}
		return
	}
	if r.tombstones != 0 {
		c.Telemetry.Tombstones(r.tombstones)
		return
	}
	c.Telemetry.Transition(instrument.Transition{Transition: r.transition, Attempt: r.ref, Err: r.err})
	if r.transition.To == connstate.Backoff {
		c.Telemetry.Backoff(r.delay, r.transition.Attempt)
	}
	if c.Settings.OnTransition != nil {
		usercode.Run(func() { c.Settings.OnTransition(r.transition) }, c.Failed(c.Base, "OnTransition"))
	}
}

// errorType returns the attribute error.type of a session that ended with err. It is empty if the session ended
// normally.
func errorType(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.As(err, new(*transport.FrameTooLargeError)), errors.As(err, new(*jsonrpc.Violation)):
		return names.ErrorViolation
	}
	return names.ErrorConnectionLost
}
