package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// maxLogMessage is the maximum size in bytes of the frame of a log message.
const maxLogMessage = 1 << 20

// Log sends the client a log message that belongs to the request, on the stream of the answer and before the answer.
// Log does nothing unless the server logs (see [Options.Logging]) and the client wants messages of that level. A
// legacy client sets its level by logging/setLevel for the whole session; until then, its level is [Options.LogLevel].
// A modern client sets its level by io.modelcontextprotocol/logLevel in the _meta of the request; without it, the
// client gets no messages. In a task of a modern client, Log does nothing, because the client gets only the status of
// the task. In a task of 2025-11-25, Log sends the message in the session, as [Server.Log] does.
//
// data is any value that encodes to JSON; Log sends an [encoding/json.RawMessage] unchanged. logger names the part of
// the server that logs, and may be empty. Neither may contain secrets. Log waits while the client does not read. ctx
// bounds the wait; if ctx cannot end, the request's context bounds the wait.
//
// Log returns an error if the protocol does not have the level, if data cannot be encoded, or if the message is larger
// than 1 MiB. Any other error is the cause of ctx, [ErrAnswered], or the error of the connection.
// (specification 2026-07-28, server/utilities/logging)
func (r *RequestInfo) Log(ctx context.Context, level mcp.LoggingLevel, logger string, data any) error {
	switch {
	case !level.Defined():
		return errLevel(level)
	case !r.logs(level):
		return nil
	}
	if r.inLegacyTask() {
		return r.logInTask(level, logger, data)
	}
	err := r.call.log(ctx, level, logger, data)
	if err == ErrAnswered && r.TaskID() != "" { // the request has become a task in the meantime
		return nil
	}
	return err
}

func errLevel(level mcp.LoggingLevel) error {
	return fmt.Errorf("log: unknown level %q", level)
}

// logs reports whether the client wants messages of a level. A modern client gets no messages of a task, only its
// status.
func (r *RequestInfo) logs(level mcp.LoggingLevel) bool {
	if r == nil || r.call == nil || r.TaskID() != "" && !r.inLegacyTask() {
		return false
	}
	least := r.call.leastLevel()
	return least != "" && level.Level() >= least.Level()
}

// leastLevel returns the least severe level that the client wants. It returns an empty level if the client wants no
// messages.
func (c *call) leastLevel() mcp.LoggingLevel {
	switch agreed := c.info.from.Agreed; {
	case !c.x.s.logging.declared.Load():
		return ""
	case c.info.Version.Era() == mcp.Modern:
		return c.logLevel
	case agreed == nil:
		return ""
	case c.x.conn != nil && agreed.Declared.Logging == nil: // the session was opened before the server declared logging
		return ""
	}
	return c.x.s.cfg.leastLevel(c.x.Terms)
}

// leastLevel returns the level that a legacy client has set. Without such a level, it returns the server's default.
func (c *config) leastLevel(t *engine.Terms) mcp.LoggingLevel {
	if set := t.Level.Load(); set != nil {
		return *set
	}
	return c.LogLevel
}

// readLogLevel reads the log level in the _meta of a modern request.
// (specification 2026-07-28, server/utilities/logging, "Error Handling")
func (c *call) readLogLevel(p *jsonrpc.Params) error {
	if p.LogLevel == nil || c.info.Version.Era() != mcp.Modern {
		return nil
	}
	c.logLevel = mcp.LoggingLevel(rpc.Text(p.LogLevel))
	if !c.logLevel.Defined() {
		return rpc.InvalidParams("params._meta: %q is %.64s, which is not a log level", mcp.MetaLogLevel, p.LogLevel)
	}
	return nil
}

