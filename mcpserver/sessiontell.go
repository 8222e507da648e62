package mcpserver

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// The methods of [Session] below notify the client of the session alone; the methods of [Server] notify all clients.
// They are for a server that has something of its own for each client, such as a connection to another server.

// ToolsChanged notifies the client of the session that the list of tools has changed, as [Server.ToolsChanged] notifies
// all clients.
func (s *Session) ToolsChanged() { s.say(notice{method: mcp.NotificationToolListChanged}) }

// ResourcesChanged is ToolsChanged for the lists of resources and resource templates.
func (s *Session) ResourcesChanged() { s.say(notice{method: mcp.NotificationResourceListChanged}) }

// PromptsChanged is ToolsChanged for the list of prompts.
func (s *Session) PromptsChanged() { s.say(notice{method: mcp.NotificationPromptListChanged}) }

// ResourceUpdated notifies the client of the session, if it watches this resource, as [Server.ResourceUpdated] notifies
// all clients.
func (s *Session) ResourceUpdated(uri string) {
	if uri != "" {
		s.say(notice{mcp.NotificationResourceUpdated, uri})
	}
}

// say queues a notice for the client, if the client gets such notices.
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

// LogLevel returns the level that the client has set by logging/setLevel, empty if it has set none.
func (s *Session) LogLevel() mcp.LoggingLevel {
	if s == nil || s.conn == nil {
		return ""
	}
	if level := s.conn.exchange.Terms.Level.Load(); level != nil {
		return *level
	}
	return ""
}

type sessionKey struct{}

func withSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionFrom returns the session of the request that a handler answers. For a [ResourceSubscriber] that is called
// without a request, it returns the session that starts or stops watching a resource. It returns nil if there is no
// session.
func SessionFrom(ctx context.Context) *Session {
	if s, ok := ctx.Value(sessionKey{}).(*Session); ok {
		return s
	}
	return RequestFrom(ctx).Session()
}
