package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// ErrNotResumable is the error of [CloseStream] if the client could not get the rest.
var ErrNotResumable = errors.New("the client cannot come back for the rest")

// CloseStream closes the stream on which a client waits for an answer to out. See mcpserver.CloseStream.
func CloseStream(ctx context.Context, out rpc.Sink, retry time.Duration) error {
	if b, ok := out.(*rpc.Batch); ok {
		out = b.Out
	}
	if st, ok := out.(*stream); ok {
		return st.pause(ctx, retry)
	}
	return ErrNotResumable
}

// stream is a stream of a legacy session: the sink of what leads to the response of one POST, or the one for all that
// belongs to no request. It outlives the connections on which its events are read.
type stream struct {
	s      *session
	number int64        // written with mu and that of the session held; negative before a store has given it one
	events store.Events // nil if it cannot be resumed; guarded by mu
	asked  asked        // where other processes want to know

	mu     sync.Mutex
	reader *response // guarded by mu; nil while the client does not read
	begun  bool      // guarded by mu; it has events: the response is no JSON
	primed bool      // guarded by mu; its reader knows the id of an event
	// guarded by mu; a client has read it
	wasRead bool
	over    bool   // guarded by mu
	latest  int64  // guarded by mu; sequence number
	unkept  unkept // guarded by mu
}

func (t *stream) Notify(ctx context.Context, frame []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case t.over:
		return errGone
	case t.reader != nil && !t.reader.accept.stream:
		return rpc.ErrNoStream
	case !t.affords(len(frame)):
		return ErrStore
	}
	t.begin(ctx)
	return t.append(ctx, frame, false)
}

func (t *stream) Reach() rpc.Reach {
	t.mu.Lock()
	defer t.mu.Unlock()
	return rpc.Reach{Asks: true, Read: t.reader != nil, Resumable: t.wasRead && t.events != nil}
}

// Ask makes the response a stream. A client that is not there at the moment gets the request when it comes back.
func (t *stream) Ask(ctx context.Context, frame []byte) error {
	t.mu.Lock()
	deaf := t.reader != nil && !t.reader.accept.stream
	t.mu.Unlock()
	if deaf {
		return fmt.Errorf("%w: it does not accept %s", rpc.ErrUnsupported, typeStream)
	}
	return t.Notify(ctx, frame)
}

// Answer ends the stream.
func (t *stream) Answer(ctx context.Context, a rpc.Answer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return errGone
	}
	t.over = true
	defer func() {
		if len(t.unkept.events) == 0 { // else when the store has all of them
			t.s.forget(t)
		}
	}()
	switch {
	case a.Frame == nil:
		t.endWithout(ctx)
		return nil
	case t.begun:
	case t.reader == nil:
		return errGone // and has no event to begin behind
	case t.reader.accept.json || StatusOf(a, false) != http.StatusOK:
		return t.reader.document(StatusOf(a, false), a)
	default:
		t.begin(ctx)
	}
	err := t.append(ctx, a.Whole(), true)
	if t.reader != nil {
		t.reader.close()
	}
	return err
}

// endWithout ends the stream without an answer. A process that follows it reads the end in the store. mu is held.
func (t *stream) endWithout(ctx context.Context) {
	if t.s.shared != nil && t.begun && t.events != nil {
		t.latest++
		_ = t.keep(ctx, store.Event{ID: store.EventID{Stream: t.number, Sequence: t.latest}, Final: true})
	}
	if t.reader != nil {
		t.reader.end(http.StatusAccepted)
	}
}

// begin makes the response a stream. mu is held.
func (t *stream) begin(ctx context.Context) {
	if t.begun {
		return
	}
	t.begun = true
	if t.number < 0 && t.events != nil && t.s.shared.f.open(ctx, t) != nil {
		t.events = nil // it is sent, and that is all
	}
	if t.reader != nil && t.primes() {
		t.primed = t.write(t.s.priming(t.id(0))) == nil
	}
}

func (t *stream) primes() bool { return t.events != nil && t.s.primes() }

// primes reports whether the first event of a new stream is empty: with its id the client can go on if the connection
// breaks. Only revision 2025-11-25 has such events.
// (specification 2025-11-25, basic/transports, "Sending Messages to the Server")
func (s *session) primes() bool {
	return s.cfg.Events != nil && s.conn.Exchange().Server.Version() == mcp.Version20251125
}

// priming returns that first event, with the id of the event behind which the stream begins.
func (s *session) priming(id string) sse.Event {
	return sse.Event{ID: id, HasID: true, Retry: s.cfg.Retry, HasData: true}
}

// openBehind makes r a stream that begins behind the event with this id, which the client does not know.
func (s *session) openBehind(id string, r *response) error {
	if s.primes() {
		return r.event(s.priming(id))
	}
	return r.open()
}

