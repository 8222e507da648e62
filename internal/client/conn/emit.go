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

// record is something that happened to the connection, to be told outside the mutex, in order: a transition, the end
// of a session, or a change in the number of tombstones.
type record struct {
	transition connstate.Transition
	ref        instrument.Ref // of the attempt that made the connection
	err        error
	delay      time.Duration // until the next attempt, on a transition to backoff

	sessionEnd *Session
	ended      time.Time

	tombstones int // more, or fewer
}

// UntoldRecords bounds what has happened and was not told yet: the user's function for transitions may not return.
const UntoldRecords = 256

// teller tells the telemetry and the user's function for transitions what has happened to the connection, in a
// goroutine that is there as long as there is something to tell.
type teller struct {
	core    *Conn
	records []record      // guarded by core.mu; what has happened and not been told yet
	untold  uint32        // guarded by core.mu; records that had no room there
	running bool          // guarded by core.mu; the goroutine is there
	done    chan struct{} // guarded by core.mu; closed when it has told everything; nil unless a goroutine waits for that
}

// note adds to what is to be told. It is called with core.mu held. What happens while OnTransition is at work waits;
// there are a few records per attempt to connect, and one for all the tombstones in between.
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
		spawn(func() { usercode.Persist(spawn, t.run) }) // ends when there is nothing left to tell
	}
}

// omit makes room: the oldest record is not told, but for changes in the number of tombstones, which are one then. It
// is called with core.mu held.
func (t *teller) omit() {
	i := slices.IndexFunc(t.records, func(r record) bool { return r.tombstones == 0 })
	if i > 0 && i+1 < len(t.records) && t.records[i+1].tombstones != 0 {
		t.records[i-1].tombstones += t.records[i+1].tombstones
		t.records = slices.Delete(t.records, i+1, i+2)
	}
	t.records = slices.Delete(t.records, i, i+1)
	t.untold++
}

// run tells one record after the other. If code of the user's has ended the goroutine, another goes on behind it.
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

// next takes the oldest record, and how many before it had no room. It reports false if there is none.
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

// wait waits until all has been told.
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

// tell tells one record.
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

// errorType says how a session ended that err ended, empty if it ended in order.
func errorType(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.As(err, new(*transport.FrameTooLargeError)), errors.As(err, new(*jsonrpc.Violation)):
		return names.ErrorViolation
	}
	return names.ErrorConnectionLost
}
