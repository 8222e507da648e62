package transport

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// initializedWait is how long other messages wait for the answer to notifications/initialized.
const initializedWait = 2 * time.Second

// session is what belongs together from one initialize to the next. Without initialize, as in the modern era, there is
// one for the whole connection.
// (specification 2025-11-25, basic/transports, "Session Management")
type session struct {
	stream    *streamLife // nil unless it has a stream; guarded by httpConn.mu
	listening int32       // goroutines that read it, more if initialized was sent again; guarded by httpConn.mu
	gone      atomic.Bool // see dropped
	served    atomic.Bool // a request with the session's id has been answered

	id      string          // given by the server, "" for none; guarded by httpConn.mu
	version string          // negotiated, "" as long as that is not known; guarded by httpConn.mu
	gate    <-chan struct{} // what is sent waits until it is closed, unless nil; guarded by httpConn.mu
}

// streamLife is what the stream of a session lives in.
type streamLife struct {
	ctx context.Context
	end context.CancelFunc
}

// drop ends what belongs to the session but for its exchanges, which [flight.stop] ends. httpConn.mu is held.
func (s *session) drop() {
	s.gone.Store(true)
	if s.stream != nil {
		s.stream.end()
	}
}

// streaming returns the context of the session's stream, for one more goroutine that reads it. Exchanges have contexts
// of their own: what many have come of keeps a table of them for as long as it is there. httpConn.mu is held.
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

// begun reports whether anything was agreed on in the session: what is on its way in one in which nothing was, such as
// a probe that the server is slow to answer, outlives initialize. httpConn.mu is held.
func (s *session) begun() bool { return s.id != "" || s.version != "" }

// dropped reports whether there is a newer session, or none any more. What belongs to no session, nil, stays.
func (s *session) dropped() bool { return s != nil && s.gone.Load() }

// shut makes what is sent from now on wait until open is called, for a while at most. It is called when
// notifications/initialized is on its way, before which a server need not answer anything else.
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

// waitsFor returns what messages have to wait for before they are sent, nil for nothing. httpConn.mu is held.
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

// sessionID reports whether id is one: visible ASCII characters, of a length every server takes in a header.
func sessionID(id string) bool {
	for i := range len(id) {
		if id[i] < 0x21 || id[i] > 0x7e {
			return false
		}
	}
	return id != "" && len(id) <= 4<<10
}
