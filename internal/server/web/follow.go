package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// board is the sink for messages that belong to no request, in a session that several processes share. It only appends
// the messages to the store; a process whose client listens for such messages reads them from there. Only the process
// of the latest listener appends messages.
type board struct {
	rpc.Mute
	s *session
}

func (b board) Notify(ctx context.Context, frame []byte) error {
	sh := b.s.shared
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := bounded(context.WithoutCancel(ctx))
	defer cancel()
	return b.s.append(ctx, sh.f.events, store.Event{Data: frame}) // the store assigns the sequence number
}

// Answer does nothing, because each request has its own stream.
func (b board) Answer(context.Context, rpc.Answer) error { return nil }

// streamNote describes a stream. The process that writes the stream keeps the note in the store for other processes.
type streamNote struct {
	Process string `json:"process"`
	asked
}

// asked lists the requests that a stream must answer.
type asked struct {
	Requests []jsonrpc.ID `json:"requests"`
	Batch    bool         `json:"batch,omitzero"` // the answers form one array
}

// open stores a new stream with its note. The store assigns the number.
func (f *fleet) open(ctx context.Context, t *stream) error {
	ctx, cancel := bounded(context.WithoutCancel(ctx))
	defer cancel()
	if err := f.prove(ctx); err != nil {
		return err
	}
	note, err := json.Marshal(streamNote{f.self, t.asked})
	if err != nil {
		return err
	}
	number, err := f.events.Open(ctx, t.s.id, note)
	if err == nil {
		t.s.enter(t, number)
	}
	return err
}

// askedBy returns the requests in a message or batch.
func askedBy(m *jsonrpc.Message, frame []byte) asked {
	if m.Kind == jsonrpc.Request {
		return asked{Requests: []jsonrpc.ID{m.ID}}
	}
	batch, err := jsonrpc.Batch(frame)
	if err != nil {
		return asked{}
	}
	a := asked{Batch: true}
	for data := range batch {
		if m, err := jsonrpc.Parse(data); err == nil && m.Kind == jsonrpc.Request && len(a.Requests) < rpc.MaxBatch {
			a.Requests = append(a.Requests, m.ID)
		}
	}
	return a
}

// listen connects a client to a stream of a session, no matter which process writes the stream.
func (f *fleet) listen(w http.ResponseWriter, r *http.Request, s *session) {
	resp := f.h.streamTo(w)
	lastEventID := r.Header.Get(headerLastEventID)
	behind, ok := parseEventID(lastEventID)
	if lastEventID != "" && !ok {
		f.h.refuse(w, r, badRequest(names.RefusalHeader, errNoSuchEvent.Error()))
		return
	}
	if t := s.stream(behind.Stream); t != nil {
		// ends the readers in other processes
		_ = f.tell(r.Context(), "", signal{Kind: signalReading, Session: s.id, Stream: behind.Stream})
		err := t.resume(r.Context(), resp, behind.Sequence)
		switch {
		case errors.Is(err, errEventsGone), errors.Is(err, errNoSuchEvent):
			f.h.refuse(w, r, badRequest(names.RefusalHeader, err.Error()))
			return
		case err != nil:
			f.h.unavailable(w, r)
			return
		}
		defer s.conn.Exchange().Peer.Tel.StreamOpened(names.StreamGet)()
		t.serve(r.Context(), resp)
		return
	}
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	c := &follower{f: f, s: s, r: resp, stream: behind.Stream, fresh: lastEventID == "", leave: leave}
	missed, err := c.prepare(ctx, behind)
	switch {
	case errors.Is(err, errEventsGone):
		f.h.refuse(w, r, badRequest(names.RefusalHeader, err.Error()))
	case err != nil:
		f.h.unavailable(w, r)
	default:
		defer s.conn.Exchange().Peer.Tel.StreamOpened(names.StreamGet)()
		c.serve(ctx, missed)
	}
}

// follower reads a stream from the store and writes it to a client.
type follower struct {
	f      *fleet
	s      *session
	r      *response
	stream int64
	fresh  bool  // the client has no event of the stream yet
	number int64 // number of this reader among the session's readers in this process
	leave  context.CancelFunc
	note   streamNote // zero if the stream has ended or belongs to no request

	over bool         // the missed events include the end of the stream
	last atomic.Int64 // sequence number of the last event that the client has
}

