package web

import (
	"container/list"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// Why a session ends.
var (
	ErrShutdown = errors.New("the server is shutting down")
	ErrTimeout  = errors.New("the session has expired")
	ErrEvicted  = errors.New("the session was not used, and another needed its place")
)

// session is the session of a legacy client over HTTP. It lives between the requests that belong to it.
type session struct {
	conn   Conn
	id     string
	holder any                // of its events in a store in memory: its account, nil for none
	stop   func(reason error) // ends the contexts of handlers; a nil reason is that of the client
	cfg    *Options
	// of what belongs to no request; nil in HTTP+SSE, and where a store has its events for all processes
	general  *stream
	channel  *response // of all that is sent in HTTP+SSE; nil in any other session
	shared   *shared   // nil if it is known in this process only
	idle     *time.Timer
	newcomer *list.Element // guarded by sessions.mu; nil for one to which the client has come back
	weight   int           // guarded by sessions.mu; bytes of memory that the introduction takes

	mu    sync.Mutex
	held  int32 // guarded by mu; HTTP requests that belong to it
	met   bool  // guarded by mu; the client has come back since it was opened
	ended bool  // guarded by mu
	last  int64 // guarded by mu; number of the latest stream
	// guarded by mu; to which more is to be written; under negative numbers if they have none yet
	streams map[int64]*stream
}

// fewest is how many requests of a session may be handled or wait, however few a handler answers at once: those that
// wait for answers of their client take no place.
const fewest = 4

// newSession returns a session that is not open yet, held, nil if there are too many. All that is sent goes to channel,
// or to streams of its own if that is nil.
func (h *Handler) newSession(r *http.Request, channel *response) *session {
	id := rand.Text() // 128 bits and more, in letters and digits
	c := h.client(r, h.account(r))
	evicted, ok := h.sessions.reserve(id, c.Account)
	h.evict(evicted)
	if !ok {
		return nil
	}
	s := h.makeSession(id, c, time.Time{}, channel)
	if h.fleet != nil {
		process := ""
		if channel != nil {
			process = h.fleet.self
		}
		h.fleet.share(s, h.fleet.newRecord(c.Principal, process))
	}
	return s
}

// makeSession makes a session of c, held, whose account has its place.
func (h *Handler) makeSession(id string, c Client, since time.Time, channel *response) *session {
	s := &session{id: id, cfg: &h.cfg, channel: channel, streams: map[int64]*stream{}, held: 1}
	if c.Account != (quota.Account{}) {
		s.holder = c.Account
	}
	var out rpc.Sink = sseSink{channel}
	switch {
	case channel != nil:
	case h.fleet != nil && h.fleet.events != nil:
		out = board{s: s}
	default:
		s.general = &stream{s: s, events: h.cfg.Events, begun: true}
		out = s.general
	}
	s.conn, s.stop = h.server.Open(h.life, &Opening{
		Client: c, ID: id, Out: out, Requests: max(fewest, h.cfg.MaxRequests/2), Since: since,
		Introduce: func(bytes int) bool {
			evicted, ok := h.sessions.introduce(s, bytes)
			h.evict(evicted)
			return ok
		},
		Quit: func(reason error) { h.quit(s, reason) },
	})
	s.idle = time.AfterFunc(time.Hour, func() { // by its id: the runtime may keep a timer long after it was stopped
		if s := h.sessions.known(id); s != nil && s.expired() {
			h.expire(s)
		}
	})
	s.idle.Stop() // until it rests
	s.conn.Watch()
	return s
}

// expire ends a session in which nothing happens. One that others know too lives on if they have used it.
func (h *Handler) expire(s *session) {
	if s.shared != nil {
		deleted, _ := s.shared.delete(h.life, s.patience())
		if !deleted && !s.expired() { // it has been used meanwhile, here
			return
		}
	}
	s.conn.Because(ErrTimeout)
	h.end(s)
}

// quit ends a session as its client would, for a reason of the server's. A store is told in a goroutine of its own.
func (h *Handler) quit(s *session, reason error) {
	s.conn.Because(reason)
	if s.shared == nil {
		h.end(s)
		return
	}
	h.gate.detain()
	go func() { // ends with the store, which has an end
		defer h.gate.release()
		_, _ = s.shared.delete(h.life, 0)
		h.end(s)
	}()
}

// evict ends sessions that have been taken off the table because their places are needed. One that others know too
// lives on if they have used it.
func (h *Handler) evict(evicted []*session) {
	for _, s := range evicted {
		if s.shared != nil {
			const blur = 10 * time.Millisecond // the clock of the store is another
			_, _ = s.shared.delete(h.life, max(time.Since(*s.shared.used.Load())-blur, 1))
		}
		s.conn.Because(ErrEvicted)
		h.end(s)
	}
}

// end closes a session, once. It does not wait for handlers, whose contexts end.
func (h *Handler) end(s *session) {
	h.sessions.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.idle.Stop()
	h.gate.detain()
	go func() { // ends soon: what it waits for has an end
		defer h.gate.release()
		h.stray.Add(int64(s.shut()))
	}()
}

// shut ends all that belongs to the session and returns how many handlers ignore the end of their contexts.
func (s *session) shut() (left int) {
	s.conn.Exchange().Asks.Close()
	s.conn.Leave(s.conn.Why())
	s.stop(s.conn.Why())
	if s.general != nil {
		s.general.close()
	}
	if s.shared != nil {
		s.shared.close()
	}
	left = s.conn.Close()
	s.closeStreams()
	if s.channel != nil {
		s.channel.close()
	}
	if s.channel != nil && s.shared != nil {
		_, _ = s.shared.delete(context.Background(), 0) // or it expires
	}
	if s.cfg.Events != nil && (s.shared == nil || s.shared.deleted.Load()) {
		s.cfg.Events.Forget(s.id)
	}
	return left
}

// agree makes a session known whose client and server have agreed on a revision, false if no more are let in. The error
// is that of the store.
func (h *Handler) agree(ctx context.Context, s *session) (ok bool, err error) {
	x := s.conn.Exchange()
	x.Peer.EnterSession(x.Server.Version(), s.id)
	if s.shared != nil {
		if err := s.shared.create(ctx); err != nil {
			return false, err
		}
	}
	return h.sessions.open(s), nil
}

// newStream returns the stream for the response to a POST.
func (s *session) newStream(reader *response) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	t := &stream{s: s, number: s.last, events: s.cfg.Events, reader: reader}
	if s.shared != nil {
		t.number = -s.last
	}
	s.streams[t.number] = t
	return t
}

