package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// Limits for messages of the host that wait for a session with the server.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 16 << 20 // a single message may be larger
)

var errTooManyWait = errors.New("too many messages are waiting for the server")

// link is a pair's connection to a server. It reconnects after a loss, and receives the messages of the server.
type link struct {
	pair   *pair
	intro  relay.Message
	ctx    context.Context // ends with the link
	cancel context.CancelCauseFunc

	introducing chan struct{} // closed after the first introduction

	mu      sync.Mutex
	server  relay.Server // nil before begin; guarded by mu until then
	first   relay.Answer // guarded by mu; answers the host's introduction; nil after the answer
	version mcp.Version  // guarded by mu; negotiated revision; empty until then
	waiting []waiting    // guarded by mu; oldest first
	size    int          // guarded by mu; size of waiting in bytes
	running bool         // guarded by mu; forward is running
	refused error        // guarded by mu; the server's refusal of the introduction
}

// waiting is a message of the host that waits to be sent.
type waiting struct {
	relay.Message
	answer relay.Answer // nil for a notification
	send   func(relay.Message)
}

func newLink(p *pair, m relay.Message, answer relay.Answer) *link {
	l := &link{pair: p, intro: kept(m), first: answer, introducing: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.running = true // so that no message is sent before begin has set the server
	return l
}

// kept returns a copy of a message, for storage.
func kept(m relay.Message) relay.Message {
	m.Params, m.ID = bytes.Clone(m.Params), bytes.Clone(m.ID)
	return m
}

// begin sets the server. After this call, messages may be sent.
func (l *link) begin(server relay.Server) {
	l.mu.Lock()
	l.server = server
	l.mu.Unlock()
	l.pair.tasks.Go(l.forward)
}

// introduce returns the host's introduction for the client.
func (l *link) introduce() relay.Introduction {
	l.pair.mu.Lock()
	defer l.pair.mu.Unlock()
	return relay.Introduction{Message: l.intro, Confirmed: l.pair.confirmed}
}

// introduced receives the server's answer to an introduction. It passes the first answer to the host.
func (l *link) introduced(result json.RawMessage, err error) error {
	var said struct {
		ProtocolVersion mcp.Version `json:"protocolVersion"`
	}
	if err == nil {
		_ = json.Unmarshal(result, &said) // the host judges a result that is not an object
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
		err = fmt.Errorf("after a restart, the server negotiated revision %q instead of %q", said.ProtocolVersion,
			before)
		l.pair.host.End(err)
	default:
		err = nil // the server has accepted the introduction before, so the client retries
	}
	return err
}

// answerFirst answers the host's introduction, once. If there is an error, waiting messages also get an error.
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

// answered reports whether the host's introduction has been answered.
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

// health returns the state of the connection for a probe. ok is false until the server has accepted the introduction.
func (l *link) health() (c health.Connection, ok bool) {
	l.mu.Lock()
	server, answered := l.server, l.first == nil
	l.mu.Unlock()
	if server == nil || !answered {
		return c, false
	}
	return server.Health(), true
}

// send sends a message of the host. If earlier messages wait, or if there is no session, the message waits.
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

// forward sends the waiting messages. If the session is lost during this, each message waits for the next session
// separately.
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

// next returns the message that has waited longest. refused is the server's refusal of the introduction, or nil.
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

// stop ends the connection to the server. Waiting messages fail with the error why.
func (l *link) stop(ctx context.Context, why error) {
	l.pair.forget(l)
	l.cancel(why)
	l.mu.Lock()
	server := l.server
	l.mu.Unlock()
	if server != nil {
		_ = server.Stop(ctx) // the connection ends in any case
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
	_ = l.pair.host.Notify(ctx, m) // best effort: the host may have left
}

// Gone ends the link after the client has ended permanently.
func (l *link) Gone(relay.Peer) {
	l.pair.forget(l)
	l.answerFirst(nil, errNoServer)
	l.cancel(errNoServer)
}