// prepare reads the events that a client has missed, sets the position to continue from, and announces the reader to
// the other processes. It returns errEventsGone if events are missing, or an error of the store.
func (c *follower) prepare(ctx context.Context, behind store.EventID) (missed []store.Event, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var latest int64
	if c.stream == 0 {
		latest, err = c.f.events.Latest(ctx, c.s.id)
	}
	switch {
	case err != nil:
	case c.fresh:
		behind.Sequence = latest
	default:
		missed, err = replay(ctx, c.f.events, true, c.s.id, behind)
		at := behind.Sequence
		if len(missed) > 0 {
			at = missed[len(missed)-1].ID.Sequence
		}
		if c.stream == 0 && err == nil && (behind.Sequence > latest || at < latest) {
			err = errEventsGone // the store has lost events
		}
	}
	c.last.Store(behind.Sequence)
	if err == nil && c.stream > 0 {
		missed, err = c.inspect(ctx, behind, missed)
	}
	if err != nil {
		return nil, err
	}
	c.number = c.s.shared.reads(c.stream, c.leave)
	err = c.f.tell(ctx, "", signal{Kind: signalReading, Session: c.s.id, Stream: c.stream, Reader: c.number})
	if err != nil {
		c.s.shared.leaves(c.stream, c.number)
	}
	return missed, err
}

// inspect determines whether the stream continues after the missed events, and sets over or note. If the stream does
// not continue and its final event is missing, inspect returns errEventsGone.
func (c *follower) inspect(ctx context.Context, behind store.EventID, missed []store.Event) ([]store.Event, error) {
	complete := func() bool {
		c.over = len(missed) > 0 && missed[len(missed)-1].Final
		return c.over
	}
	if complete() {
		return missed, nil
	}
	note, err := c.f.events.Note(ctx, c.s.id, c.stream)
	if err == nil {
		return missed, json.Unmarshal(note, &c.note)
	}
	if !errors.Is(err, store.ErrNoStream) {
		return nil, err
	}
	missed, err = replay(ctx, c.f.events, true, c.s.id, behind) // the stream may have ended in the meantime
	if err == nil && !complete() {
		err = errEventsGone
	}
	return missed, err
}

// serve writes the missed events, then new events, until the client, the stream or a newer reader ends the response.
func (c *follower) serve(ctx context.Context, missed []store.Event) {
	var watching sync.WaitGroup
	defer func() {
		c.r.close()
		c.s.shared.leaves(c.stream, c.number)
		c.leave()
		watching.Wait()
	}()
	if c.open() != nil {
		return
	}
	for _, e := range missed {
		if !c.write(e) {
			return
		}
	}
	if c.over {
		return
	}
	done := c.r.done()
	watching.Go(func() { // ends with ctx or the response
		defer c.leave()
		c.watch(ctx, done)
	})
	for e, err := range c.f.events.Follow(ctx, c.s.id, store.EventID{Stream: c.stream, Sequence: c.last.Load()}) {
		if err != nil || !follows(e, c.last.Load(), true) || !c.write(e) || e.Final {
			return // after a gap the client reconnects
		}
	}
}

// open opens the response as a stream.
func (c *follower) open() error {
	if c.fresh {
		return c.s.openBehind(store.EventID{Stream: c.stream, Sequence: c.last.Load()}.String(), c.r)
	}
	return c.r.open()
}

// write writes an event and reports whether that succeeded.
func (c *follower) write(e store.Event) bool {
	c.last.Store(e.ID.Sequence)
	return e.Final && len(e.Data) == 0 ||
		c.r.event(sse.Event{ID: e.ID.String(), HasID: true, Data: e.Data, HasData: true}) == nil
}

