package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// fleet represents the processes that share a store of sessions. It registers the handler's process as alive, and
// exchanges signals with the others. Each handler counts as a separate process.
type fleet struct {
	h      *Handler
	store  store.Sessions
	events store.SharedEvents // nil if clients cannot resume streams
	self   string             // id of this process

	stop context.CancelFunc
	runs sync.WaitGroup

	beaten atomic.Pointer[time.Time] // time of the last successful Beat

	news   news
	outbox outbox

	at atomic.Int64 // position of the latest signal to all processes
}

// fleetTimeout limits each call of the store.
const fleetTimeout = 5 * time.Second

// newFleet joins the processes that share the store of h. The method leave ends the membership.
func newFleet(h *Handler) *fleet {
	f := &fleet{h: h, store: h.cfg.Sessions, self: rand.Text()}
	f.outbox.f = f
	f.events, _ = h.cfg.Events.(store.SharedEvents)
	ctx, stop := context.WithCancel(h.life)
	f.stop = stop
	f.runs.Go(func() { f.live(ctx) }) // all three goroutines end with ctx
	f.runs.Go(func() { f.receive(ctx, "", f.hear) })
	f.runs.Go(func() { f.receive(ctx, f.self, f.fetch) })
	return f
}

// leave unregisters this process.
func (f *fleet) leave(ctx context.Context) {
	f.stop()
	f.runs.Wait()
	ctx, cancel := context.WithTimeout(ctx, rpc.Settle)
	defer cancel()
	_ = f.store.Beat(ctx, f.self, 0) // on failure, the lease expires
}

// ttl returns how long the store keeps an idle session whose timeout is lasts. The store keeps it a little longer than
// the timeout, so that the process that used the session last can end it first.
func ttl(lasts time.Duration) time.Duration {
	if lasts < 0 {
		return 0
	}
	return lasts + lasts/8 + rpc.Settle
}

// bounded returns a context for one call of the store.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, fleetTimeout)
}

