package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/mcp"
)

// logLevel is the minimum severity of the server's log messages, for the life of the client.
type logLevel struct {
	kept atomic.Pointer[mcp.LoggingLevel]
	turn lock.Mutex // held while a level is sent, so that the stored level is the last one sent
}

// level returns the level. It is empty if none was set.
func (l *logLevel) level() mcp.LoggingLevel {
	if kept := l.kept.Load(); kept != nil {
		return *kept
	}
	return ""
}

// SetLogLevel requests log messages of this level and of all more severe levels; [HandleLogMessage] and [LogMessagesTo]
// handle the messages. The client sends the level to a legacy server at once, and again in each later session. It sends
// the level to a modern server with every later request; the server then sends the messages of that request.
// [WithLogLevel] sets another level for one call.
//
// The empty level withdraws the request: a modern server then sends no more messages. A legacy server continues until
// the session ends, because the protocol cannot withdraw the level. If SetLogLevel returns an error, the level is
// unchanged. (specification 2025-11-25, server/utilities/logging, "Setting Log Level"; 2026-07-28,
// server/utilities/logging, "Per-request log level")
func (c *Client) SetLogLevel(ctx context.Context, level mcp.LoggingLevel, options ...CallOption) error {
	p := &mcp.SetLevelParams{Level: level}
	options = append(options[:len(options):len(options)], ifSent) // a modern server gets the level with other requests
	return c.operate(ctx, mcp.MethodSetLevel, p, options, func(ctx context.Context, options []CallOption) error {
		return c.setLogLevel(ctx, p, options)
	})
}

func (c *Client) setLogLevel(ctx context.Context, p *mcp.SetLevelParams, options []CallOption) error {
	level := p.Level
	if err := checkLogLevel(level); err != nil {
		return &Error{Kind: KindInvalid, Op: mcp.MethodSetLevel, Unsent: true, cause: err}
	}
	s, options, err := c.agreed(ctx, mcp.MethodSetLevel, options)
	if err != nil {
		return err
	}
	if !hasLogging(&s.Capabilities) {
		return unsupported(mcp.MethodSetLevel, "logging")
	}
	limited, cancel := c.cfg.within(ctx, options)
	defer cancel()
	if c.logLevel.turn.LockContext(limited) != nil {
		return errorOf(conn.Outlived(limited, mcp.MethodSetLevel, true))
	}
	defer c.logLevel.turn.Unlock()
	if s.Has(mcp.MethodSetLevel) && level != "" {
		if err := c.Call(limited, mcp.MethodSetLevel, p, nil, options...); err != nil {
			return err
		}
	}
	c.logLevel.kept.Store(&level)
	return nil
}

// restore sends the level of earlier sessions to a legacy server. The telemetry of the request records a failure.
func (l *logLevel) restore(c *Client, s *conn.Session) {
	if s.First || !s.Has(mcp.MethodSetLevel) || !hasLogging(&s.Capabilities) {
		return
	}
	if l.turn.LockContext(s.Ctx) != nil {
		return
	}
	defer l.turn.Unlock()
	if level := l.level(); level != "" {
		_ = c.call(s.Ctx, mcp.MethodSetLevel, &mcp.SetLevelParams{Level: level}, nil, restoring)
	}
}

// WithLogLevel requests the log messages of one call from a modern server: messages of this level and of all more
// severe levels. The empty level requests none. The option replaces the level of [Client.SetLogLevel]. It has no effect
// with legacy servers. (specification 2026-07-28, server/utilities/logging, "Per-request log level")
func WithLogLevel(level mcp.LoggingLevel) CallOption { return func(a *asked) { a.logLevel = level } }

// withLogLevel returns meta with the log level of the call if s has a modern version.
func (cl *call) withLogLevel(s *conn.Session, meta mcp.Meta) (mcp.Meta, error) {
	if cl.asked.logLevel == "" || s.Version.Era() != mcp.Modern {
		return meta, nil
	}
	if err := checkLogLevel(cl.asked.logLevel); err != nil {
		return nil, err
	}
	return meta.With(mcp.MetaLogLevel, cl.asked.logLevel)
}

func checkLogLevel(level mcp.LoggingLevel) error {
	if level != "" && !level.Defined() {
		return fmt.Errorf("unknown log level %q", level)
	}
	return nil
}

// HandleLogMessage calls h with the log messages of the server. [Client.SetLogLevel] selects the messages. Before
// SetLogLevel is called, a modern server sends no messages, and a legacy server chooses the level. (specification
// 2026-07-28, server/utilities/logging, "Log Message Notifications")
func HandleLogMessage(h func(ctx context.Context, m *mcp.LoggingMessageParams)) Handler {
	return HandleNotification(mcp.NotificationMessage, decoded(h))
}

// LogMessagesTo writes the log messages of the server to l, at the levels of [mcp.LoggingLevel.Level]. The message of
// each record is "server log message". The attribute logger is the name of the server's logger, if it has one. The
// attribute data is a string, or a [json.RawMessage] for any other JSON. See [HandleLogMessage].
func LogMessagesTo(l *slog.Logger) Handler { return HandleLogMessage(logTo(l)) }

func logTo(l *slog.Logger) func(context.Context, *mcp.LoggingMessageParams) {
	return func(ctx context.Context, m *mcp.LoggingMessageParams) {
		level := m.Level.Level()
		if !l.Enabled(ctx, level) {
			return
		}
		var attrs []slog.Attr
		if m.Logger != "" {
			attrs = append(attrs, slog.String("logger", m.Logger))
		}
		l.LogAttrs(ctx, level, "server log message", append(attrs, logData(m.Data))...)
	}
}

// logData returns the attribute for the data of a message.
func logData(data json.RawMessage) slog.Attr {
	var text *string
	if _, err := mcp.Decode(data, &text); err == nil && text != nil {
		return slog.String("data", *text)
	}
	return slog.Any("data", data)
}
