package mcpserver

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// What of a [Server] is told to all clients, a [Session] tells its own alone: for a server that has something of its
// own for each of them, such as a connection to another server.

// ToolsChanged tells the client of the session that the list of tools has changed, as [Server.ToolsChanged] tells all.
func (s *Session) ToolsChanged() { s.say(notice{method: mcp.NotificationToolListChanged}) }

// ResourcesChanged is ToolsChanged for the lists of resources and of their templates.
func (s *Session) ResourcesChanged() { s.say(notice{method: mcp.NotificationResourceListChanged}) }

// PromptsChanged is ToolsChanged for the list of prompts.
func (s *Session) PromptsChanged() { s.say(notice{method: mcp.NotificationPromptListChanged}) }

// ResourceUpdated tells the client of the session, if it watches this resource, what [Server.ResourceUpdated] tells
// all.
func (s *Session) ResourceUpdated(uri string) {
	if uri != "" {
		s.say(notice{mcp.NotificationResourceUpdated, uri})
	}
}

// say sends a notice to the client, if it has been promised such.
func (s *Session) say(n notice) {
	if s != nil && s.conn != nil {
		s.conn.announce([]notice{n})
	}
}

// Log sends the client of the session a log message that belongs to no request, as [Server.Log] does for all.
func (s *Session) Log(level mcp.LoggingLevel, logger string, data any) error {
	switch {
	case !level.Defined():
		return errLevel(level)
	case s == nil || s.conn == nil || !s.conn.hears(level):
		return nil
	}
	frame, err := logFrame(nil, level, logger, data)
	if err == nil {
		s.conn.log(level, frame)
	}
	return err
}

// LogLevel returns the least severe level of the log messages that the client has asked for, empty if it has not.
func (s *Session) LogLevel() mcp.LoggingLevel {
	if s == nil || s.conn == nil {
		return ""
	}
	if level := s.conn.exchange.terms.level.Load(); level != nil {
		return *level
	}
	return ""
}

type sessionKey struct{}

func withSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionFrom returns the session that a handler's method is called for: that of the request which it answers, or, for
// a [ResourceSubscriber] without a request, the one in which a resource was watched or is no longer. It is nil for
// none.
func SessionFrom(ctx context.Context) *Session {
	if s, ok := ctx.Value(sessionKey{}).(*Session); ok {
		return s
	}
	return RequestFrom(ctx).Session()
}
