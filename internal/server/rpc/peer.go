package rpc

import (
	"context"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Observer holds the telemetry of all connections over one kind of network. It is immutable.
type Observer struct {
	Tel     *instrument.Server
	Network instrument.Network
	Peers   map[mcp.Version]*instrument.Peer
}

// Failed returns a function that reports a failure of the user code called name.
func (o *Observer) Failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { o.Tel.HandlerPanic(ctx, name, f.Value, f.Stack) }
}

// Guard calls user code that answers no request, in a new goroutine, and reports its failure.
func (o *Observer) Guard(ctx context.Context, method string, f func()) {
	if failure := usercode.Apart(f); failure != nil {
		o.Failed(ctx, method)(failure)
	}
}

// BrokenOff is the result of an operation in which user code has failed. Deferred calls end operations with it.
var BrokenOff = instrument.Result{ErrorType: names.ErrorPanic}

// Peer describes a client for telemetry. It has no revision, because each message of a connection may have a different
// one.
type Peer struct {
	Observer
	Untrusted bool // telemetry ignores the client's trace context and baggage

	session atomic.Pointer[sessionPeer] // nil before the client opens a session with an id
}

// sessionPeer describes the client of a session with an id. It has the revision of the session.
type sessionPeer struct {
	version mcp.Version
	peer    *instrument.Peer
}

// EnterSession adds the id of a session to the description, when the client has opened that session.
func (p *Peer) EnterSession(v mcp.Version, id string) {
	facts := instrument.Facts{Network: p.Network, MCPVersion: string(v)}
	p.session.Store(&sessionPeer{v, p.Tel.Peer(facts, id)})
}

// Seen returns the description of the client for a message of revision v. It returns nil for an unknown or empty v, and
// if v is not the revision of the client's session.
func (p *Peer) Seen(v mcp.Version) *instrument.Peer {
	s := p.session.Load()
	switch {
	case s == nil:
		return p.Peers[v]
	case s.version == v:
		return s.peer
	}
	return nil
}
