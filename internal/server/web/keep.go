package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// unkept holds the events of a stream that the store has not confirmed yet, in the order of their numbers: the store
// was unreachable, or its reply was lost. A task of the session's group retries them. So the numbers in the store have
// no gap, and a client that reconnects gets the events.
type unkept struct {
	events []store.Event // guarded by the stream's mu
	bytes  int           // guarded by the stream's mu; total size of the events' data
}

// maxUnkept limits the number of unconfirmed events of a stream; FrameLimit limits their total size. Beyond these
// limits, an answer still waits for the store, but a notification is refused.
const maxUnkept = 1024

// affords reports whether a notification of n bytes may wait for the store. mu is held.
func (t *stream) affords(n int) bool {
	waiting := len(t.unkept.events)
	return waiting == 0 || waiting < maxUnkept && t.unkept.bytes+n <= t.s.cfg.FrameLimit
}

// keep stores an event. If a shared store fails, keep queues the event for a retry. It returns errGone if another
// process has ended the stream. mu is held.
func (t *stream) keep(ctx context.Context, e store.Event) error {
	ctx = context.WithoutCancel(ctx)
	if t.s.shared == nil {
		return t.s.append(ctx, t.events, e)
	}
	if len(t.unkept.events) == 0 {
		if err := t.put(ctx, e); err == nil || errors.Is(err, errGone) {
			return err
		}
		if !t.s.conn.Exchange().Group.Start(filling{t}) {
			return errGone
		}
	}
	e.Data = bytes.Clone(e.Data)
	t.unkept.events = append(t.unkept.events, e)
	t.unkept.bytes += len(e.Data)
	return nil
}

// put appends an event to a shared store. mu is held.
func (t *stream) put(ctx context.Context, e store.Event) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	err := t.s.append(ctx, t.events, e)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	kept, err := replay(ctx, t.events, true, t.s.id, store.EventID{Stream: t.number, Sequence: e.ID.Sequence - 1})
	switch {
	case err != nil && !errors.Is(err, errEventsGone):
		return err
	case len(kept) > 0 && kept[0].Final == e.Final && bytes.Equal(kept[0].Data, e.Data):
		return nil // an earlier attempt succeeded, but its reply was lost
	}
	var note streamNote
	raw, err := t.s.shared.f.events.Note(ctx, t.s.id, t.number)
	switch {
	case errors.Is(err, store.ErrNoStream):
		return errGone // another process took this process for dead and has ended the stream for the client
	case err != nil:
		return err
	case json.Unmarshal(raw, &note) != nil || note.Process != t.s.shared.f.self:
		return errGone
	}
	return nil // the store already has later events
}

// filling is the task that retries the events of unkept.
type filling struct{ t *stream }

func (f filling) Run() {
	work := f.t.s.conn.Exchange().Work
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		select {
		case <-time.After(pause):
		case <-work.Done():
		}
		if f.t.fill() || work.Err() != nil {
			return
		}
	}
}

// fill stores the queued events. It reports whether none is left.
func (t *stream) fill() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.unkept.events) > 0 {
		e := t.unkept.events[0]
		switch err := t.put(context.WithoutCancel(t.s.conn.Exchange().Work), e); {
		case errors.Is(err, errGone):
			t.abandon()
			return true
		case err != nil:
			return false
		}
		t.unkept.events[0] = store.Event{}
		t.unkept.events = t.unkept.events[1:]
		t.unkept.bytes -= len(e.Data)
	}
	t.unkept = unkept{}
	if t.over {
		t.s.forget(t)
	}
	return true
}

// abandon drops a stream that another process has ended. mu is held.
func (t *stream) abandon() {
	t.unkept = unkept{}
	t.over = true
	t.s.forget(t)
	if t.reader != nil {
		t.leave()
	}
}
