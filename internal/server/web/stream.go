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

// ErrNotResumable is the error of [CloseStream] if the client would be unable to resume the stream.
var ErrNotResumable = errors.New("the client cannot resume the stream")

// CloseStream closes the stream of out, on which a client waits for an answer. See mcpserver.RequestInfo.CloseStream.
func CloseStream(ctx context.Context, out rpc.Sink, retry time.Duration) error {
	if b, ok := out.(*rpc.Batch); ok {
		out = b.Out
	}
	if st, ok := out.(*stream); ok {
		return st.pause(ctx, retry)
	}
	return ErrNotResumable
}

// stream is a stream of a legacy session. It is the sink for the messages in the response to one POST, or for all
// messages that belong to no request. It outlives the connections on which the client reads its events.
type stream struct {
	s      *session
	number int64        // guarded by mu and the session's mu; see session.streams
	events store.Events // nil if the stream cannot be resumed; guarded by mu
	asked  asked        // set only if other processes may need to end the stream

	mu     sync.Mutex
	reader *response // guarded by mu; nil while the client does not read
	begun  bool      // guarded by mu; the stream has events, so the response is not JSON
	primed bool      // guarded by mu; the reader knows the id of an event
	// wasRead is set once a client has read the stream; guarded by mu.
	wasRead bool
	over    bool   // guarded by mu
	latest  int64  // guarded by mu; sequence number of the latest event
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

// Ask sends a request to the client, which turns the response into a stream. A disconnected client gets the request
// when it reconnects.
func (t *stream) Ask(ctx context.Context, frame []byte) error {
	t.mu.Lock()
	deaf := t.reader != nil && !t.reader.accept.stream
	t.mu.Unlock()
	if deaf {
		return fmt.Errorf("%w: it does not accept %s", rpc.ErrUnsupported, typeStream)
	}
	return t.Notify(ctx, frame)
}

// Answer sends the answer and ends the stream.
func (t *stream) Answer(ctx context.Context, a rpc.Answer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return errGone
	}
	t.over = true
	defer func() {
		if len(t.unkept.events) == 0 { // otherwise fill removes the stream later
			t.s.forget(t)
		}
	}()
	switch {
	case a.Frame == nil:
		t.endWithout(ctx)
		return nil
	case t.begun:
	case t.reader == nil:
		return errGone // the client has no event id from which to resume
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

// endWithout ends the stream without an answer. Other processes that follow the stream find its end in the store. mu is
// held.
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
		t.events = nil // send the events without storing them
	}
	if t.reader != nil && t.primes() {
		t.primed = t.write(t.s.priming(t.id(0))) == nil
	}
}

func (t *stream) primes() bool { return t.events != nil && t.s.primes() }

// primes reports whether a new stream starts with an empty event. The id of this event lets the client resume if the
// connection breaks. Only revision 2025-11-25 has such events. (specification 2025-11-25, basic/transports, "Sending
// Messages to the Server")
func (s *session) primes() bool {
	return s.cfg.Events != nil && s.conn.Exchange().Server.Version() == mcp.Version20251125
}

// priming returns the empty first event. Its id is the id of the event after which the stream starts.
func (s *session) priming(id string) sse.Event {
	return sse.Event{ID: id, HasID: true, Retry: s.cfg.Retry, HasData: true}
}

// openBehind opens r as a stream that starts after the event with this id. The client does not know this id yet.
func (s *session) openBehind(id string, r *response) error {
	if s.primes() {
		return r.event(s.priming(id))
	}
	return r.open()
}

// append stores an event and writes it to the reader, if there is one. mu is held.
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

// write writes an event to the reader. If that fails, it detaches the reader. mu is held.
func (t *stream) write(e sse.Event) error {
	err := t.reader.event(e)
	if err != nil {
		t.leave()
	}
	return err
}

// leave closes the reader's response and detaches the reader. mu is held.
func (t *stream) leave() {
	t.reader.close()
	t.reader = nil
	if t.number == 0 {
		t.s.conn.HoldNotices()
	}
}

// detach detaches a reader whose connection has ended. The stream stays open.
func (t *stream) detach(r *response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reader == r {
		t.leave()
	}
	r.close()
}

// yield detaches the reader, because the client now reads the stream from another process.
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

// pause closes the reader's connection and asks the client to reconnect after retry.
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

// id returns the id of an event, which includes the number of its stream.
func (t *stream) id(sequence int64) string {
	return store.EventID{Stream: t.number, Sequence: sequence}.String()
}

// resume connects a client to the stream after the event with the number last. If resume returns an error, it has
// written nothing to r: events are missing, or the store has failed.
func (t *stream) resume(ctx context.Context, r *response, last int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	events, err := replay(ctx, t.events, t.s.shared != nil, t.s.id, store.EventID{Stream: t.number, Sequence: last})
	for _, e := range t.unkept.events {
		if e.ID.Sequence == last+int64(len(events))+1 {
			events = append(events, e)
		}
	}
	switch n := len(events); {
	case err != nil:
		return err
	case !t.over && last > t.latest:
		return errNoSuchEvent
	case !t.over && last+int64(n) != t.latest, t.over && (n == 0 || !events[n-1].Final):
		return errEventsGone
	}
	t.attach(r, r.open, events)
	return nil
}

// listen connects a client to the stream from now on.
func (t *stream) listen(r *response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attach(r, func() error { return t.s.openBehind(t.id(t.latest), r) }, nil)
}

// attach connects a client to the stream. It calls the function open, then writes the missed events. mu is held.
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
	errEventsGone  = errors.New("the events after this one are no longer stored")
	errNoSuchEvent = errors.New("unknown event id")
)

// follows reports whether an event directly follows the event with the sequence number last. shared means that several
// processes share the store.
func follows(e store.Event, last int64, shared bool) bool {
	if shared && e.ID.Stream == 0 {
		return e.Previous == last
	}
	return e.ID.Sequence == last+1
}

// replay returns the events that follow the event with the id last in its stream. The error is errEventsGone if one of
// them is missing.
func replay(ctx context.Context, from store.Events, shared bool, session string, last store.EventID) (
	events []store.Event, err error) {
	at := last.Sequence
	for e, err := range from.Behind(ctx, session, last) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("events: %w", err)
		case e.ID.Stream != last.Stream || !follows(e, at, shared):
			return nil, errEventsGone
		}
		events = append(events, e)
		at = e.ID.Sequence
	}
	return events, nil
}

// append adds an event of the session to a store. Only the memory store charges its memory to an account.
func (s *session) append(ctx context.Context, events store.Events, e store.Event) error {
	if m, ok := events.(interface {
		AppendFor(_ identity.Mark, account any, session string, e store.Event) error
	}); ok {
		return m.AppendFor(identity.Mark{}, s.holder, s.id, e)
	}
	return events.Append(ctx, s.id, e)
}
