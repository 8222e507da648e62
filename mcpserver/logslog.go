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

// Logger returns a logger whose records become log messages to the client, as [RequestInfo.Log] sends them, from the
// part of the server called name. The level of a message is that of [mcp.LoggingLevelOf], its data an object with the
// members that [slog.JSONHandler] gives a record, but for the level. A logger that the client does not want to hear
// costs next to nothing: it is not enabled. It may be used from any goroutine, and says nothing once the request has
// been answered.
//
// Methods such as [slog.Logger.InfoContext] wait for a client that takes no messages as long as their context lets
// them, those without one as long as the request lasts.
func (r *RequestInfo) Logger(name string) *slog.Logger {
	return slog.New(&logHandler{request: r, name: name})
}

// logHandler is the slog.Handler of one request. It is immutable. Attributes and groups are kept as the steps that lead
// to them: what is not sent is not encoded.
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

// recordOptions leave out the level, which is in the message.
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

// WithAttrs returns a handler whose messages have these attributes besides.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

// WithGroup returns a handler that puts the attributes that follow into a group.
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
