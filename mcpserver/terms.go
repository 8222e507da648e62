package mcpserver

import (
	"encoding/json"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcp"
)

// terms are what a legacy client and the server have agreed on. A connection has its own; those of a client without a
// session last no longer than its message.
type terms struct {
	agreed    atomic.Pointer[agreement]        // nil before initialize
	confirmed atomic.Bool                      // by notifications/initialized: from then on, notifications may be sent
	level     atomic.Pointer[mcp.LoggingLevel] // by logging/setLevel; nil before that
}

// agreement is the outcome of initialize. It is immutable.
type agreement struct {
	version      mcp.Version
	client       mcp.Implementation
	capabilities mcp.ClientCapabilities
	declared     mcp.ServerCapabilities
	weight       int // bytes of memory that client and capabilities take, about
}

// client is who sent a request, by its own account: in initialize, or in the request itself.
type client struct {
	agreed             *agreement      // nil for a modern client
	info, capabilities json.RawMessage // what a modern client says, valid JSON objects, or nil
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
