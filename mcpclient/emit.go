package mcpclient

import (
	"errors"
	"runtime/debug"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// record is something that happened to the connection, to be told outside the mutex, in order: a transition, the end
// of a session, or a change in the number of tombstones.
type record struct {
	transition connstate.Transition
	ref        telemetry.Ref // of the attempt that made the connection
	err        error
	delay      time.Duration // until the next attempt, on a transition to backoff

	sessionEnd *session
	ended      time.Time

	tombstones int // more, or fewer
}

// note adds to what is to be told and sees to it that somebody tells. It is called with mu held. What happens while a slow
// log handler is being told waits in memory; there are a few records per attempt to connect, and one for all the tombstones in between.
func (c *Client) note(r record) {
	if last := len(c.records) - 1; last >= 0 && r.tombstones != 0 && c.records[last].tombstones != 0 {
		c.records[last].tombstones += r.tombstones
		return
	}
	c.records = append(c.records, r)
	if !c.telling {
		c.telling = true
		c.goroutines.Go(c.tell) // ends when there is nothing left to tell
	}
}

func (c *Client) tell() {
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
		records := c.records
		c.records = nil
		c.mu.Unlock()
		for i := range records {
			c.tellOne(&records[i])
		}
	}
}

func (c *Client) tellOne(r *record) {
	if s := r.sessionEnd; s != nil {
		if s.era.serves() { // modern versions have no sessions
			s.peer.SessionEnd(r.ended.Sub(s.since), errorType(r.err))
		}
		return
	}
	if r.tombstones != 0 {
		c.tel.Tombstones(r.tombstones)
		return
	}
	c.tel.Transition(telemetry.Transition{Transition: r.transition, Attempt: r.ref, Err: r.err})
	if r.transition.To == connstate.Backoff {
		c.tel.Backoff(r.delay, r.transition.Attempt)
	}
	if c.cfg.OnTransition != nil {
		c.onTransition(r.transition)
	}
}

// onTransition calls the user's function, whose panic is logged and counted like that of a handler.
func (c *Client) onTransition(t connstate.Transition) {
	defer func() {
		if v := recover(); v != nil {
			c.tel.HandlerPanic(c.base, "OnTransition", v, debug.Stack())
		}
	}()
	c.cfg.OnTransition(t)
}

// errorType says how a session ended that err ended, empty if it ended in order.
func errorType(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.As(err, new(*transport.FrameTooLargeError)), errors.As(err, new(*jsonrpc.Violation)):
		return telemetry.ErrorViolation
	}
	return telemetry.ErrorConnectionLost
}
