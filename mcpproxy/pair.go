package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
)

// pair is a host and the server behind it. The host's messages arrive one at a time. If several hosts share a pair,
// their messages may arrive concurrently.
//
// The introduction is the request that starts a connection to the server: the host's initialize or server/discover. If
// a modern host starts with another request, the pair sends server/discover for it.
type pair struct {
	connect     func(*relay.Client) (relay.Server, error)
	host        relay.Ender
	guard       *guard         // nil without a policy
	tape        *tape          // nil without a recording
	noListening bool           // Options.NoListening
	tasks       sync.WaitGroup // goroutines that send waiting messages and calls
	turn        sync.Mutex     // held while a message may start a connection

	mu        sync.Mutex
	due       []func() // guarded by mu; calls that may start after waiting
	sending   bool     // guarded by mu; a goroutine starts the due calls
	left      bool     // guarded by mu; the host has left
	confirmed bool     // guarded by mu; the host has sent notifications/initialized
	link      *link    // guarded by mu; nil before the host's introduction, and after the link has ended
}

var errNotIntroduced = &mcp.Error{
	Code:    mcp.CodeInvalidRequest,
	Message: "a session must start with initialize; a request outside of a session must name its revision in _meta",
}

// namesOf returns one name: the host uses the server's names of tools.
func (p *pair) namesOf(_ context.Context, tool string) ([]string, error) { return []string{tool}, nil }

// hides returns false: servers do not know the policy, so lists may contain forbidden tools.
func (p *pair) hides() bool { return false }

// errOfSessions returns the error for a host without a session that sends a request to change the state of a session.
func errOfSessions(method string) error {
	return &mcp.Error{Code: mcp.CodeMethodNotFound, Message: fmt.Sprintf(
		"%s needs a session: without one it would affect all hosts that share the server", shown(method))}
}

var errNotListening = &mcp.Error{
	Code:    mcp.CodeMethodNotFound,
	Message: mcp.MethodSubscriptionsListen + ` is disabled for this server by the proxy's option "listen": false`,
}

// request passes on a request of the host.
func (p *pair) request(ctx context.Context, m relay.Message, answer relay.Answer) {
	switch {
	case p.host.Shared() && !sharable(m.Method, false):
		answer(nil, errOfSessions(m.Method))
		return
	case p.noListening && m.Method == mcp.MethodSubscriptionsListen:
		answer(nil, errNotListening)
		return
	}
	l, begins, err := p.connected(ctx, m, answer)
	switch {
	case err != nil:
		answer(nil, err)
	case begins:
	case m.Method == mcp.MethodPing && !l.ready():
		answer(json.RawMessage("{}"), nil) // the session continues after the reconnection
	default:
		l.send(m, answer, func(m relay.Message) { l.server.Request(ctx, m, answer) })
	}
}

// connected returns the connection for the request m, and starts a connection if there is none. begins means that m is
// the introduction: introduce has sent m or answered it with an error, so the caller must not send m.
func (p *pair) connected(ctx context.Context, m relay.Message, answer relay.Answer) (l *link, begins bool, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	l, left := p.current()
	switch {
	case left:
		return nil, false, errHostGone
	case p.begins(l, m.Method):
		if l != nil {
			l.stop(context.WithoutCancel(ctx), errOtherIntroduction)
		}
		return p.introduce(ctx, m, answer), true, nil
	case l != nil:
		return l, false, nil
	case !modern(m.Params):
		return nil, false, errNotIntroduced
	}
	if l = p.introduce(ctx, discovery(m.Params), func(json.RawMessage, error) {}); l == nil {
		return nil, false, errNoServer
	}
	return l, false, nil
}

// notify passes on a notification of the host.
func (p *pair) notify(ctx context.Context, m relay.Message) {
	if p.host.Shared() && !sharable(m.Method, true) {
		return
	}
	p.mu.Lock()
	l := p.link
	if m.Method == mcp.NotificationInitialized {
		p.confirmed = true
	}
	p.mu.Unlock()
	if l == nil {
		return // a notification before the first introduction is dropped
	}
	l.send(m, nil, func(m relay.Message) {
		_ = l.server.Notify(within.Values(l.ctx, ctx), m) // the span records the error
	})
}