// append keeps an event and writes it to the client if that reads. mu is held.
func (t *stream) append(ctx context.Context, frame []byte, final bool) error {
	t.latest++
	e := message(frame)
	var kept error
	if t.events != nil {
		kept = t.keep(ctx, store.Event{ID: store.EventID{Stream: t.number, Sequence: t.latest}, Data: frame, Final: final})
		e.ID, e.HasID = t.id(t.latest), true
	}
	if errors.Is(kept, errGone) {
		t.abandon()
		return errGone
	}
	if t.reader == nil {
		if t.events == nil {
			return errGone
		}
		return kept
	}
	if err := t.write(e); err != nil && (t.events == nil || kept != nil) {
		return err
	}
	t.primed = t.events != nil
	return nil
}

// write writes an event to the reader, and gives it up if it takes nothing. mu is held.
func (t *stream) write(e sse.Event) error {
	err := t.reader.event(e)
	if err != nil {
		t.leave()
	}
	return err
}

// leave lets go of the reader. mu is held.
func (t *stream) leave() {
	t.reader.close()
	t.reader = nil
	if t.number == 0 {
		t.s.conn.HoldNotices()
	}
}

// detach says that a reader is gone, which does not end the stream.
func (t *stream) detach(r *response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reader == r {
		t.leave()
	}
	r.close()
}

// yield lets go of the reader, who reads somewhere else.
func (t *stream) yield() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reader != nil {
		t.leave()
	}
}

// close ends the stream without an answer.
func (t *stream) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.reader != nil {
		t.leave()
	}
}

// pause closes the connection of the reader, who comes back later.
func (t *stream) pause(ctx context.Context, retry time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over:
		return rpc.ErrAnswered
	case t.reader == nil:
		return nil
	case t.events == nil || !t.reader.accept.stream || !t.primed && !t.primes():
		return ErrNotResumable
	}
	if t.begin(ctx); t.events == nil {
		return ErrNotResumable
	}
	if retry <= 0 {
		retry = t.s.cfg.Retry
	}
	if t.reader != nil && t.write(sse.Event{Retry: retry}) == nil {
		t.leave()
	}
	return nil
}

// id returns the id of an event, which tells its stream too.
func (t *stream) id(sequence int64) string {
	return store.EventID{Stream: t.number, Sequence: sequence}.String()
}

// resume lets a client read on behind an event. Nothing has been written to r yet; the error says that something is
// missing, and then nothing is written.
func (t *stream) resume(ctx context.Context, r *response, behind int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	events, err := replay(ctx, t.events, t.s.shared != nil, t.s.id, store.EventID{Stream: t.number, Sequence: behind})
	for _, e := range t.unkept.events {
		if e.ID.Sequence == behind+int64(len(events))+1 {
			events = append(events, e)
		}
	}
	switch n := len(events); {
	case err != nil:
		return err
	case !t.over && behind > t.latest:
		return errNoSuchEvent
	case !t.over && behind+int64(n) != t.latest, t.over && (n == 0 || !events[n-1].Final):
		return errEventsGone
	}
	t.attach(r, r.open, events)
	return nil
}

// listen lets a client read from now on.
func (t *stream) listen(r *response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attach(r, func() error { return t.s.openBehind(t.id(t.latest), r) }, nil)
}

// attach lets a client read the stream, which open opens, beginning with the events that it has missed. mu is held.
func (t *stream) attach(r *response, open func() error, missed []store.Event) {
	if t.reader != nil {
		t.leave()
	}
	t.reader = r
	if open() != nil {
		t.leave()
		return
	}
	t.wasRead = true
	for _, e := range missed {
		if t.write(sse.Event{ID: e.ID.String(), HasID: true, Data: e.Data, HasData: true}) != nil {
			return
		}
	}
	if t.number == 0 {
		t.s.conn.ResumeNotices()
	}
	if t.over {
		t.leave()
	}
}

var (
	errEventsGone  = errors.New("what was sent behind this event is not kept any more")
	errNoSuchEvent = errors.New("there is no such event")
)

// follows reports whether an event is the next one behind a sequence. If shared, processes share the store.
func follows(e store.Event, behind int64, shared bool) bool {
	if shared && e.ID.Stream == 0 {
		return e.Previous == behind
	}
	return e.ID.Sequence == behind+1
}

// replay returns the events of a stream behind one of them, without a gap.
func replay(ctx context.Context, from store.Events, shared bool, session string, behind store.EventID) (
	events []store.Event, err error) {
	at := behind.Sequence
	for e, err := range from.Behind(ctx, session, behind) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("events: %w", err)
		case e.ID.Stream != behind.Stream || !follows(e, at, shared):
			return nil, errEventsGone
		}
		events = append(events, e)
		at = e.ID.Sequence
	}
	return events, nil
}

// append gives an event of the session to a store. Only one in memory knows of accounts.
func (s *session) append(ctx context.Context, events store.Events, e store.Event) error {
	if m, ok := events.(interface {
		AppendFor(_ identity.Mark, account any, session string, e store.Event) error
	}); ok {
		return m.AppendFor(identity.Mark{}, s.holder, s.id, e)
	}
	return events.Append(ctx, s.id, e)
}
