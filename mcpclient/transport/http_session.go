package transport

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// initializedWait is how long other messages wait for the response to notifications/initialized.
const initializedWait = 2 * time.Second

// session is the state between one initialize and the next. Without initialize, as in the modern era, a connection
// has a single session.
// (specification 2025-11-25, basic/transports, "Session Management")
type session struct {
	stream    *streamLife // context of the GET stream, nil if there is none; guarded by httpConn.mu
	listening int32       // goroutines that read the stream; guarded by httpConn.mu
	gone      atomic.Bool // the session was dropped
	served    atomic.Bool // a request with the session's id has been answered

	id      string          // assigned by the server, "" if none; guarded by httpConn.mu
	version string          // negotiated version, "" until negotiated; guarded by httpConn.mu
	gate    <-chan struct{} // new messages wait until it is closed; nil if they need not wait; guarded by httpConn.mu
}

// streamLife is the context of a session's stream.
type streamLife struct {
	ctx context.Context
	end context.CancelFunc
}

// drop ends the session and its stream; [flight.stop] ends its exchanges. httpConn.mu is held.
func (s *session) drop() {
	s.gone.Store(true)
	if s.stream != nil {
		s.stream.end()
	}
}

// streaming returns the context of the session's stream, and counts one more goroutine that reads the stream. Exchanges
// do not share that context: a context that many others are derived from keeps a table of them as long as it lives.
// httpConn.mu is held.
func (s *session) streaming() context.Context {
	s.listening++
	if s.stream == nil {
		s.stream = new(streamLife)
		s.stream.ctx, s.stream.end = context.WithCancel(context.Background())
		if s.dropped() {
			s.stream.end()
		}
	}
	return s.stream.ctx
}

// begun reports whether the session has an id or a negotiated version. A request that is sent earlier, such as a slow
// probe, belongs to no session, so initialize does not end it. httpConn.mu is held.
func (s *session) begun() bool { return s.id != "" || s.version != "" }

// dropped reports whether the session was dropped. The stream of HTTP+SSE has a nil session, which is never dropped.
func (s *session) dropped() bool { return s != nil && s.gone.Load() }

// shut makes new messages wait until open is called, for at most initializedWait. It is called when
// notifications/initialized is sent, because a server need not answer other messages before it has received that
// notification.
func (s *session) shut() (open func()) {
	gate := make(chan struct{})
	s.gate = gate
	release := sync.OnceFunc(func() { close(gate) })
	timer := time.AfterFunc(initializedWait, release)
	return func() {
		timer.Stop()
		release()
	}
}

// waitsFor returns the channel that must be closed before messages are sent, nil if they need not wait.
// httpConn.mu is held.
func (s *session) waitsFor() <-chan struct{} {
	if s.gate != nil {
		select {
		case <-s.gate:
			s.gate = nil
		default:
		}
	}
	return s.gate
}

// sessionID reports whether id is a valid session id: visible ASCII characters, short enough for the header of any
// server.
func sessionID(id string) bool {
	for i := range len(id) {
		if id[i] < 0x21 || id[i] > 0x7e {
			return false
		}
	}
	return id != "" && len(id) <= 4<<10
}
