package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// What of the host's messages waits for a session with the server.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 16 << 20 // or one that is larger by itself
)

var errTooManyWait = errors.New("too many messages wait for the server")

// link is a connection of a pair to a server, which is made anew when it is lost. It receives what the server sends.
type link struct {
	pair   *pair
	intro  relay.Message
	ctx    context.Context // ends with the link
	cancel context.CancelCauseFunc

	introducing chan struct{} // is closed when the first introduction is over

	mu      sync.Mutex
	server  relay.Server // guarded by mu until it is there; nil before
	first   relay.Answer // guarded by mu; for what the host introduced itself with; nil once answered
	version mcp.Version  // guarded by mu; that was agreed on; empty before
	waiting []waiting    // guarded by mu; in the order in which they came
	size    int          // guarded by mu; theirs, in bytes
	running bool         // guarded by mu; forward is
	refused error        // guarded by mu; why the server did not accept the introduction
}

// waiting is a message of the host that waits for its turn.
type waiting struct {
	relay.Message
	answer relay.Answer // nil for a notification
	send   func(relay.Message)
}

func newLink(p *pair, m relay.Message, answer relay.Answer) *link {
	l := &link{pair: p, intro: kept(m), first: answer, introducing: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.running = true // nothing is sent before there is a server
	return l
}

// kept returns a message that may be kept.
func kept(m relay.Message) relay.Message {
	m.Params, m.ID = bytes.Clone(m.Params), bytes.Clone(m.ID)
	return m
}

// begin notes the server, to which messages may be sent from now on.
func (l *link) begin(server relay.Server) {
	l.mu.Lock()
	l.server = server
	l.mu.Unlock()
	l.pair.tasks.Go(l.forward)
}

// introduce says how the client is to introduce itself.
func (l *link) introduce() relay.Introduction {
	l.pair.mu.Lock()
	defer l.pair.mu.Unlock()
	return relay.Introduction{Message: l.intro, Confirmed: l.pair.confirmed}
}

// introduced hears what the server has answered to an introduction. The first answer is for the host.
func (l *link) introduced(result json.RawMessage, err error) error {
	var said struct {
		ProtocolVersion mcp.Version `json:"protocolVersion"`
	}
	if err == nil {
		_ = json.Unmarshal(result, &said) // what is no object is the host's to judge
	}
	l.mu.Lock()
	first, before := l.first != nil, l.version
	if err == nil {
		l.version = said.ProtocolVersion
	}
	l.mu.Unlock()
	switch {
	case first:
		why := err
		if err != nil {
			l.pair.forget(l)
			why = &refusal{err, l.intro.Method}
		}
		l.answerFirst(result, why)
	case err == nil && before != said.ProtocolVersion:
		err = fmt.Errorf("the server speaks revision %q after it was started anew, and %q before", said.ProtocolVersion,
			before)
		l.pair.host.End(err)
	default:
		err = nil // a server that refuses after it has served once is tried again
	}
	return err
}

// answerFirst answers what the host introduced itself with, once. An error is for what waits, too.
func (l *link) answerFirst(result json.RawMessage, err error) {
	l.mu.Lock()
	first := l.first
	if l.first = nil; first != nil {
		l.refused = err
	}
	l.mu.Unlock()
	if first != nil {
		first(result, err)
		close(l.introducing)
	}
}

// answered reports whether the server has accepted the introduction.
func (l *link) answered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first == nil
}

// ready reports whether there is a session with the server.
func (l *link) ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server != nil && l.server.Ready()
}

// send sends a message of the host at once, or when those before it have been sent and there is a session.
func (l *link) send(m relay.Message, answer relay.Answer, f func(relay.Message)) {
	l.mu.Lock()
	if !l.running && l.server.Ready() {
		l.mu.Unlock()
		f(m)
		return
	}
	if len(l.waiting) == maxWaiting || len(l.waiting) > 0 && l.size+m.Size() > maxWaitingBytes {
		l.mu.Unlock()
		if answer != nil {
			answer(nil, errTooManyWait)
		}
		return
	}
	l.waiting = append(l.waiting, waiting{kept(m), answer, f})
	l.size += m.Size()
	if !l.running {
		l.running = true
		l.pair.tasks.Go(l.forward)
	}
	l.mu.Unlock()
}

// forward sends what waits. Each waits for a session by itself, if that is lost again.
func (l *link) forward() {
	<-l.introducing
	for {
		w, refused, ok := l.next()
		switch {
		case !ok:
			return
		case refused == nil:
			w.send(w.Message)
		case w.answer != nil:
			w.answer(nil, refused)
		}
	}
}

// next returns what waits longest, and why the server has refused it unless that is nil.
func (l *link) next() (w waiting, refused error, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.running, l.waiting = false, nil
		return waiting{}, nil, false
	}
	w, l.waiting[0] = l.waiting[0], waiting{}
	l.waiting = l.waiting[1:]
	l.size -= w.Size()
	return w, l.refused, true
}

// stop ends the connection to the server. What waits is told why.
func (l *link) stop(ctx context.Context, why error) {
	l.pair.forget(l)
	l.cancel(why)
	l.mu.Lock()
	server := l.server
	l.mu.Unlock()
	if server != nil {
		_ = server.Stop(ctx) // it is over, whatever the server says to that
	}
	l.answerFirst(nil, why)
}

// ReceiveRequest passes on a request of the server.
func (l *link) ReceiveRequest(ctx context.Context, m relay.Message, _ relay.Peer, answer relay.Answer) {
	ctx, m, answer = l.pair.guard.asks(ctx, m, answer)
	answer = l.pair.tape.asked(ctx, recording.ServerSide, m, answer)
	l.pair.host.Request(ctx, m, answer)
}

// ReceiveNotification passes on a notification of the server.
func (l *link) ReceiveNotification(ctx context.Context, m relay.Message, _ relay.Peer) {
	m = l.pair.guard.forHost(ctx, m)
	l.pair.tape.told(ctx, recording.ServerSide, m)
	_ = l.pair.host.Notify(ctx, m) // a host that is gone has no use for it
}

// Gone hears that the client has ended, for good.
func (l *link) Gone(relay.Peer) {
	l.pair.forget(l)
	l.answerFirst(nil, errNoServer)
	l.cancel(errNoServer)
}
