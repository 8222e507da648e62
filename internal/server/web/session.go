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

// Reasons for the end of a session.
var (
	ErrShutdown = errors.New("the server is shutting down")
	ErrTimeout  = errors.New("the session has expired")
	ErrEvicted  = errors.New("the session was idle, and was closed to make room for another session")
)

// session is the session of a legacy client over HTTP. It outlives each of its requests.
type session struct {
	conn   Conn
	id     string
	holder any                // owner of the session's events in a memory store: the account; nil for none
	stop   func(reason error) // ends the contexts of handlers; the reason is nil if the client has ended the session
	cfg    *Options
	// general is the stream for messages that belong to no request. general is nil in HTTP+SSE, and in sessions whose
	// events are in a store that several processes share.
	general  *stream
	channel  *response // carries all messages to the client in HTTP+SSE; nil in other sessions
	shared   *shared   // nil if only this process knows the session
	idle     *time.Timer
	newcomer *list.Element // guarded by sessions.mu; nil once the client has sent a second request
	weight   int           // guarded by sessions.mu; memory for the introduction, in bytes

	mu    sync.Mutex
	held  int32 // guarded by mu; number of uses in progress, mostly HTTP requests
	met   bool  // guarded by mu; the client has sent a request after the one that opened the session
	ended bool  // guarded by mu
	last  int64 // guarded by mu; number of the newest stream
	// streams holds the streams that are still written to, by number. In a shared session, the number of a stream is
	// negative until the store assigns one. The map is guarded by mu.
	streams map[int64]*stream
}

// fewest is the lowest limit for the running and waiting requests of a session together. It applies even if the limit
// for running handlers is lower, because a handler that waits for the client's answer occupies no place.
const fewest = 4

// newSession returns a session that is held and not open yet, or nil if the limit of sessions is reached. The session
// writes all messages to channel, or to its own streams if channel is nil.
func (h *Handler) newSession(r *http.Request, channel *response) *session {
	id := rand.Text() // at least 128 bits, as letters and digits
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

// makeSession creates a held session for c. The caller has reserved a place for the account.
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
	s.idle = time.AfterFunc(time.Hour, func() { // does not refer to s: the runtime may keep a stopped timer
		if s := h.sessions.known(id); s != nil && s.expired() {
			h.expire(s)
		}
	})
	s.idle.Stop() // rest starts the timer
	s.conn.Watch()
	return s
}

// expire ends an idle session. A shared session continues if another process has used it.
func (h *Handler) expire(s *session) {
	if s.shared != nil {
		deleted, _ := s.shared.delete(h.life, s.patience())
		if !deleted && !s.expired() { // this process has used it in the meantime
			return
		}
	}
	s.conn.Because(ErrTimeout)
	h.end(s)
}

// quit ends a session for a reason of the server. The effect is the same as if the client had ended it. quit deletes a
// shared session from the store in a separate goroutine.
func (h *Handler) quit(s *session, reason error) {
	s.conn.Because(reason)
	if s.shared == nil {
		h.end(s)
		return
	}
	h.gate.detain()
	go func() { // ends with the store call, which has a timeout
		defer h.gate.release()
		_, _ = s.shared.delete(h.life, 0)
		h.end(s)
	}()
}

// evict ends sessions that the table has evicted. A shared session continues if another process has used it.
func (h *Handler) evict(evicted []*session) {
	for _, s := range evicted {
		if s.shared != nil {
			const blur = 10 * time.Millisecond // tolerance for the clock of the store
			_, _ = s.shared.delete(h.life, max(time.Since(*s.shared.used.Load())-blur, 1))
		}
		s.conn.Because(ErrEvicted)
		h.end(s)
	}
}

// end closes a session once. It ends the contexts of the session's handlers and does not wait for them.
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
	go func() { // ends soon, because every wait in shut is bounded
		defer h.gate.release()
		h.stray.Add(int64(s.shut()))
	}()
}

// shut ends everything that belongs to the session. It returns the number of handlers that still run although their
// contexts have ended.
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
		_, _ = s.shared.delete(context.Background(), 0) // if this fails, the session expires
	}
	if s.cfg.Events != nil && (s.shared == nil || s.shared.deleted.Load()) {
		s.cfg.Events.Forget(s.id)
	}
	return left
}

// agree publishes a session after client and server have agreed on a revision. ok is false if the table is closed. err
// is an error of the store.
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

// enter records the number that the store has assigned to a stream.
func (s *session) enter(t *stream, number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, t.number)
	t.number = number
	s.streams[number] = t
}

// stream returns the stream with this number. It returns nil if there was none, or if the session is shared and this
// process no longer writes to the stream.
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

// forget removes a stream that is complete.
func (s *session) forget(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, t.number)
}

// closeStreams closes the remaining streams.
func (s *session) closeStreams() {
	s.mu.Lock()
	left := slices.Collect(maps.Values(s.streams))
	s.mu.Unlock()
	for _, t := range left {
		t.close()
	}
}

// hold keeps the session from expiring until release. It reports false if the session has ended.
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

// release undoes one hold. After the last release the session can expire.
func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held--; s.held == 0 {
		s.rest()
	}
}

// await starts the expiry timer of a held session unless the client has sent another request.
func (s *session) await() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.met {
		s.rest()
	}
}

// rest starts the expiry timer. mu is held.
func (s *session) rest() {
	if d := s.lasts(); d > 0 && !s.ended {
		s.idle.Reset(d)
	}
}

// lasts returns the idle time after which the session expires. Zero or a negative value means never. mu is held.
func (s *session) lasts() time.Duration {
	if !s.met {
		return s.cfg.ConfirmTimeout
	}
	return s.cfg.SessionTimeout
}

// patience calls lasts with mu held.
func (s *session) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lasts()
}

// isHeld reports whether a request or a handler keeps the session alive.
func (s *session) isHeld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && (s.held > 0 || s.conn.Busy())
}

// expired reports whether the session is idle. If a handler is busy, expired restarts the expiry timer and reports
// false. A handler that waits for an answer from the client is not busy.
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
