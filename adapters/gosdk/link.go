package gosdk

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// The handshakes, and what follows them.
const (
	methodInitialize  = "initialize"
	methodDiscover    = "server/discover"
	methodInitialized = "notifications/initialized"
)

// modern is the first version of the protocol without sessions.
const modern = "2026-07-28"

// link is one connection of a client, from the attempt to make it to its end. The states are those of this module's own
// client, as far as the SDK shows them; it makes a connection once, so there is no backoff.
type link struct {
	tel     *instrument.Client
	network instrument.Network
	attempt instrument.Ref // written before the connection is made
	peer    atomic.Pointer[instrument.Peer]

	mu         sync.Mutex // guards what follows
	state      connstate.State
	entered    time.Time
	session    time.Time // when the server opened it, zero for none
	calls      int       // in flight
	lost       bool      // one was failed with the connection
	connecting bool      // by [Client.Connect], which says how it ended
	ended      bool      // meanwhile
	endErr     error
}

func newLink(tel *instrument.Client, n instrument.Network) *link {
	return &link{tel: tel, network: n, entered: time.Now()}
}

// up says that the transport is open: there is a session, and it sends.
func (l *link) up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.move(connstate.Initializing, connstate.TransportUp, nil)
}

// identify makes the peer known as soon as the version is. The SDK keeps that until it has made something of the answer
// to server/discover, and then without a lock: it is read only where the SDK reads it too.
func (l *link) identify(method string, s *mcp.ClientSession) {
	if l.peer.Load() != nil || method == methodInitialize || method == methodDiscover ||
		isNotification(method) && method != methodInitialized {
		return
	}
	if res := s.InitializeResult(); res != nil {
		l.negotiated(res.ProtocolVersion, s.ID())
	}
}

// learn takes from a result what it says about the connection.
func (l *link) learn(s *mcp.ClientSession, result mcp.Result, err error) {
	switch result := result.(type) {
	case *mcp.InitializeResult:
		if err == nil && result != nil {
			l.negotiated(result.ProtocolVersion, s.ID())
		}
	case *mcp.DiscoverResult:
		if err == nil && result != nil {
			l.discovered(result.SupportedVersions)
		}
	}
}

// discovered says that a server has answered which has these versions. If one is modern, which of them it will be is
// known with the next request.
func (l *link) discovered(offered []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(offered, func(v string) bool { return v >= modern && slices.Contains(versions, v) }) {
		l.move(connstate.Ready, connstate.Negotiated, nil)
	}
}

// negotiated says that the version is agreed on.
func (l *link) negotiated(version, sessionID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peer.Load() != nil {
		return
	}
	l.peer.Store(l.tel.Peer(instrument.Facts{Network: l.network, MCPVersion: version}, sessionID))
	if version < modern {
		l.session = time.Now()
	}
	l.move(connstate.Ready, connstate.Negotiated, nil)
}

// connected says that the connection was made, or, with an error, that it was not. The SDK does not try again.
func (l *link) connected(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connecting = false
	switch {
	case err != nil:
		l.close(connstate.Refused, err)
	case l.ended:
		l.finish(l.endErr)
	}
}

// calling and called count the calls in flight.
func (l *link) calling() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
}

func (l *link) called(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls--
	l.lost = l.lost || err != nil && isLost(err)
}

// over says that the session has ended, with an error unless one side ended it in order. The SDK does not tell which,
// and takes the end of a stream for that; but it closes no session that has calls in flight.
func (l *link) over(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.connecting {
		l.ended, l.endErr = true, err
		return
	}
	l.finish(err)
}

// finish is called with mu held.
func (l *link) finish(err error) {
	reason, errorType := connstate.Other, ""
	if err != nil || l.calls > 0 || l.lost {
		reason, errorType = connstate.TransportDown, names.ErrorConnectionLost
	}
	if !l.session.IsZero() {
		l.peer.Load().SessionEnd(time.Since(l.session), errorType)
	}
	l.close(reason, err)
}

// close ends the link, once. It is called with mu held.
func (l *link) close(reason connstate.Reason, err error) {
	if l.state == connstate.Closing {
		return
	}
	l.move(connstate.Closing, reason, err)
	l.tell(connstate.Closing, connstate.TransportClosed, nil)
	l.tel.Close()
}

// move tells of a move to another state. It is called with mu held.
func (l *link) move(to connstate.State, reason connstate.Reason, err error) {
	if l.state < to {
		l.tell(to, reason, err)
	}
}

func (l *link) tell(to connstate.State, reason connstate.Reason, err error) {
	now := time.Now()
	l.tel.Transition(instrument.Transition{
		Transition: connstate.Transition{From: l.state, To: to, Reason: reason, Attempt: 1, Epoch: 1,
			Duration: now.Sub(l.entered)},
		Attempt: l.attempt,
		Err:     err,
	})
	l.state, l.entered = to, now
}
