package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Values of mcp_client.stream.kind: what a stream that outlives requests is for.
const (
	StreamGet    = "get"    // messages of the server, in a legacy session over Streamable HTTP
	StreamSSE    = "sse"    // everything the server sends, over HTTP+SSE
	StreamListen = "listen" // what the client has subscribed to, by subscriptions/listen
)

var streamKinds = []string{StreamGet, StreamSSE, StreamListen}

type streamEnd struct{ kind, errorType string }

func (c *Client) initStreams() {
	c.streamOptions.build = func(kind string) []metric.AddOption {
		return c.adding(attribute.String(keyClientStreamKind, kind))
	}
	c.streamEndOptions.build = func(k streamEnd) []metric.RecordOption {
		return c.recording(attribute.String(keyClientStreamKind, k.kind), optional(keyErrorType, k.errorType))
	}
}

// StreamOpened counts and logs a stream that has opened and serves no single request, of one of the Stream kinds. It
// returns what to call when the stream has ended, with the reason unless it ended in order; only the first call counts.
// Both may be called from any goroutine. A stream has no span: it may live for weeks.
func (c *Client) StreamOpened(kind string) (ended func(error)) {
	if c == nil {
		return func(error) {}
	}
	ctx, opened := context.Background(), time.Now()
	kind = oneOf(streamKinds, kind)
	c.flight.stream(kind)
	active := c.tel.ins.streams
	counted := active.Enabled(ctx)
	if counted {
		active.Add(ctx, 1, c.streamOptions.at(kind)...)
	}
	if c.logs(ctx, slog.LevelInfo) {
		c.emit(ctx, slog.LevelInfo, eventClientStreamOpened, slog.String(keyClientStreamKind, kind))
	}
	var once sync.Once
	return func(err error) {
		once.Do(func() {
			if counted {
				active.Add(ctx, -1, c.streamOptions.at(kind)...)
			}
			c.streamClosed(kind, time.Since(opened), err)
		})
	}
}

func (c *Client) streamClosed(kind string, lived time.Duration, err error) {
	ctx, errorType := context.Background(), ""
	if err != nil {
		errorType = wordOf(errorTypeOf(err))
	}
	c.flight.streamClosed(kind, errorType, lived)
	if c.tel.ins.stream.Enabled(ctx) {
		c.tel.ins.stream.Record(ctx, lived.Seconds(), c.streamEndOptions.at(streamEnd{kind, bounded(errorType)})...)
	}
	if !c.logs(ctx, slog.LevelInfo) {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(keyClientStreamKind, kind), slog.Float64(keyClientDuration, lived.Seconds()))
	if err != nil {
		fields = append(fields, slog.String(keyErrorType, errorType), slog.String(keyError, truncate(err.Error(), maxMessage)))
	}
	c.emit(ctx, slog.LevelInfo, eventClientStreamClosed, fields...)
}
