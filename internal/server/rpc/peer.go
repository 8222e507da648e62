package rpc

import (
	"context"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Observer is what connections over one kind of network tell their telemetry. It is immutable.
type Observer struct {
	Tel     *instrument.Server
	Network instrument.Network
	Peers   map[mcp.Version]*instrument.Peer
}

// Failed returns what tells telemetry that the code of this name has failed.
func (o *Observer) Failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { o.Tel.HandlerPanic(ctx, name, f.Value, f.Stack) }
}

// Guard calls a part of a handler that answers no request, in a goroutine of its own, and survives its failure.
func (o *Observer) Guard(ctx context.Context, method string, f func()) {
	if failure := usercode.Apart(f); failure != nil {
		o.Failed(ctx, method)(failure)
	}
}

// BrokenOff is how an operation ends in which code of the user's has failed, unless it has ended before: for a defer.
var BrokenOff = instrument.Result{ErrorType: names.ErrorPanic}

// Peer is the client of a connection, of a session or of one HTTP request, as telemetry knows it. It has no revision:
// each message of a connection may have one of its own. But for session, it is immutable.
type Peer struct {
	Observer
	Untrusted bool // the client does not decide about traces and baggage

	session atomic.Pointer[sessionPeer] // nil as long as no session over HTTP is open
}

// sessionPeer is what telemetry says of the client of a session, whose spans carry its id.
type sessionPeer struct {
	version mcp.Version
	peer    *instrument.Peer
}

// EnterSession makes the spans of the peer carry the id of the session that it has opened.
func (p *Peer) EnterSession(v mcp.Version, id string) {
	facts := instrument.Facts{Network: p.Network, MCPVersion: string(v)}
	p.session.Store(&sessionPeer{v, p.Tel.Peer(facts, id)})
}

// Seen returns what telemetry says of the client in a message of a revision, nil if that is not known yet.
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
