package mcpserver

import "github.com/mcpotel/mcpotel/mcp"

// peer is the client as the server knows it without reading a message: of a connection, of a session, or of one HTTP
// request. It has no revision, which each message of a connection may have of its own. It is immutable.
type peer struct {
	observer
	principal string     // who sends the messages, over HTTP; empty for none
	who       account    // on which they go, likewise
	untrusted bool       // the client does not decide about traces and baggage
	rates     *rateBook  // of the client; nil for none
	watching  *watchRoom // for what is watched
}

// inSession returns the peer in a session of a revision, whose spans carry the id of that.
func (p *peer) inSession(v mcp.Version, id string) *peer {
	in := *p
	in.observer = p.observer.inSession(v, id)
	return &in
}
