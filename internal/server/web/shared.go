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

// shared is the additional state of a session in a store. It exists in a process while the process serves the session.
type shared struct {
	f     *fleet
	s     *session
	heard int64 // position of the latest signal to all processes when the session was created

	used     atomic.Pointer[time.Time] // when this process last recorded the use of the session in the store
	revision atomic.Int64              // revision of the record in this process; 0 until the store has one
	deleted  atomic.Bool               // this process has deleted the session from the store

	saving  sync.Mutex    // held while this process loads or replaces the record, or informs its session handlers
	record  sessionRecord // guarded by saving
	refused error         // guarded by saving; why an mcpserver.Initializer of this process rejected the session

	handed handed

	mu      sync.Mutex
	readers map[int64]reader // guarded by mu; by stream
	reader  int64            // guarded by mu; number of the newest reader
}

// share makes s a session in the store, with this record.
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

// create adds a new session to the store.
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
	lasts := sh.f.h.cfg.ConfirmTimeout // applies until the client uses the session
	if sh.record.Process != "" {
		lasts = sh.f.h.cfg.SessionTimeout // this process ends the session
	}
	if err := sh.f.store.Create(ctx, sh.s.id, raw, ttl(lasts)); err != nil {
		return err
	}
	sh.used.Store(new(time.Now()))
	sh.revision.Store(1)
	return nil
}

// update loads a record if it is newer than the revision in this process. If another goroutine is attaching the
// session, update waits for it.
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

// set loads a record if it is newer. saving is held.
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

// enter restores a session of the store in this process, and presents it to the mcpserver.Initializers. saving is held.
func (sh *shared) enter(ctx context.Context, revision int64) error {
	if err := sh.s.conn.Restore(ctx, &sh.record.State); err != nil {
		return err
	}
	sh.revision.Store(revision)
	return nil
}

// maxConflicts limits the retries of a change that conflicts with changes of other processes.
const maxConflicts = 10

// Amend implements [Others]. It changes the session here and in the store, and notifies the other processes.
func (sh *shared) Amend(ctx context.Context, change func()) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if err := sh.replace(ctx, change); err != nil {
		return rpc.Fail(ErrStore, err)
	}
	_ = sh.f.tell(ctx, "", signal{Kind: signalChanged, Session: sh.s.id}) // best effort: the next request also loads it
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

// delete deletes the session from the store if it has been unused for the duration unused, and notifies the other
// processes. It reports whether the store has deleted the session.
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
		_ = sh.f.tell(ctx, "", signal{Kind: signalEnded, Session: sh.s.id}) // best effort
	}
	return deleted, err
}

// newRecord returns the record of a new session.
func (f *fleet) newRecord(principal, process string) sessionRecord {
	return sessionRecord{Principal: principal, Created: time.Now(), Heard: f.at.Load(), Process: process}
}

// Cancel informs the other processes that the client has cancelled a request.
func (sh *shared) Cancel(ctx context.Context, id jsonrpc.ID, reason string) error {
	err := sh.f.tell(ctx, "", signal{Kind: signalCancelled, Session: sh.s.id, Request: id,
		Reason: reason[:min(len(reason), maxReason)]})
	if err != nil {
		return rpc.Fail(ErrStore, err)
	}
	return nil
}

// Deliver passes a response to the process that sent the request. It reports false if this process sent the request.
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
