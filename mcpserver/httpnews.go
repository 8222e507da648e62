package mcpserver

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
)

// news are what processes have told each other that has changed, for sessions that come to this one later.
type news struct {
	mu     sync.Mutex
	heard  map[notice]int64 // guarded by mu; position of the latest
	before int64            // guarded by mu; up to this position, anything may have changed
}

// maxNews is how many different ones are remembered.
const maxNews = 4096

func (n *news) note(one notice, position int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.heard) >= maxNews {
		n.heard, n.before = nil, position
	}
	if n.heard == nil {
		n.heard = map[notice]int64{}
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
func (n *news) behind(position int64) (some []notice, known bool) {
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
func (f *fleet) catchUp(s *httpSession) {
	some, known := f.news.behind(s.shared.heard)
	if !known {
		some = s.everything()
	}
	s.announce(some)
}

// everything returns all notices that the client of a session may be sent.
func (c *connection) everything() (some []notice) {
	for method := range lists {
		some = append(some, notice{method: method})
	}
	for _, uri := range c.watched.snapshot() {
		some = append(some, notice{mcp.NotificationResourceUpdated, uri})
	}
	return some
}

// announceAll tells everybody of everything.
func (a *audience) announceAll() {
	for sub := range a.all() {
		for method := range lists {
			if n := (notice{method: method}); sub.wants(n) {
				sub.notices.add(n, instrument.Ref{})
			}
		}
		for _, uri := range sub.watched.snapshot() {
			sub.notices.add(notice{mcp.NotificationResourceUpdated, uri}, instrument.Ref{})
		}
	}
}

// announced notes notices to all clients, and sends them to those of this process.
func (f *fleet) announced(sig *signal, position int64) {
	some := make([]notice, 0, len(sig.Notices))
	for _, t := range sig.Notices {
		n := notice{t.Method, t.URI}
		if _, list := lists[n.method]; !list && (n.method != mcp.NotificationResourceUpdated || n.uri == "") {
			continue // from a process that knows more
		}
		f.news.note(n, position)
		some = append(some, n)
	}
	announceAll(some, func(all []change) {
		for _, s := range f.h.sessions.all() {
			if position > s.shared.heard {
				s.announceChanges(all)
			}
		}
		f.h.audience.announce(all)
	})
}

// logged sends a log message to the clients for which this process does so.
func (f *fleet) logged(sig *signal) {
	for _, s := range f.h.sessions.all() {
		s.log(sig.Level, sig.Frame)
	}
}

// completed tells the client that was asked for it, if that was here, that an elicitation is done.
func (f *fleet) completed(sig *signal) {
	for _, s := range f.h.sessions.all() {
		s.complete(sig.Elicitation)
	}
}

// announce tells all processes of notices, this one too: what all are told has one order. It does not wait.
func (f *fleet) announce(some []notice) {
	sig := signal{Kind: signalAnnounced}
	for _, n := range some {
		sig.Notices = append(sig.Notices, told{n.method, n.uri})
	}
	f.outbox.add(sig)
}

// log tells all processes of a log message. It does not wait.
func (f *fleet) log(level mcp.LoggingLevel, frame []byte) {
	f.outbox.add(signal{Kind: signalLogged, Level: level, Frame: frame})
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
	case sig.Frame != nil && (full || o.bytes+len(sig.Frame) > maxLogMessage):
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
