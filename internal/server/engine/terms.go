package engine

import (
	"encoding/json"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Peer holds the properties of a client that the server knows before it reads a message. It describes the client of one
// connection, session or HTTP request, and is immutable.
type Peer struct {
	rpc.Peer
	Principal string        // authenticated principal of the HTTP requests; empty for none
	Account   quota.Account // account of the HTTP requests; zero for none
	Rates     *rates.Book   // the client's use of rates; nil for no limits
	Watching  *quota.Memory // budget for watched resources and tasks
}

// Terms holds the outcome of initialize and the settings of a legacy client. Each connection has its own terms. The
// terms of a client without a session last for one message.
type Terms struct {
	Agreed    atomic.Pointer[Agreement]        // nil before initialize
	Confirmed atomic.Bool                      // set by notifications/initialized: the server may send notifications
	Level     atomic.Pointer[mcp.LoggingLevel] // from logging/setLevel; nil until then
}

// Agreement is the outcome of initialize. It is immutable.
type Agreement struct {
	Version      mcp.Version
	Client       mcp.Implementation
	Capabilities mcp.ClientCapabilities
	Declared     mcp.ServerCapabilities
	Weight       int // approximate memory in bytes of Client and Capabilities
}

// Sender is the description that a client gives of itself, in initialize or in the request.
type Sender struct {
	Agreed             *Agreement      // nil for a modern client
	Info, Capabilities json.RawMessage // from a modern client: valid JSON objects, or nil
}

// Implementation returns the name and version of the client.
func (s *Sender) Implementation() (i mcp.Implementation) {
	if s.Agreed != nil {
		return s.Agreed.Client
	}
	_ = given.Decode(s.Info, &i) // best effort
	return i
}

// Declared returns the capabilities that the client has declared.
func (s *Sender) Declared() (d mcp.ClientCapabilities) {
	if s.Agreed != nil {
		return s.Agreed.Capabilities
	}
	_ = given.Decode(s.Capabilities, &d) // best effort
	return d
}
