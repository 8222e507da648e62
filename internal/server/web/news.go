package web

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// news are what processes have told each other that has changed, for sessions that come to this one later.
type news struct {
	mu     sync.Mutex
	heard  map[Notice]int64 // guarded by mu; position of the latest
	before int64            // guarded by mu; up to this position, anything may have changed
}

// maxNews is how many different ones are remembered.
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

// vague notes that anything may have changed up to a position.
func (n *news) vague(position int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard, n.before = nil, position
}

// behind returns what has changed behind a position, false if that is not known any more.
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

// catchUp announces to a session what has changed since it was created. Its client may have heard of that elsewhere.
func (f *fleet) catchUp(s *session) {
	some, known := f.news.behind(s.shared.heard)
	if !known {
		s.conn.AnnounceAll()
		return
	}
	s.conn.Announce(some)
}

// announced notes notices to all clients, and sends them to those of this process.
func (f *fleet) announced(sig *signal, position int64) {
	some := make([]Notice, 0, len(sig.Notices))
	for _, n := range sig.Notices {
		if f.h.server.IsNotice(n) { // else it is from a process that knows more
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

// logged sends a log message to the clients for which this process does so.
func (f *fleet) logged(sig *signal) {
	for _, s := range f.h.sessions.all() {
		s.conn.Log(sig.Level, sig.Frame)
	}
}

// completed tells the client that was asked for it, if that was here, that an elicitation is done.
func (f *fleet) completed(sig *signal) {
	for _, s := range f.h.sessions.all() {
		s.conn.Complete(sig.Elicitation)
	}
}

// IsShared reports whether a store keeps the sessions.
func (h *Handler) IsShared() bool { return h.fleet != nil }

// The methods below are for a handler whose sessions a store keeps. They do not wait. This process gets the signals as
// the others do: all signals have one order.

// Announce sends notices to the clients of all processes.
func (h *Handler) Announce(some []Notice) {
	h.fleet.outbox.add(signal{Kind: signalAnnounced, Notices: some})
}

// Log sends a log message to the clients of all processes.
func (h *Handler) Log(level mcp.LoggingLevel, frame []byte) {
	h.fleet.outbox.add(signal{Kind: signalLogged, Level: level, Frame: frame})
}

// Complete tells the client, whatever process has it, that an elicitation is done.
func (h *Handler) Complete(elicitation string) {
	h.fleet.outbox.add(signal{Kind: signalCompleted, Elicitation: elicitation})
}

// outbox are signals to all that are yet to be sent, in their order. A task of the handler's group sends them.
type outbox struct {
	f *fleet

	mu      sync.Mutex
	signals []signal // guarded by mu
	bytes   int      // guarded by mu; of the frames in them
	sending bool     // guarded by mu
}

// maxOutbox is how many signals wait. Log messages that are more, or larger than one may be in all, are lost to the
// clients of other processes; of notices, the oldest.
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

// Run sends the signals. While the store takes none, the clients of this process are told by themselves; a log message
// is lost to the others then, and all else is sent again.
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

// pop takes the oldest signal. mu is held.
func (o *outbox) pop() signal {
	sig := o.signals[0]
	o.signals[0] = signal{}
	o.signals = o.signals[1:]
	o.bytes -= len(sig.Frame)
	return sig
}