// watch waits for the end of the response. Until then it calls ask at each tick, so that the stream ends even if the
// stream's process has died.
func (c *follower) watch(ctx context.Context, done <-chan struct{}) {
	tick := time.NewTicker(c.f.h.cfg.Lease / 3)
	defer tick.Stop()
	for {
		c.ask(ctx)
		select {
		case <-tick.C:
		case <-done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// ask asks the process that writes a stream for the end of the stream. If that process has already finished the stream,
// it sends the end (see ended). If the process is dead, ask ends the stream itself.
func (c *follower) ask(ctx context.Context) {
	sig := signal{Kind: signalFollowed, Session: c.s.id, Stream: c.stream}
	switch process := c.note.Process; {
	case process == "":
	case process == c.f.self:
		c.f.ended(ctx, &sig)
	case c.f.unreachable(ctx, process):
		c.conclude(ctx)
	default:
		_ = c.f.tell(ctx, process, sig) // best effort: the next tick tries again
	}
}

var (
	errAbandoned = &mcp.Error{
		Code:    mcp.CodeInternalError,
		Message: "the process that was handling the request has ended; the request may have taken effect",
	}
	errAnswerLost = &mcp.Error{
		Code:    mcp.CodeInternalError,
		Message: "the answer to the request is lost; the request may have taken effect",
	}
)

// conclude ends a stream after its process has died. The store refuses the final event if it has an event that this
// follower has not read yet.
func (c *follower) conclude(ctx context.Context) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_ = c.s.append(ctx, c.f.events, store.Event{ID: store.EventID{Stream: c.stream, Sequence: c.last.Load() + 1},
		Data: c.note.fail(errAbandoned), Final: true})
}

// fail answers each of the requests with an error.
func (a *asked) fail(e *mcp.Error) (data []byte) {
	for i, id := range a.Requests {
		if i > 0 {
			data = append(data, ',')
		}
		data = rpc.AppendError(data, id, e)
	}
	if a.Batch {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	return data
}

// ended handles a signal from another process whose client waits for the end of a stream. If this process has finished
// the stream, the store has lost the final event, for example in a failover to a lagging replica. Then ended appends a
// final event.
func (f *fleet) ended(ctx context.Context, sig *signal) {
	if s := f.h.sessions.known(sig.Session); s != nil && s.stream(sig.Stream) != nil {
		return
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	var note streamNote
	raw, err := f.events.Note(ctx, sig.Session, sig.Stream)
	if err != nil || json.Unmarshal(raw, &note) != nil || note.Process != f.self {
		return
	}
	_ = f.events.Append(ctx, sig.Session, store.Event{ID: store.EventID{Stream: sig.Stream},
		Data: note.fail(errAnswerLost), Final: true}) // best effort: the next signal tries again
}

// reader is a reader of a stream in the store.
type reader struct {
	leave  context.CancelFunc // ends the reader
	number int64              // number of the reader within the session in this process
	first  bool               // all processes know this reader; earlier readers have left
}

// reads registers a new reader of a stream and ends the previous one. It returns the number of the new reader.
func (sh *shared) reads(stream int64, leave context.CancelFunc) int64 {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if old, ok := sh.readers[stream]; ok {
		old.leave()
	}
	sh.reader++
	sh.readers[stream] = reader{leave: leave, number: sh.reader}
	return sh.reader
}

// claims returns the announcements of this process's readers that the store has not delivered back to this process. The
// store may have lost them.
func (sh *shared) claims() (all []signal) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for stream, now := range sh.readers {
		if !now.first {
			all = append(all, signal{Kind: signalReading, Session: sh.s.id, Stream: stream, Reader: now.number})
		}
	}
	return all
}

// leaves removes a reader.
func (sh *shared) leaves(stream, number int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.readers[stream].number != number {
		return
	}
	delete(sh.readers, stream)
	if stream == 0 {
		sh.s.conn.HoldNotices()
	}
}

// read handles the announcement of a reader: all readers of the stream in other processes must leave.
func (f *fleet) read(sig *signal) {
	s := f.h.sessions.known(sig.Session)
	if s == nil || s.shared == nil {
		return
	}
	if sig.From == f.self {
		s.shared.readHere(sig.Stream, sig.Reader)
		return
	}
	if t := s.stream(sig.Stream); t != nil {
		s.conn.Exchange().Group.Start(yielding{t})
	}
	s.shared.readElsewhere(sig.Stream)
}

// yielding is the task that detaches a stream's reader. It is a separate task because the reader may be slow.
type yielding struct{ t *stream }

func (y yielding) Run() { y.t.yield() }

// readHere records that all processes know a reader of this process. From now on a reader of stream 0 gets the messages
// that belong to no request.
func (sh *shared) readHere(stream, number int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if stream == 0 {
		sh.s.conn.SetAway(false)
	}
	if now, ok := sh.readers[stream]; ok && now.number == number {
		now.first = true
		sh.readers[stream] = now
		if stream == 0 {
			sh.s.conn.ResumeNotices()
		}
	}
}

// readElsewhere ends the reader of a stream in this process, unless this reader was announced after the reader in the
// other process.
func (sh *shared) readElsewhere(stream int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if stream == 0 {
		sh.s.conn.SetAway(true)
	}
	now, ok := sh.readers[stream]
	if !ok || !now.first {
		return
	}
	now.leave()
	delete(sh.readers, stream)
	if stream == 0 {
		sh.s.conn.HoldNotices()
	}
}

// close ends all readers.
func (sh *shared) close() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, now := range sh.readers {
		now.leave()
	}
	clear(sh.readers)
}
