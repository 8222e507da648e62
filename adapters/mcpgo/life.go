package mcpgo

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// modern is the first version of the protocol without sessions.
const modern = "2026-07-28"

// life is the connection of a transport from its start to its end. The states are those of this module's own client, as
// far as mcp-go shows them; it makes a connection once, so there is no backoff.
type life struct {
	tel *instrument.Client

	mu      sync.Mutex // guards what follows
	attempt instrument.Ref
	asked   bool // to start
	state   connstate.State
	entered time.Time
	since   time.Time        // when the server opened the session, zero for none
	session *instrument.Peer // of that
	err     error            // the connection was lost
	over    bool
}

func (l *life) begin() { l.entered = time.Now() }

// starts reports whether this is the first start: mcp-go takes others for done.
func (l *life) starts() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.asked
	l.asked = true
	return first
}

func (l *life) attempted(r instrument.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempt = r
}

func (l *life) started(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.move(connstate.Initializing, connstate.TransportUp, nil)
		return
	}
	l.move(connstate.Closing, connstate.Refused, err)
	l.finish()
}

// ready says that the handshake is done. A legacy server has opened a session.
func (l *life) ready(p *instrument.Peer, version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version != "" && version < modern && l.since.IsZero() {
		l.session, l.since = p, time.Now()
	}
	l.move(connstate.Ready, connstate.Negotiated, nil)
}

// lose says that the connection is gone.
func (l *life) lose(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == connstate.Ready {
		l.err = err
		l.move(connstate.Closing, connstate.TransportDown, err)
	}
}

// stop says that the user closes the client.
func (l *life) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.move(connstate.Closing, connstate.StopRequested, nil)
}

func (l *life) closed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish()
}

// finish ends the life, once. It is called with mu held.
func (l *life) finish() {
	if l.over {
		return
	}
	l.over = true
	if !l.since.IsZero() {
		errorType := ""
		if l.err != nil {
			errorType = names.ErrorConnectionLost
		}
		l.session.SessionEnd(time.Since(l.since), errorType)
	}
	l.tell(connstate.Closing, connstate.TransportClosed, nil)
	l.tel.Close()
}

// move tells of a move to another state. It is called with mu held.
func (l *life) move(to connstate.State, reason connstate.Reason, err error) {
	if l.state < to {
		l.tell(to, reason, err)
	}
}

func (l *life) tell(to connstate.State, reason connstate.Reason, err error) {
	now := time.Now()
	l.tel.Transition(instrument.Transition{
		Transition: connstate.Transition{From: l.state, To: to, Reason: reason, Attempt: 1, Epoch: 1, Duration: now.Sub(l.entered)},
		Attempt:    l.attempt,
		Err:        err,
	})
	l.state, l.entered = to, now
}
