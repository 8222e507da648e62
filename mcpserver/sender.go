package mcpserver

import (
	"github.com/mcpotel/mcpotel/internal/server/quota"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// peer is the client as the server knows it without reading a message: of a connection, of a session, or of one HTTP
// request. It is immutable.
type peer struct {
	rpc.Peer
	principal string        // who sends the messages, over HTTP; empty for none
	who       quota.Account // on which they go, likewise
	rates     *rateBook     // of the client; nil for none
	watching  *quota.Memory // for what is watched
}
