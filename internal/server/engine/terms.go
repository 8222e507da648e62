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

// Peer is the client of a connection, of a session, or of one HTTP request, as far as the server knows it without
// reading a message. It is immutable.
type Peer struct {
	rpc.Peer
	Principal string        // of the HTTP requests; empty for none
	Account   quota.Account // of the HTTP requests; zero for none
	Rates     *rates.Book   // use of rates by the client; nil for no bounds
	Watching  *quota.Memory // budget for watched resources and tasks
}

// Terms holds the outcome of initialize and the settings of a legacy client. Each connection has its own terms; those
// of a client without a session last only for one message.
type Terms struct {
	Agreed    atomic.Pointer[Agreement]        // nil before initialize
	Confirmed atomic.Bool                      // after notifications/initialized: the server may send notifications
	Level     atomic.Pointer[mcp.LoggingLevel] // set by logging/setLevel; nil before that
}

// Agreement is the outcome of initialize. It is immutable.
type Agreement struct {
	Version      mcp.Version
	Client       mcp.Implementation
	Capabilities mcp.ClientCapabilities
	Declared     mcp.ServerCapabilities
	Weight       int // approximate memory in bytes of Client and Capabilities
}

// Sender is the description that the sender of a request gives of itself, in initialize or in the request.
type Sender struct {
	Agreed             *Agreement      // nil for a modern client
	Info, Capabilities json.RawMessage // a modern client's description of itself, valid JSON objects, or nil
}

// Implementation returns the name and version of the client.
func (s *Sender) Implementation() (i mcp.Implementation) {
	if s.Agreed != nil {
		return s.Agreed.Client
	}
	_ = given.Decode(s.Info, &i) // as far as it can be decoded
	return i
}

// Declared returns the capabilities that the client has declared.
func (s *Sender) Declared() (d mcp.ClientCapabilities) {
	if s.Agreed != nil {
		return s.Agreed.Capabilities
	}
	_ = given.Decode(s.Capabilities, &d) // as far as it can be decoded
	return d
}
