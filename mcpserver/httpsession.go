package mcpserver

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// httpSession is the session of a legacy client over HTTP. It lives between the requests that belong to it.
type httpSession struct {
	*connection
	id        string
	principal string
	stop      func() // ends the contexts of handlers
	cfg       *HTTPOptions
	general   *stream   // of what belongs to no request; nil in HTTP+SSE, and where a store has its events for all processes
	channel   *response // of all that is sent in HTTP+SSE; nil in any other session
	shared    *shared   // nil if it is known in this process only
	idle      *time.Timer

	mu      sync.Mutex
	held    int               // guarded by mu; HTTP requests that belong to it
	ended   bool              // guarded by mu
	last    int64             // guarded by mu; number of the latest stream
	streams map[int64]*stream // guarded by mu; to which more is to be written; under negative numbers if they have none yet
}

// sessions are those of an HTTP handler.
type sessions struct {
	limit int

	mu     sync.Mutex
	byID   map[string]*httpSession // guarded by mu; nil for one that is being opened
	closed bool                    // guarded by mu
}

// reserve takes the place of a session, false if there is none.
func (t *sessions) reserve(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.byID) >= t.limit {
		return false
	}
	t.byID[id] = nil
	return true
}

// open makes a session known whose place is reserved, unless no more are let in.
func (t *sessions) open(s *httpSession) (ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.byID[s.id] = s
	}
	return !t.closed
}

// attach returns the session with that id, held: what fresh returns if there is none, and nil if there is no place.
func (t *sessions) attach(id string, fresh func() *httpSession) (s *httpSession, isFresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s = t.byID[id]
	switch {
	case t.closed:
		return nil, false
	case s != nil && s.hold():
		return s, false
	case s == nil && len(t.byID) >= t.limit:
		return nil, false
	}
	s = fresh()
	t.byID[id] = s
	return s, true
}

// known returns a session, nil if there is none with that id.
func (t *sessions) known(id string) *httpSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// all returns the sessions that are open.
func (t *sessions) all() (open []*httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.byID {
		if s != nil {
			open = append(open, s)
		}
	}
	return open
}

// find returns a session, held, nil if the principal has none with that id.
func (t *sessions) find(id, principal string, sse bool) *httpSession {
	t.mu.Lock()
	s := t.byID[id]
	t.mu.Unlock()
	if s == nil || s.principal != principal || sse != (s.channel != nil) || !s.hold() {
		return nil
	}
	return s
}

// remove forgets a session, or that its place was reserved.
func (t *sessions) remove(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.byID[s.id]; now == s || now == nil {
		delete(t.byID, s.id)
	}
}

// close lets no more sessions in and returns those that are open.
func (t *sessions) close() (open []*httpSession) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}

// newSession returns a session that is not open yet, held, nil if there are too many. All that is sent goes to channel, or
// to streams of its own if that is nil.
func (h *HTTPHandler) newSession(r *http.Request, channel *response) *httpSession {
	id := rand.Text() // 128 bits and more, in letters and digits
	if !h.sessions.reserve(id) {
		return nil
	}
	s := h.makeSession(id, h.cfg.Principal(r), h.observer(r), channel)
	if h.fleet != nil {
		process := ""
		if channel != nil {
			process = h.fleet.self
		}
		h.fleet.share(s, h.fleet.newRecord(s.principal, process))
	}
	return s
}

// makeSession makes a session, held.
func (h *HTTPHandler) makeSession(id, principal string, o observer, channel *response) *httpSession {
	s := &httpSession{id: id, principal: principal, cfg: &h.cfg, channel: channel, streams: map[int64]*stream{}, held: 1}
	var out sink = broadcast{channel}
	switch {
	case channel != nil:
	case h.fleet != nil && h.fleet.events != nil:
		out = board{s}
	default:
		s.general = &stream{s: s, events: h.cfg.Events, begun: true}
		out = s.general
	}
	s.connection, s.stop = h.s.open(h.life, o, out, 0, nil)
	s.exchange.principal = s.principal
	s.session.public.id, s.session.public.principal = id, s.principal
	if h.cfg.SessionTimeout > 0 {
		s.idle = time.AfterFunc(h.cfg.SessionTimeout, func() {
			if s.expired() {
				h.expire(s)
			}
		})
		s.idle.Stop()
	}
	return s
}

// expire ends a session in which nothing happens. One that others know too lives on if they have used it.
func (h *HTTPHandler) expire(s *httpSession) {
	if s.shared != nil {
		deleted, _ := s.shared.delete(h.life, h.cfg.SessionTimeout)
		if !deleted && !s.expired() { // it has been used meanwhile, here
			return
		}
	}
	s.session.public.because(ErrSessionTimeout)
	h.end(s)
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
	h.gate.detain()
	go func() { // ends soon: what it waits for has an end
		defer h.gate.release()
		h.stray.Add(int64(s.shut()))
	}()
}

// shut ends all that belongs to the session and returns how many handlers ignore the end of their contexts.
func (s *httpSession) shut() (left int) {
	s.asks.close()
	s.stop()
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

// agree makes a session known whose client and server have agreed on a revision, false if no more are let in. The error is
// that of the store.
func (h *HTTPHandler) agree(ctx context.Context, s *httpSession) (ok bool, err error) {
	s.exchange.observer = s.observer.inSession(s.version(), s.id)
	if s.shared != nil {
		if err := s.shared.create(ctx); err != nil {
			return false, err
		}
	}
	return h.sessions.open(s), nil
}

// version is the revision of the session.
func (s *httpSession) version() mcp.Version { return s.session.agreed.Load().version }

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

// stream returns the stream of that number, nil if there was none, or if others may have it too and nothing more is to be
// written to it here.
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
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

// release lets the session expire, some time after the last one has released it.
func (s *httpSession) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held--; s.held == 0 && s.idle != nil && !s.ended {
		s.idle.Reset(s.cfg.SessionTimeout)
	}
}

// isHeld reports whether something happens in the session, in the way of expired.
func (s *httpSession) isHeld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && (s.held > 0 || s.table.busy(s.asks.waiting()))
}

// expired reports whether nothing happens in the session. If there is something after all, it is asked again later. That a
// handler waits for an answer of a client which is not there is nothing.
func (s *httpSession) expired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.held > 0:
		return false
	case s.table.busy(s.asks.waiting()):
		s.idle.Reset(s.cfg.SessionTimeout)
		return false
	}
	return true
}

// serving returns the exchange for the messages of one HTTP request.
func (s *httpSession) serving(r *http.Request) *exchange {
	x := *s.exchange
	x.work = joined(s.work, r)
	x.httpRequest = r
	return &x
}
