package mcpserver

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// logging is the logging feature of a server.
type logging struct {
	s        *Server
	once     sync.Once
	declared atomic.Bool                 // the server declares logging
	setter   atomic.Pointer[LevelSetter] // is called when a client sets its level; nil for none
}

// offer declares logging and registers logging/setLevel. It reports false if logging/setLevel has a handler of the
// user's own.
func (l *logging) offer() bool {
	l.once.Do(func() {
		l.declared.Store(l.s.methods.add(feature{declare: declareLogging, methods: []*method{
			// inline: before the next message, to which the level applies
			{Method: named(mcp.MethodSetLevel), handle: l.setLevel, inline: true},
		}}))
	})
	return l.declared.Load()
}

func declareLogging(c *mcp.ServerCapabilities, _ mcp.Version) {
	if c.Logging == nil {
		c.Logging = mcp.Object{}
	}
}

// setLevel answers logging/setLevel. Without a session, the level cannot be stored.
// (specification 2025-11-25, server/utilities/logging, "Setting Log Level")
func (l *logging) setLevel(ctx context.Context, c *call) (any, error) {
	var p mcp.SetLevelParams
	switch err := given.Decode(c.params, &p); {
	case err != nil:
		return nil, rpc.InvalidParams("params: %w", err)
	case !p.Level.Defined():
		return nil, rpc.InvalidParams("params.level is %.64q, which is no log level", string(p.Level))
	case c.x.conn == nil:
		return nil, rpc.Refusal(mcp.CodeInternalError, "without a session there is no log level to set")
	}
	if setter := l.setter.Load(); setter != nil {
		if err := (*setter).SetLevel(ctx, p.Level); err != nil {
			return nil, err
		}
	}
	return nil, c.x.Amend(ctx, func() { c.x.Terms.Level.Store(&p.Level) })
}
