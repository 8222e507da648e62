package web

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// shared is what a session has besides if a store keeps it: the process has it only for as long as it has to do with
// it.
type shared struct {
	f     *fleet
	s     *session
	heard int64 // position among the messages to all at which the session was created

	used     atomic.Pointer[time.Time] // when the store last heard that it is used, from this process
	revision atomic.Int64              // of what this process knows of it; 0 before the store has it
	deleted  atomic.Bool               // from the store, by this process

	saving  sync.Mutex    // held while the record is read and replaced, and handlers hear of that
	record  sessionRecord // guarded by saving
	refused error         // guarded by saving; by a host in this process

	handed handed

	mu      sync.Mutex
	readers map[int64]reader // guarded by mu; by stream
	reader  int64            // guarded by mu; number of the latest
}

// share makes a session one that a store keeps, as record says.
func (f *fleet) share(s *session, record sessionRecord) {
	s.shared = &shared{f: f, s: s, heard: record.Heard, record: record, readers: map[int64]reader{}}
	s.shared.handed.s = s
	s.shared.used.Store(new(time.Now()))
	if record.Process != "" {
		s.conn.Share(nil, false)
		return
	}
	s.conn.Share(s.shared, true)
	s.conn.Exchange().Asks.Process = f.self
}

// create keeps a new session in the store.
func (sh *shared) create(ctx context.Context) error {
	sh.saving.Lock()
	defer sh.saving.Unlock()
	sh.record.State = sh.s.conn.State()
	raw, err := sh.record.encode()
	if err != nil {
		return err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	lasts := sh.f.h.cfg.ConfirmTimeout // until it is used
	if sh.record.Process != "" {
		lasts = sh.f.h.cfg.SessionTimeout // this process sees to its end
	}
	if err := sh.f.store.Create(ctx, sh.s.id, raw, ttl(lasts)); err != nil {
		return err
	}
	sh.used.Store(new(time.Now()))
	sh.revision.Store(1)
	return nil
}

// update takes over a record that is newer than what this process knows. It waits while the session is being attached.
func (sh *shared) update(ctx context.Context, raw []byte, revision int64) error {
	sh.used.Store(new(time.Now()))
	if revision <= sh.revision.Load() {
		return nil
	}
	sh.saving.Lock()
	defer sh.saving.Unlock()
	if sh.refused != nil {
		return sh.refused
	}
	before := sh.s.conn.Watched()
	err := sh.set(raw, revision)
	sh.s.conn.Rewatch(ctx, before)
	return err
}

// set takes over a record that is newer. saving is held.
func (sh *shared) set(raw []byte, revision int64) error {
	if revision <= sh.revision.Load() || raw == nil {
		return nil
	}
	record, err := decodeSessionRecord(raw)
	if err != nil {
		return err
	}
	sh.record = record
	sh.s.conn.SetState(&record.State)
	sh.revision.Store(revision)
	return nil
}

// enter makes a session of the store one of this process: its hosts hear of it. saving is held.
func (sh *shared) enter(ctx context.Context, revision int64) error {
	if err := sh.s.conn.Restore(ctx, &sh.record.State); err != nil {
		return err
	}
	sh.revision.Store(revision)
	return nil
}

// maxConflicts is how often a change of a session is tried that others change at the same time.
const maxConflicts = 10

// Amend implements [Others]: it changes a session, and what the store has of it, and tells the others.
func (sh *shared) Amend(ctx context.Context, change func()) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if err := sh.replace(ctx, change); err != nil {
		return rpc.Fail(ErrStore, err)
	}
	_ = sh.f.tell(ctx, "", signal{Kind: signalChanged, Session: sh.s.id}) // they learn it with the next request
	return nil
}

func (sh *shared) replace(ctx context.Context, change func()) error {
	sh.saving.Lock()
	defer sh.saving.Unlock()
	before := sh.s.conn.Watched()
	defer func() { sh.s.conn.Rewatch(ctx, before) }()
	for try := 0; ; try++ {
		change()
		sh.record.State = sh.s.conn.State()
		raw, err := sh.record.encode()
		if err != nil {
			return err
		}
		err = sh.f.store.Replace(ctx, sh.s.id, raw, sh.revision.Load())
		if err == nil {
			sh.revision.Add(1)
		}
		if !errors.Is(err, store.ErrConflict) || try == maxConflicts {
			return err
		}
		raw, revision, err := sh.f.use(ctx, sh.s.id, sh.revision.Load())
		if err == nil {
			err = sh.set(raw, revision)
		}
		if err != nil {
			return err
		}
	}
}

// delete ends the session in the store, if no request has used it for so long, and tells the others. It reports whether
// this is the end.
func (sh *shared) delete(ctx context.Context, unused time.Duration) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	deleted, err := sh.f.store.Delete(ctx, sh.s.id, unused)
	if deleted {
		sh.deleted.Store(true)
		sh.s.conn.SetPassing(false)
		if sh.f.events != nil {
			sh.f.events.Forget(sh.s.id)
		}
		_ = sh.f.tell(ctx, "", signal{Kind: signalEnded, Session: sh.s.id}) // they learn it with the next request
	}
	return deleted, err
}

// newRecord returns the record of a session that is opened here.
func (f *fleet) newRecord(principal, process string) sessionRecord {
	return sessionRecord{Principal: principal, Created: time.Now(), Heard: f.at.Load(), Process: process}
}

// Cancel tells the other processes of a cancellation.
func (sh *shared) Cancel(ctx context.Context, id jsonrpc.ID, reason string) error {
	err := sh.f.tell(ctx, "", signal{Kind: signalCancelled, Session: sh.s.id, Request: id,
		Reason: reason[:min(len(reason), maxReason)]})
	if err != nil {
		return rpc.Fail(ErrStore, err)
	}
	return nil
}

// Deliver gives a response to the process that has sent the request.
func (sh *shared) Deliver(ctx context.Context, m *jsonrpc.Message) (bool, error) {
	process, ok := rpc.ProcessOf(m.ID)
	if !ok || process == sh.f.self {
		return false, nil
	}
	if err := sh.f.tell(ctx, process, signal{Kind: signalFrame, Session: sh.s.id, Frame: m.Frame}); err != nil {
		return false, rpc.Fail(ErrStore, err)
	}
	return true, nil
}
