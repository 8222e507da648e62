package mcpserver

import (
	"encoding/json"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcp"
)

// terms holds the outcome of initialize and the settings of a legacy client. Each connection has its own terms; those
// of a client without a session last only for one message.
type terms struct {
	agreed    atomic.Pointer[agreement]        // nil before initialize
	confirmed atomic.Bool                      // after notifications/initialized: the server may send notifications
	level     atomic.Pointer[mcp.LoggingLevel] // set by logging/setLevel; nil before that
}

// agreement is the outcome of initialize. It is immutable.
type agreement struct {
	version      mcp.Version
	client       mcp.Implementation
	capabilities mcp.ClientCapabilities
	declared     mcp.ServerCapabilities
	weight       int // approximate memory in bytes of client and capabilities
}

// client is the sender of a request, as it describes itself: in initialize, or in the request.
type client struct {
	agreed             *agreement      // nil for a modern client
	info, capabilities json.RawMessage // a modern client's description of itself, valid JSON objects, or nil
}

func (c *client) implementation() (i mcp.Implementation) {
	if c.agreed != nil {
		return c.agreed.client
	}
	decodeCopy(c.info, &i)
	return i
}

func (c *client) declared() (d mcp.ClientCapabilities) {
	if c.agreed != nil {
		return c.agreed.capabilities
	}
	decodeCopy(c.capabilities, &d)
	return d
}
