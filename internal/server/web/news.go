package web

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// news records which lists and resources have changed, for sessions that this process attaches later.
type news struct {
	mu     sync.Mutex
	heard  map[Notice]int64 // guarded by mu; position of the latest signal for each notice
	before int64            // guarded by mu; up to this position, anything may have changed
}

// maxNews limits the number of recorded notices.
const maxNews = 4096

func (n *news) note(one Notice, position int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.heard) >= maxNews {
		n.heard, n.before = nil, position
	}
	if n.heard == nil {
		n.heard = map[Notice]int64{}
	}
	n.heard[one] = position
}

// vague records that anything may have changed up to a position.
func (n *news) vague(position int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard, n.before = nil, position
}

// behind returns the notices after a position. known is false if some of them were forgotten.
func (n *news) behind(position int64) (some []Notice, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for one, at := range n.heard {
		if at > position {
			some = append(some, one)
		}
	}
	return some, position >= n.before
}

// catchUp sends a session all changes since the session was created. Its client may have received some of them from
// another process.
func (f *fleet) catchUp(s *session) {
	some, known := f.news.behind(s.shared.heard)
	if !known {
		s.conn.AnnounceAll()
		return
	}
	s.conn.Announce(some)
}

// announced records notices for all clients and sends them to the clients of this process.
func (f *fleet) announced(sig *signal, position int64) {
	some := make([]Notice, 0, len(sig.Notices))
	for _, n := range sig.Notices {
		if f.h.server.IsNotice(n) { // skip notices of a newer process that this server does not know
			f.news.note(n, position)
			some = append(some, n)
		}
	}
	var to []Conn
	for _, s := range f.h.sessions.all() {
		if position > s.shared.heard {
			to = append(to, s.conn)
		}
	}
	f.h.server.Announce(some, to)
}

// logged sends a log message to the clients that this process serves.
func (f *fleet) logged(sig *signal) {
	for _, s := range f.h.sessions.all() {
		s.conn.Log(sig.Level, sig.Frame)
	}
}

// completed notifies the client that an elicitation is done, if this process has sent the elicitation.
func (f *fleet) completed(sig *signal) {
	for _, s := range f.h.sessions.all() {
		s.conn.Complete(sig.Elicitation)
	}
}

// IsShared reports whether a store keeps the sessions.
func (h *Handler) IsShared() bool { return h.fleet != nil }

// The methods below are for a handler with a store of sessions. They do not wait. This process also receives its own
// signals from the store, so that all processes see them in the same order.

// Announce sends notices to the clients of all processes.
func (h *Handler) Announce(some []Notice) {
	h.fleet.outbox.add(signal{Kind: signalAnnounced, Notices: some})
}

// Log sends a log message to the clients of all processes.
func (h *Handler) Log(level mcp.LoggingLevel, frame []byte) {
	h.fleet.outbox.add(signal{Kind: signalLogged, Level: level, Frame: frame})
}

// Complete notifies the client that an elicitation is done. Any process may serve the client.
func (h *Handler) Complete(elicitation string) {
	h.fleet.outbox.add(signal{Kind: signalCompleted, Elicitation: elicitation})
}

// outbox is the queue of signals to all processes, in order. A task of the handler's group sends them.
type outbox struct {
	f *fleet

	mu      sync.Mutex
	signals []signal // guarded by mu
	bytes   int      // guarded by mu; total size of the frames
	sending bool     // guarded by mu; the task is running
}

// maxOutbox limits the number of queued signals. If the queue is full, or if log messages exceed MaxLogBytes, a new log
// message is dropped; any other new signal replaces the oldest one.
const maxOutbox = 1024

func (o *outbox) add(sig signal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch full := len(o.signals) >= maxOutbox; {
	case sig.Frame != nil && (full || o.bytes+len(sig.Frame) > o.f.h.cfg.MaxLogBytes):
		return
	case full:
		o.pop()
	}
	o.signals = append(o.signals, sig)
	o.bytes += len(sig.Frame)
	if !o.sending {
		o.sending = o.f.h.engine.Group.Start(o)
	}
}

// Run sends the signals. If the store fails, Run delivers the signal to the clients of this process directly. It
// retries the signal for the other processes, unless it is a log message.
func (o *outbox) Run() {
	life := o.f.h.life
	for sig, ok := o.next(); ok; sig, ok = o.next() {
		if o.f.tell(life, "", sig) == nil {
			continue
		}
		o.f.broadcast(&sig, o.f.at.Load()+1)
		for pause := 50 * time.Millisecond; sig.Kind != signalLogged && life.Err() == nil; pause = min(2*pause, time.Second) {
			select {
			case <-time.After(pause):
			case <-life.Done():
			}
			if o.f.tell(life, "", sig) == nil {
				break
			}
		}
	}
}

func (o *outbox) next() (sig signal, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.signals) == 0 {
		o.sending = false
		return signal{}, false
	}
	return o.pop(), true
}

// pop removes and returns the oldest signal. mu is held.
func (o *outbox) pop() signal {
	sig := o.signals[0]
	o.signals[0] = signal{}
	o.signals = o.signals[1:]
	o.bytes -= len(sig.Frame)
	return sig
}
