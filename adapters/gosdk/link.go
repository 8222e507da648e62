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

// The methods of the handshakes, and the notification that follows.
const (
	methodInitialize  = "initialize"
	methodDiscover    = "server/discover"
	methodInitialized = "notifications/initialized"
)

// modern is the first version of the protocol without sessions.
const modern = "2026-07-28"

// link is one connection of a client, from the attempt to connect to its end. The link has the states of this module's
// own client, as far as the SDK shows them. The SDK connects only once, so there is no backoff.
type link struct {
	tel     *instrument.Client
	network instrument.Network
	attempt instrument.Ref // set before the connection is made
	peer    atomic.Pointer[instrument.Peer]

	mu         sync.Mutex // guards the fields below
	state      connstate.State
	entered    time.Time
	session    time.Time // when the server opened the session; zero for none
	calls      int       // calls in flight
	lost       bool      // a call has failed with the connection
	connecting bool      // [Client.Connect] is running, and will report the outcome
	ended      bool      // the session ended during Connect
	endErr     error
}

func newLink(tel *instrument.Client, n instrument.Network) *link {
	return &link{tel: tel, network: n, entered: time.Now()}
}

// up records that the transport is open: a session exists and sends.
func (l *link) up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.move(connstate.Initializing, connstate.ReasonTransportUp, nil)
}

// identify sets the peer as soon as its version is known. The SDK stores the version after it has processed the answer
// to server/discover, without a lock. So identify reads the version only where the SDK itself reads it.
func (l *link) identify(method string, s *mcp.ClientSession) {
	if l.peer.Load() != nil || method == methodInitialize || method == methodDiscover ||
		isNotification(method) && method != methodInitialized {
		return
	}
	if res := s.InitializeResult(); res != nil {
		l.negotiated(res.ProtocolVersion, s.ID())
	}
}

// learn updates the connection from the result of a handshake.
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

// discovered records that a server has answered with these versions. If one of them is modern, the next request shows
// which version is used.
func (l *link) discovered(offered []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(offered, func(v string) bool { return v >= modern && slices.Contains(versions, v) }) {
		l.move(connstate.Ready, connstate.ReasonNegotiated, nil)
	}
}

// negotiated records the version that was agreed on.
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
	l.move(connstate.Ready, connstate.ReasonNegotiated, nil)
}

// connected records that the connection was made, or that it failed with err. The SDK does not retry.
func (l *link) connected(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connecting = false
	switch {
	case err != nil:
		l.close(connstate.ReasonRefused, err)
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

// over records the end of the session. err is nil if one side closed the session in order. The SDK does not report
// which side did so. It also reports the end of a stream without an error; but it closes no session with calls in
// flight, so finish takes an end with such calls for a lost connection.
func (l *link) over(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.connecting {
		l.ended, l.endErr = true, err
		return
	}
	l.finish(err)
}

// finish ends the link. The caller holds mu.
func (l *link) finish(err error) {
	reason, errorType := connstate.ReasonOther, ""
	if err != nil || l.calls > 0 || l.lost {
		reason, errorType = connstate.ReasonTransportDown, names.ErrorConnectionLost
	}
	if !l.session.IsZero() {
		l.peer.Load().SessionEnd(time.Since(l.session), errorType)
	}
	l.close(reason, err)
}

// close ends the link, once. The caller holds mu.
func (l *link) close(reason connstate.Reason, err error) {
	if l.state == connstate.Closing {
		return
	}
	l.move(connstate.Closing, reason, err)
	l.tell(connstate.Closing, connstate.ReasonTransportClosed, nil)
	l.tel.Close()
}

// move reports a transition to another state. The caller holds mu.
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