// current returns the connection to the server, or nil, and reports whether the host has left.
func (p *pair) current() (l *link, left bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link, p.left
}

// accepted reports whether the server has accepted the introduction.
func (p *pair) accepted() bool {
	l, _ := p.current()
	return l != nil && l.answered()
}

// introduce starts a connection to a server. m is the introduction, and answer gets the server's answer to m. introduce
// returns nil if the connection cannot start.
func (p *pair) introduce(ctx context.Context, m relay.Message, answer relay.Answer) *link {
	l := newLink(p, m, answer)
	p.mu.Lock()
	p.link = l
	p.mu.Unlock()
	server, err := p.connect(&relay.Client{
		Context: ctx, Receiver: l, Introduce: l.introduce, Introduced: l.introduced, Shared: p.host.Shared(),
	})
	if err != nil {
		p.forget(l)
		l.answerFirst(nil, err)
		return nil
	}
	l.begin(server)
	return l
}

// forget removes the link l, which has failed or ended. A later introduction then starts another link.
func (p *pair) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == l {
		p.link = nil
	}
}

// begin starts a call whose turn has come. Calls start in the order of their turns. begin returns false if the host has
// left.
func (p *pair) begin(call func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return false
	}
	p.due = append(p.due, call)
	if !p.sending {
		p.sending = true
		p.tasks.Go(p.send)
	}
	return true
}

// send starts the due calls.
func (p *pair) send() {
	for {
		p.mu.Lock()
		if len(p.due) == 0 {
			p.due, p.sending = nil, false
			p.mu.Unlock()
			return
		}
		call := p.due[0]
		p.due = p.due[1:]
		p.mu.Unlock()
		call()
	}
}

// gone ends the connection to the server, and all messages and calls that wait.
func (p *pair) gone(ctx context.Context) {
	p.turn.Lock() // no other connection starts after this
	p.mu.Lock()
	p.left = true
	p.mu.Unlock()
	p.turn.Unlock()
	if l, _ := p.current(); l != nil {
		l.stop(ctx, errHostGone)
	}
	p.tasks.Wait()
}

var (
	errNoServer          = errors.New("there is no connection to the server")
	errHostGone          = errors.New("the host has disconnected")
	errOtherIntroduction = errors.New("the host started a new session")
)

// begins reports whether a request with this method introduces the host on a new connection, in place of l if there is
// one. A host introduces itself again if it has waited too long for the server's answer, or if it has learned from
// server/discover that it must initialize.
func (p *pair) begins(l *link, method string) bool {
	shared := p.host.Shared() // if shared, one host must not end the connection of others
	switch {
	case method != mcp.MethodInitialize && method != mcp.MethodDiscover:
		return false
	case l == nil:
		return true
	}
	return !shared && (!l.answered() || method == mcp.MethodInitialize && l.intro.Method == mcp.MethodDiscover)
}

// modern reports whether a request names its revision. (specification 2026-07-28, basic/index, "_meta")
func modern(params json.RawMessage) bool {
	meta, _ := mcp.Object(params).Lookup("_meta")
	_, says := mcp.Object(meta).Lookup(mcp.MetaProtocolVersion)
	return says
}

// discovery returns a server/discover request for a host that starts with another request. params are the params of
// that request.
func discovery(params json.RawMessage) relay.Message {
	meta, _ := mcp.Object(params).Lookup("_meta")
	var own map[string]json.RawMessage
	if json.Unmarshal(meta, &own) != nil {
		own = nil
	}
	delete(own, "progressToken") // the token belongs to the other request
	text, err := json.Marshal(map[string]any{"_meta": own})
	if err != nil {
		panic(fmt.Sprintf("raw members are not JSON: %v", err)) // impossible: they come from a valid object
	}
	return relay.Message{Method: mcp.MethodDiscover, Params: text}
}
