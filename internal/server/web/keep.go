package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// unkept are the events of a stream that the store has not taken yet, in the order of their numbers: it was out of
// reach, or its answer was lost. A task of the session's group gives them to the store as soon as it takes them, so
// that the numbers in the store have no gap and a client that comes back gets them.
type unkept struct {
	events []store.Event // guarded by the stream's mu
	bytes  int           // guarded by the stream's mu; of the data of events
}

// maxUnkept bounds the events of a stream that wait for the store; together they may be as large as one frame of the
// limit. An answer always waits, and a notification beyond is refused.
const maxUnkept = 1024

// affords reports whether there is room for a notification of n bytes. mu is held.
func (t *stream) affords(n int) bool {
	waiting := len(t.unkept.events)
	return waiting == 0 || waiting < maxUnkept && t.unkept.bytes+n <= t.s.cfg.FrameLimit
}

// keep gives an event to the store. A store that processes share gets it later if it fails now. The error is errGone if
// another process has ended the stream. mu is held.
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

// put gives an event to a store that processes share. mu is held.
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
		return nil // the store has taken it before, and its answer was lost
	}
	var note streamNote
	raw, err := t.s.shared.f.events.Note(ctx, t.s.id, t.number)
	switch {
	case errors.Is(err, store.ErrNoStream):
		return errGone // another process took this one for dead, and has told the client
	case err != nil:
		return err
	case json.Unmarshal(raw, &note) != nil || note.Process != t.s.shared.f.self:
		return errGone
	}
	return nil // the store is past this event
}

// filling is the task that retries the events that a store did not take.
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

// fill gives the store the events that it has not taken, and reports whether that is all.
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

// abandon ends a stream that another process has ended. mu is held.
func (t *stream) abandon() {
	t.unkept = unkept{}
	t.over = true
	t.s.forget(t)
	if t.reader != nil {
		t.leave()
	}
}
