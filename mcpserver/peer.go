package mcpserver

import (
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
)

// rpcPeer is the client of a connection, of a session or of one HTTP request, as telemetry knows it. It has no revision:
// each message of a connection may have one of its own. But for session, it is immutable.
type rpcPeer struct {
	observer
	untrusted bool // the client does not decide about traces and baggage

	session atomic.Pointer[sessionPeer] // nil as long as no session over HTTP is open
}

// sessionPeer is what telemetry says of the client of a session, whose spans carry its id.
type sessionPeer struct {
	version mcp.Version
	peer    *instrument.Peer
}

// enter makes the spans of the peer carry the id of the session that it has opened.
func (p *rpcPeer) enter(v mcp.Version, id string) {
	facts := instrument.Facts{Network: p.network, MCPVersion: string(v)}
	p.session.Store(&sessionPeer{v, p.tel.Peer(facts, id)})
}

// seen returns what telemetry says of the client in a message of a revision, nil if that is not known yet.
func (p *rpcPeer) seen(v mcp.Version) *instrument.Peer {
	s := p.session.Load()
	switch {
	case s == nil:
		return p.peers[v]
	case s.version == v:
		return s.peer
	}
	return nil
}
