package web

import (
	"errors"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// session loads the principal's session with this id from the store and returns it held: see [session.hold]. It returns
// nil if there is no such session.
func (f *fleet) session(r *http.Request, id, principal string) (*session, error) {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	raw, revision, err := f.use(ctx, id, f.known(id))
	if errors.Is(err, store.ErrNoSession) {
		f.forget(id)
		return nil, nil
	}
	var s *session
	if err == nil {
		s, err = f.take(r, id, principal, raw, revision)
	}
	if err != nil && err != ErrTooManySessions {
		err = rpc.Fail(ErrStore, err)
	}
	return s, err
}

// known returns the revision of a session in this process, or 0 if this process does not know the session.
func (f *fleet) known(id string) int64 {
	if s := f.h.sessions.known(id); s != nil && s.shared != nil {
		return s.shared.revision.Load()
	}
	return 0
}

// take returns the session of a record, held, or nil if the session does not belong to the principal.
func (f *fleet) take(r *http.Request, id, principal string, raw []byte, revision int64) (*session, error) {
	if s := f.h.sessions.find(id, principal, false); s != nil {
		err := s.shared.update(r.Context(), raw, revision)
		if err != nil {
			s.release()
			return nil, err
		}
		return s, nil
	}
	if raw == nil { // the session that this process knew has ended in the meantime
		var err error
		if raw, revision, err = f.use(r.Context(), id, 0); err != nil {
			return nil, err
		}
	}
	record, err := decodeSessionRecord(raw)
	if err != nil || record.Principal != principal || record.Process != "" {
		return nil, err
	}
	return f.attach(r, id, record, revision)
}

// attach adds a session of the store to this process and returns it held.
func (f *fleet) attach(r *http.Request, id string, record sessionRecord, revision int64) (*session, error) {
	c := Client{Observer: f.h.observer(r), Principal: record.Principal, Account: f.h.account(r)}
	s, fresh, evicted := f.h.sessions.attach(id, c.Account, func() *session {
		s := f.restore(id, record, c)
		s.shared.saving.Lock() // other requests wait until the session is complete
		return s
	})
	f.h.evict(evicted)
	switch {
	case s == nil:
		return nil, ErrTooManySessions
	case !fresh:
		err := s.shared.await()
		if err != nil {
			s.release()
			return nil, err
		}
		return s, nil
	}
	err := s.shared.enter(r.Context(), revision)
	s.shared.refused = err
	s.shared.saving.Unlock()
	if err != nil {
		s.release()
		f.h.end(s)
		return nil, err
	}
	f.catchUp(s)
	return s, nil
}

// await waits until another goroutine has attached the session, and returns the error of the attachment.
func (sh *shared) await() error {
	sh.saving.Lock()
	defer sh.saving.Unlock()
	return sh.refused
}

// restore creates a held session from a record. The caller must then call enter.
func (f *fleet) restore(id string, record sessionRecord, c Client) *session {
	s := f.h.makeSession(id, c, record.Created, nil)
	s.met = true
	f.share(s, record)
	s.conn.Exchange().Peer.EnterSession(record.Version, id)
	s.conn.HoldNotices() // until the client reads its stream in this process
	s.conn.SetAway(true)
	return s
}
