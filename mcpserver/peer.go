package mcpserver

import (
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// peer is the client of a connection, of a session, or of one HTTP request, as far as the server knows it without
// reading a message. It is immutable.
type peer struct {
	rpc.Peer
	principal string        // of the HTTP requests; empty for none
	who       quota.Account // of the HTTP requests; zero for none
	rates     *rates.Book   // use of rates by the client; nil for no bounds
	watching  *quota.Memory // budget for watched resources and tasks
}