// live periodically renews the lease of this process and the idle timers of its active sessions.
func (f *fleet) live(ctx context.Context) {
	tick := time.NewTicker(f.h.cfg.Lease / 3)
	defer tick.Stop()
	for {
		_ = f.beat(ctx) // on failure, the next tick tries again
		for _, s := range f.h.sessions.all() {
			if f.h.cfg.SessionTimeout > 0 && s.isHeld() && time.Since(*s.shared.used.Load()) > f.h.cfg.SessionTimeout/3 {
				f.refresh(ctx, s)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (f *fleet) beat(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	now := time.Now()
	if err := f.store.Beat(ctx, f.self, f.h.cfg.Lease); err != nil {
		return err
	}
	f.beaten.Store(&now)
	return nil
}

// prove renews the lease of this process if more than half of it has passed.
func (f *fleet) prove(ctx context.Context) error {
	if last := f.beaten.Load(); last != nil && time.Since(*last) < f.h.cfg.Lease/2 {
		return nil
	}
	return f.beat(ctx)
}

// signal is a message from one process to another, or to all.
type signal struct {
	From    string     `json:"from"`
	Kind    signalKind `json:"kind"`
	Session string     `json:"session,omitzero"`
	Stream  int64      `json:"stream,omitzero"`
	Reader  int64      `json:"reader,omitzero"`
	Request jsonrpc.ID `json:"request,omitzero"`
	Reason  string     `json:"reason,omitzero"`
	Notices []Notice   `json:"notices,omitzero"`
	Frame   []byte     `json:"frame,omitzero"`

	Level       mcp.LoggingLevel `json:"level,omitzero"`
	Elicitation string           `json:"elicitation,omitzero"`
}

type signalKind string

const (
	signalChanged   signalKind = "changed"   // the record of a session changed
	signalEnded     signalKind = "ended"     // a session ended
	signalReading   signalKind = "reading"   // the sender reads a stream; all other readers must leave
	signalCancelled signalKind = "cancelled" // the client cancelled a request
	signalAnnounced signalKind = "announced" // notices for all subscribed clients
	signalLogged    signalKind = "logged"    // a log message for all clients
	signalCompleted signalKind = "completed" // an elicitation is done
	signalFollowed  signalKind = "followed"  // the sender follows a stream of the receiver
	signalFrame     signalKind = "frame"     // a client's message that only the receiver can process
	signalLost      signalKind = "lost"      // the store has lost signals to all processes
)

// maxReason limits the length of a cancellation reason that is passed on, in bytes.
const maxReason = 1 << 10

// tell sends a signal to a process; an empty process means all.
func (f *fleet) tell(ctx context.Context, process string, sig signal) error {
	sig.From = f.self
	raw, err := json.Marshal(sig)
	if err != nil {
		return fmt.Errorf("signal: %w", err)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	return f.store.Publish(ctx, process, raw)
}

// receive calls the function take once for each signal to a process, or for each signal to all processes if process is
// empty. If signals are missing, take gets nil in their place. A store that has lost signals yields earlier signals
// again; receive skips them.
func (f *fleet) receive(ctx context.Context, process string, take func(context.Context, *signal, int64)) {
	at, latest := int64(0), int64(0)
	for pause := time.Duration(0); ctx.Err() == nil; pause = min(2*pause+10*time.Millisecond, time.Second) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		for m, err := range f.store.Receive(ctx, process, at) {
			if err != nil {
				break
			}
			if m.Previous != at {
				take(ctx, nil, max(m.Position-1, latest))
			}
			if m.Previous < at && process == "" {
				// The store has lost signals that this process received. A process that did not receive them sees no gap.
				f.outbox.add(signal{Kind: signalLost})
			}
			at, pause = m.Position, 0
			if at <= latest {
				continue
			}
			latest = at
			var sig signal
			if json.Unmarshal(m.Data, &sig) == nil {
				take(ctx, &sig, at)
			}
		}
	}
}

// hear handles a signal to all processes. A nil signal means that an unknown number of signals is missing.
func (f *fleet) hear(ctx context.Context, sig *signal, position int64) {
	f.at.Store(position)
	switch {
	case sig == nil:
		f.missed(ctx, position)
	case f.broadcast(sig, position):
	case sig.Kind == signalReading:
		f.read(sig)
	case sig.From == f.self:
	case sig.Kind == signalLost:
		f.missed(ctx, position)
	case sig.Kind == signalCancelled:
		if s := f.h.sessions.known(sig.Session); s != nil {
			s.conn.Exchange().Calls.Cancel(sig.Request, rpc.Cancellation(sig.Reason))
		}
	case sig.Kind == signalEnded:
		f.forget(sig.Session)
	case sig.Kind == signalChanged:
		if s := f.h.sessions.known(sig.Session); s != nil && s.shared != nil && s.hold() {
			f.h.sessions.greet(s)
			f.refresh(ctx, s)
			s.release()
		}
	}
}

// broadcast handles signals for the clients of all processes. It reports false for any other signal.
func (f *fleet) broadcast(sig *signal, position int64) bool {
	switch sig.Kind {
	case signalAnnounced:
		f.announced(sig, position)
	case signalLogged:
		f.logged(sig)
	case signalCompleted:
		f.completed(sig)
	default:
		return false
	}
	return true
}

// missed handles lost signals: it assumes that everything has changed.
func (f *fleet) missed(ctx context.Context, position int64) {
	f.news.vague(position)
	for _, s := range f.h.sessions.all() {
		for _, claim := range s.shared.claims() {
			f.outbox.add(claim)
		}
		if f.refresh(ctx, s) {
			s.conn.AnnounceAll()
		}
	}
	f.h.server.AnnounceAll()
}

// fetch handles a signal to this process.
func (f *fleet) fetch(ctx context.Context, sig *signal, _ int64) {
	switch {
	case sig == nil:
		return
	case sig.Kind == signalFollowed && f.events != nil && sig.Stream > 0:
		f.ended(ctx, sig)
		return
	case sig.Kind != signalFrame:
		return
	}
	if s := f.h.sessions.known(sig.Session); s != nil && s.shared != nil && s.hold() {
		f.h.sessions.greet(s)
		s.shared.handed.add(sig.Frame)
		s.release()
	}
}

// unreachable reports whether a process is dead according to the store.
func (f *fleet) unreachable(ctx context.Context, process string) bool {
	ctx, cancel := bounded(ctx)
	defer cancel()
	alive, err := f.store.Alive(ctx, process)
	return err == nil && !alive
}

// forget ends this process's part of a session that has ended.
func (f *fleet) forget(id string) {
	if s := f.h.sessions.known(id); s != nil {
		f.h.end(s)
	}
}

// refresh renews the idle timer of a session in the store and loads a newer record. It reports false if the session has
// ended.
func (f *fleet) refresh(ctx context.Context, s *session) bool {
	ctx, cancel := bounded(ctx)
	defer cancel()
	record, revision, err := f.use(ctx, s.id, s.shared.revision.Load())
	switch {
	case errors.Is(err, store.ErrNoSession) && s.shared.revision.Load() > 0:
		f.h.end(s)
		return false
	case err == nil:
		_ = s.shared.update(ctx, record, revision) // ignore a record that this process cannot decode
	}
	return true
}

func (f *fleet) use(ctx context.Context, id string, known int64) (record []byte, revision int64, err error) {
	return f.store.Use(ctx, id, known, ttl(f.h.cfg.SessionTimeout))
}
