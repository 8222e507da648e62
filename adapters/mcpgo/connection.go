package mcpgo

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// modern is the first version of the protocol without sessions.
const modern = "2026-07-28"

// connection is the connection of a transport, from its start to its end. The connection has the states of this
// module's own client, as far as mcp-go shows them. mcp-go connects only once, so there is no backoff.
type connection struct {
	tel *instrument.Client

	mu      sync.Mutex // guards the fields below
	attempt instrument.Ref
	asked   bool // Start was called
	state   connstate.State
	entered time.Time
	since   time.Time        // when the server opened the session; zero for none
	session *instrument.Peer // peer of that session
	err     error            // error that ended the connection
	over    bool
}

func (c *connection) begin() { c.entered = time.Now() }

// starts reports whether this is the first call. mcp-go ignores further starts.
func (c *connection) starts() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.asked
	c.asked = true
	return first
}

func (c *connection) attempted(r instrument.Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempt = r
}

func (c *connection) started(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.move(connstate.Initializing, connstate.ReasonTransportUp, nil)
		return
	}
	c.move(connstate.Closing, connstate.ReasonRefused, err)
	c.finish()
}

// ready records the end of the handshake. A legacy server has then opened a session.
func (c *connection) ready(p *instrument.Peer, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version != "" && version < modern && c.since.IsZero() {
		c.session, c.since = p, time.Now()
	}
	c.move(connstate.Ready, connstate.ReasonNegotiated, nil)
}

// lose records that the connection is lost.
func (c *connection) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == connstate.Ready {
		c.err = err
		c.move(connstate.Closing, connstate.ReasonTransportDown, err)
	}
}

// stop records that the user closes the client.
func (c *connection) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move(connstate.Closing, connstate.ReasonStopRequested, nil)
}

func (c *connection) closed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish()
}

// finish ends the connection, once. The caller holds mu.
func (c *connection) finish() {
	if c.over {
		return
	}
	c.over = true
	if !c.since.IsZero() {
		errorType := ""
		if c.err != nil {
			errorType = names.ErrorConnectionLost
		}
		c.session.SessionEnd(time.Since(c.since), errorType)
	}
	c.tell(connstate.Closing, connstate.ReasonTransportClosed, nil)
	c.tel.Close()
}

// move reports a transition to another state. The caller holds mu.
func (c *connection) move(to connstate.State, reason connstate.Reason, err error) {
	if c.state < to {
		c.tell(to, reason, err)
	}
}

func (c *connection) tell(to connstate.State, reason connstate.Reason, err error) {
	now := time.Now()
	c.tel.Transition(instrument.Transition{
		Transition: connstate.Transition{From: c.state, To: to, Reason: reason, Attempt: 1, Epoch: 1,
			Duration: now.Sub(c.entered)},
		Attempt: c.attempt,
		Err:     err,
	})
	c.state, c.entered = to, now
}
