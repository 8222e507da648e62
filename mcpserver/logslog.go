package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// Logger returns a logger that sends its records to the client, as [RequestInfo.Log] does. name is the logger of the
// messages. [mcp.LoggingLevelOf] determines the level of a message. The data of a message is the object that
// [slog.JSONHandler] writes, without the level. If the client does not want a level, the logger is disabled for that
// level, and costs almost nothing. Any goroutine may use the logger. It sends nothing after the answer to the request.
//
// While the client does not read, methods such as [slog.Logger.InfoContext] wait until their context ends, and methods
// without a context wait until the request ends.
func (r *RequestInfo) Logger(name string) *slog.Logger {
	return slog.New(&logHandler{request: r, name: name})
}

// logHandler is the slog.Handler of one request. It is immutable. It keeps attributes and groups as functions, and
// applies them only to the records that it sends.
type logHandler struct {
	request *RequestInfo
	name    string
	steps   []func(slog.Handler) slog.Handler
}

// Enabled reports whether the client wants messages of the level.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return h.request.logs(mcp.LoggingLevelOf(level)) && h.request.call.logger.Load() != stoppedLogger
}

// Handle sends a record.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if !h.Enabled(ctx, r.Level) {
		return nil
	}
	var data bytes.Buffer
	var encode slog.Handler = slog.NewJSONHandler(&data, recordOptions)
	for _, step := range h.steps {
		encode = step(encode)
	}
	if err := encode.Handle(ctx, r); err != nil {
		return err
	}
	return h.request.Log(ctx, mcp.LoggingLevelOf(r.Level), h.name, json.RawMessage(bytes.TrimSpace(data.Bytes())))
}

// recordOptions omit the level from the data, because the message has a member for the level.
var recordOptions = &slog.HandlerOptions{
	Level: slog.Level(math.MinInt),
	ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.LevelKey {
			if _, own := a.Value.Any().(slog.Level); own {
				return slog.Attr{}
			}
		}
		return a
	},
}

// WithAttrs returns a handler that adds attrs to its messages.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

// WithGroup returns a handler that puts later attributes into a group.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.with(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

func (h *logHandler) with(step func(slog.Handler) slog.Handler) *logHandler {
	more := *h
	more.steps = append(slices.Clip(h.steps), step)
	return &more
}
