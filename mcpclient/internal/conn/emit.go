package conn

import (
	"errors"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
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

// note adds to what is to be told and sees to it that it is told. It is called with mu held. What happens while
// OnTransition is at work waits; there are a few records per attempt to connect, and one for all the tombstones in
// between.
func (c *Conn) note(r record) {
	if last := len(c.records) - 1; last >= 0 && r.tombstones != 0 && c.records[last].tombstones != 0 {
		c.records[last].tombstones += r.tombstones
		return
	}
	if len(c.records) == UntoldRecords {
		c.omit()
	}
	c.records = append(c.records, r)
	if !c.telling {
		c.telling = true
		c.goroutines.Go(func() { usercode.Persist(c.goroutines.Go, c.tell) }) // ends when there is nothing left to tell
	}
}

// omit makes room: the oldest record is not told, but for changes in the number of tombstones, which are one then. It
// is called with mu held.
func (c *Conn) omit() {
	i := slices.IndexFunc(c.records, func(r record) bool { return r.tombstones == 0 })
	if i > 0 && i+1 < len(c.records) && c.records[i+1].tombstones != 0 {
		c.records[i-1].tombstones += c.records[i+1].tombstones
		c.records = slices.Delete(c.records, i+1, i+2)
	}
	c.records = slices.Delete(c.records, i, i+1)
	c.untold++
}

// tell tells one record after the other. If code of the user's has ended the goroutine, another goes on behind it.
func (c *Conn) tell() {
	for {
		c.mu.Lock()
		if len(c.records) == 0 {
			c.telling = false
			if c.told != nil {
				close(c.told)
				c.told = nil
			}
			c.mu.Unlock()
			return
		}
		r, untold := c.records[0], c.untold
		c.records[0], c.untold = record{}, 0
		if c.records = c.records[1:]; len(c.records) == 0 {
			c.records = nil
		}
		c.mu.Unlock()
		if untold > 0 {
			c.Telemetry.Untold(untold)
		}
		c.tellOne(&r)
	}
}

func (c *Conn) tellOne(r *record) {
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
		c.onTransition(r.transition)
	}
}

// onTransition calls the user's function, whose failure is logged and counted like that of a handler.
func (c *Conn) onTransition(t connstate.Transition) {
	usercode.Run(func() { c.Settings.OnTransition(t) }, c.Failed(c.Base, "OnTransition"))
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