// log sends a log message on the stream of the request.
func (c *call) log(ctx context.Context, level mcp.LoggingLevel, logger string, data any) error {
	frame, err := logFrame(nil, level, logger, data)
	if err != nil {
		return err
	}
	if ctx.Done() == nil {
		ctx = c.Context()
	}
	v := c.callLogger()
	if err := v.lock(ctx); err != nil {
		return err
	}
	defer v.unlock()
	switch {
	case v.over:
		return ErrAnswered
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.Context().Err() != nil:
		return context.Cause(c.Context())
	}
	if !c.x.mayTell(rates.Logs, mcp.NotificationMessage) {
		return nil
	}
	if err := c.x.Peer.SendCounted(ctx, c.Out, mcp.NotificationMessage, frame); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// logFrame encodes a log message with meta as its _meta. The frame is the same for all revisions.
func logFrame(meta mcp.Meta, level mcp.LoggingLevel, logger string, data any) ([]byte, error) {
	params, err := mcp.AppendParams(nil, struct {
		Level  mcp.LoggingLevel `json:"level"`
		Logger string           `json:"logger,omitzero"`
		Data   any              `json:"data"`
	}{level, logger, data})
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	frame, err := jsonrpc.AppendNotification(nil, mcp.NotificationMessage, jsonrpc.Meta{User: meta}, params)
	switch {
	case err != nil:
		return nil, fmt.Errorf("log: %w", err)
	case len(frame) > maxLogMessage:
		return nil, fmt.Errorf("log: message of %d bytes is above the limit of %d", len(frame), maxLogMessage)
	}
	return frame, nil
}

// callLogger sends the log messages of one request, one at a time and none after the answer. The first message creates
// the callLogger, because most requests log nothing.
type callLogger struct {
	turn lock.Mutex
	over bool // guarded by turn
}

// stoppedLogger is the logger of a request that was answered before it logged anything.
var stoppedLogger = &callLogger{over: true}

// callLogger returns the logger of the request.
func (c *call) callLogger() *callLogger {
	if v := c.logger.Load(); v != nil {
		return v
	}
	c.logger.CompareAndSwap(nil, new(callLogger))
	return c.logger.Load()
}

// stopLogging waits for a message in progress, and prevents further messages.
func (c *call) stopLogging() {
	if v := c.logger.Swap(stoppedLogger); v != nil && v != stoppedLogger {
		v.turn.Lock()
		v.over = true
		v.turn.Unlock()
	}
}

// lock locks the turn, or returns an error if ctx ends first.
func (v *callLogger) lock(ctx context.Context) error {
	if v == stoppedLogger {
		return ErrAnswered
	}
	return v.turn.LockContext(ctx)
}

func (v *callLogger) unlock() { v.turn.Unlock() }

// logging is the logging feature of a server.
type logging struct {
	s        *Server
	once     sync.Once
	declared atomic.Bool                 // the server declares logging
	setter   atomic.Pointer[LevelSetter] // called when a client sets its level; nil without a LevelSetter
}

// offer declares logging and registers logging/setLevel. It returns false if the user has set a handler for
// logging/setLevel.
func (l *logging) offer() bool {
	l.once.Do(func() {
		l.declared.Store(l.s.methods.add(feature{declare: declareLogging, methods: []*method{
			// inline, because the level applies to the next message
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

// setLevel answers logging/setLevel. It requires a session, which stores the level.
// (specification 2025-11-25, server/utilities/logging, "Setting Log Level")
func (l *logging) setLevel(ctx context.Context, c *call) (any, error) {
	var p mcp.SetLevelParams
	switch err := given.Decode(c.params, &p); {
	case err != nil:
		return nil, rpc.InvalidParams("params: %w", err)
	case !p.Level.Defined():
		return nil, rpc.InvalidParams("params.level is %.64q, which is not a log level", string(p.Level))
	case c.x.conn == nil:
		return nil, rpc.Refusal(mcp.CodeInternalError, "setting the log level requires a session")
	}
	if setter := l.setter.Load(); setter != nil {
		if err := (*setter).SetLevel(ctx, p.Level); err != nil {
			return nil, err
		}
	}
	return nil, c.x.Amend(ctx, func() { c.x.Terms.Level.Store(&p.Level) })
}
