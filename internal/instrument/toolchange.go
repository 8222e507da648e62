package instrument

import (
	"context"
	"log/slog"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ToolChanged counts and logs that a tool is in a list otherwise than before: the kind is a Change word of package
// names, the parts are those that differ, with commas between them, empty for a tool that was added or removed. refused
// is why the change is not accepted, nil if it is or is not decided on.
func (c *Client) ToolChanged(tool, kind, parts string, refused error) {
	if c == nil {
		return
	}
	ctx := context.Background()
	if c.tel.ins.toolChanges.Enabled(ctx) {
		c.tel.ins.toolChanges.Add(ctx, 1, c.metrics.options().toolChange.At(kind)...)
	}
	suppressed, ok := c.logs.allows(ctx, records.Key{
		Event: names.EventMCPClientToolChanged, Reason: kind, Level: slog.LevelWarn,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(names.KeyGenAIToolName, truncate(tool, words.MaxName)),
		slog.String(names.KeyMCPClientToolChangeKind, kind))
	fields = appendText(fields, names.KeyMCPClientToolChangeParts, parts)
	if refused != nil {
		fields = appendText(fields, names.KeyExceptionMessage, c.textOf(ctx, refused))
	}
	fields = appendCount(fields, c.keys.suppressed, suppressed)
	c.logs.emit(ctx, slog.LevelWarn, names.EventMCPClientToolChanged, fields...)
}
