package usercode

import (
	"context"
	"log/slog"
)

// LogHandler returns a handler that does the same as h, but hides panics of h from its caller. If h panics or ends its
// goroutine, the record is lost, and LogHandler calls failed, which must not log.
func LogHandler(h slog.Handler, failed func(*Failure)) slog.Handler { return logHandler{h, failed} }

type logHandler struct {
	to     slog.Handler
	failed func(*Failure)
}

func (h logHandler) Enabled(ctx context.Context, l slog.Level) (enabled bool) {
	Run(func() { enabled = h.to.Enabled(ctx, l) }, h.failed)
	return enabled
}

func (h logHandler) Handle(ctx context.Context, r slog.Record) (err error) {
	Run(func() { err = h.to.Handle(ctx, r) }, h.failed)
	return err
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func() slog.Handler { return h.to.WithAttrs(attrs) })
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return h.with(func() slog.Handler { return h.to.WithGroup(name) })
}

// with returns a handler around the result of derive, or around h's handler if derive panics.
func (h logHandler) with(derive func() slog.Handler) slog.Handler {
	Run(func() { h.to = derive() }, h.failed)
	return h
}
