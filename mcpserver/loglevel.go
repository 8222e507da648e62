package mcpserver

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// offerLogging makes the server declare that it logs, and legacy clients able to say how much they want to hear. It
// reports false if logging/setLevel has a handler of the user's own.
func (s *Server) offerLogging() bool {
	s.loggingOffer.Do(func() {
		s.logging.Store(s.methods.add(feature{declare: declareLogging, methods: []*method{
			{name: mcp.MethodSetLevel, handle: s.setLevel, inline: true}, // what comes next is held to it
		}}))
	})
	return s.logging.Load()
}

func declareLogging(c *mcp.ServerCapabilities, _ mcp.Version) {
	if c.Logging == nil {
		c.Logging = mcp.Object{}
	}
}

// setLevel answers logging/setLevel. Where there is no session, nothing could remember the level.
// (specification 2025-11-25, server/utilities/logging, "Setting Log Level")
func (s *Server) setLevel(ctx context.Context, c *call) (any, error) {
	var p mcp.SetLevelParams
	switch err := decodeCopy(c.params, &p); {
	case err != nil:
		return nil, invalidParams("params: %w", err)
	case !p.Level.Defined():
		return nil, invalidParams("params.level is %.64q, which is no log level", string(p.Level))
	case c.x.conn == nil:
		return nil, refusal(mcp.CodeInternalError, "without a session there is no log level to set")
	}
	if setter := s.levelSetter.Load(); setter != nil {
		if err := (*setter).SetLevel(ctx, p.Level); err != nil {
			return nil, err
		}
	}
	return nil, c.x.amend(ctx, func() { c.x.terms.level.Store(&p.Level) })
}
