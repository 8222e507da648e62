package mcpserver

import (
	"container/list"
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/within"
)

// httpSession is the session of a legacy client over HTTP. It lives between the requests that belong to it.
type httpSession struct {
	*connection
	id     string
	holder any                // of its events in a store in memory: its account, nil for none
	stop   func(reason error) // ends the contexts of handlers; a nil reason is that of the client
	cfg    *HTTPOptions
	// of what belongs to no request; nil in HTTP+SSE, and where a store has its events for all processes
	general  *stream
	channel  *response // of all that is sent in HTTP+SSE; nil in any other session
	shared   *shared   // nil if it is known in this process only
	idle     *time.Timer
	newcomer *list.Element // guarded by sessions.mu; nil for one to which the client has come back
	weight   int           // guarded by sessions.mu; bytes of memory that the introduction takes

	mu    sync.Mutex
	held  int   // guarded by mu; HTTP requests that belong to it
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
func (h *HTTPHandler) newSession(r *http.Request, channel *response) *httpSession {
	id := rand.Text() // 128 bits and more, in letters and digits
	p := new(peer)
	h.recognize(p, h.observer(r), h.cfg.Principal(r), h.account(r))
	evicted, ok := h.sessions.reserve(id, p.who)
	h.evict(evicted)
	if !ok {
		return nil
	}
	s := h.makeSession(id, p, channel)
	if h.fleet != nil {
		process := ""
		if channel != nil {
			process = h.fleet.self
		}
		h.fleet.share(s, h.fleet.newRecord(s.exchange.client.principal, process))
	}
	return s
}

// makeSession makes a session of p, held, whose account has its place.
func (h *HTTPHandler) makeSession(id string, p *peer, channel *response) *httpSession {
	s := &httpSession{id: id, cfg: &h.cfg, channel: channel, streams: map[int64]*stream{}, held: 1}
	if p.who != (quota.Account{}) {
		s.holder = p.who
	}
	if p.rates == nil {
		p.rates = new(rateBook)
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
	s.connection, s.stop = h.s.open(h.life, p, out, 0, nil)
	s.table.Confine(max(fewest, h.cfg.MaxRequests/2))
	s.introduced = func(bytes int) bool {
		evicted, ok := h.sessions.introduce(s, bytes)
		h.evict(evicted)
		return ok
	}
	s.quit = func(reason error) { h.quit(s, reason) }
	s.public.id, s.public.principal = id, p.principal
	s.idle = time.AfterFunc(time.Hour, func() { // by its id: the runtime may keep a timer long after it was stopped
		if s := h.sessions.known(id); s != nil && s.expired() {
			h.expire(s)
		}
	})
	s.idle.Stop() // until it rests
	s.watchOver()
	return s
}

// expire ends a session in which nothing happens. One that others know too lives on if they have used it.
func (h *HTTPHandler) expire(s *httpSession) {
	if s.shared != nil {
		deleted, _ := s.shared.delete(h.life, s.patience())
		if !deleted && !s.expired() { // it has been used meanwhile, here
			return
		}
	}
	s.public.because(ErrSessionTimeout)
	h.end(s)
}

// quit ends a session as its client would, for a reason of the server's. A store is told in a goroutine of its own.
func (h *HTTPHandler) quit(s *httpSession, reason error) {
	s.public.because(reason)
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
func (h *HTTPHandler) evict(evicted []*httpSession) {
	for _, s := range evicted {
		if s.shared != nil {
			const blur = 10 * time.Millisecond // the clock of the store is another
			_, _ = s.shared.delete(h.life, max(time.Since(*s.shared.used.Load())-blur, 1))
		}
		s.public.because(ErrSessionEvicted)
		h.end(s)
	}
}

// end closes a session, once. It does not wait for handlers, whose contexts end.
func (h *HTTPHandler) end(s *httpSession) {
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
func (s *httpSession) shut() (left int) {
	s.exchange.Asks.Close()
	s.exchange.role.leave(s.public.why())
	s.stop(s.public.why())
	if s.general != nil {
		s.general.close()
	}
	if s.shared != nil {
		s.shared.close()
	}
	left = s.close(false)
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
func (h *HTTPHandler) agree(ctx context.Context, s *httpSession) (ok bool, err error) {
	s.exchange.Peer.EnterSession(s.exchange.Version(), s.id)
	if s.shared != nil {
		if err := s.shared.create(ctx); err != nil {
			return false, err
		}
	}
	return h.sessions.open(s), nil
}

// newStream returns the stream for the response to a POST.
func (s *httpSession) newStream(reader *response) *stream {
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
func (s *httpSession) enter(t *stream, number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, t.number)
	t.number = number
	s.streams[number] = t
}

// stream returns the stream of that number, nil if there was none, or if others may have it too and nothing more is to
// be written to it here.
func (s *httpSession) stream(number int64) *stream {
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
func (s *httpSession) forget(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, t.number)
}

// closeStreams closes the streams that are left.
func (s *httpSession) closeStreams() {
	s.mu.Lock()
	left := slices.Collect(maps.Values(s.streams))
	s.mu.Unlock()
	for _, t := range left {
		t.close()
	}
}

// hold keeps the session from expiring, and reports false if it has ended.
func (s *httpSession) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.held++
	s.met = true
	s.alive.Heard()
	s.idle.Stop()
	return true
}

// release lets the session expire, some time after the last one has released it.
func (s *httpSession) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held--; s.held == 0 {
		s.rest()
	}
}

// await lets the session expire unless the client comes back, though it is held.
func (s *httpSession) await() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.met {
		s.rest()
	}
}

// rest lets the session expire when its time is over. mu is held.
func (s *httpSession) rest() {
	if d := s.lasts(); d > 0 && !s.ended {
		s.idle.Reset(d)
	}
}

// lasts returns how long the session lasts in which nothing happens; zero or less for ever. mu is held.
func (s *httpSession) lasts() time.Duration {
	if !s.met {
		return s.cfg.ConfirmTimeout
	}
	return s.cfg.SessionTimeout
}

// patience is lasts.
func (s *httpSession) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lasts()
}

// isHeld reports whether something happens in the session, in the way of expired.
func (s *httpSession) isHeld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && (s.held > 0 || s.table.Busy(s.exchange.Asks.Paused()))
}

// expired reports whether nothing happens in the session. If there is something after all, it is asked again later.
// That a handler waits for an answer of a client which is not there is nothing.
func (s *httpSession) expired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.held > 0 && s.met:
		return false
	case s.table.Busy(s.exchange.Asks.Paused()):
		s.rest()
		return false
	}
	return true
}

// serving returns the exchange for the messages of one HTTP request.
func (s *httpSession) serving(r *http.Request) *exchange {
	x := *s.exchange
	x.Server = &x
	x.Work = within.Values(s.exchange.Work, r.Context())
	x.httpRequest = r
	return &x
}