// enter notes the number that a stream has got.
func (s *session) enter(t *stream, number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, t.number)
	t.number = number
	s.streams[number] = t
}

// stream returns the stream of that number, nil if there was none, or if others may have it too and nothing more is to
// be written to it here.
func (s *session) stream(number int64) *stream {
	if number == 0 {
		return s.general
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch t := s.streams[number]; {
	case t != nil:
		return t
	case number <= s.last && s.shared == nil:
		return &stream{s: s, number: number, events: s.cfg.Events, begun: true, over: true}
	}
	return nil
}

// forget says that nothing more is to be written to a stream.
func (s *session) forget(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, t.number)
}

// closeStreams closes the streams that are left.
func (s *session) closeStreams() {
	s.mu.Lock()
	left := slices.Collect(maps.Values(s.streams))
	s.mu.Unlock()
	for _, t := range left {
		t.close()
	}
}

// hold keeps the session from expiring, and reports false if it has ended.
func (s *session) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.held++
	s.met = true
	s.conn.Heard()
	s.idle.Stop()
	return true
}

// release lets the session expire, some time after the last one has released it.
func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held--; s.held == 0 {
		s.rest()
	}
}

// await lets the session expire unless the client comes back, though it is held.
func (s *session) await() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.met {
		s.rest()
	}
}

// rest lets the session expire when its time is over. mu is held.
func (s *session) rest() {
	if d := s.lasts(); d > 0 && !s.ended {
		s.idle.Reset(d)
	}
}

// lasts returns how long the session lasts in which nothing happens; zero or less for ever. mu is held.
func (s *session) lasts() time.Duration {
	if !s.met {
		return s.cfg.ConfirmTimeout
	}
	return s.cfg.SessionTimeout
}

// patience is lasts.
func (s *session) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lasts()
}

// isHeld reports whether something happens in the session, in the way of expired.
func (s *session) isHeld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && (s.held > 0 || s.conn.Busy())
}

// expired reports whether nothing happens in the session. If there is something after all, it is asked again later.
// That a handler waits for an answer of a client which is not there is nothing.
func (s *session) expired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.held > 0 && s.met:
		return false
	case s.conn.Busy():
		s.rest()
		return false
	}
	return true
}
