package instrument

import (
	"context"
	"log/slog"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

type lookupKey struct{ method, outcome string }

// CacheLookup counts a lookup of a method's result in the client's cache.
func (c *Client) CacheLookup(method string, hit bool) {
	if c == nil {
		return
	}
	ctx := context.Background()
	if !c.tel.ins.lookups.Enabled(ctx) {
		return
	}
	outcome := words.CacheMiss
	if hit {
		outcome = words.CacheHit
	}
	c.tel.ins.lookups.Add(ctx, 1, c.metrics.options().lookup.At(lookupKey{c.methodLabel(method, true), outcome})...)
}

// ChangeGap counts and logs that the client may have missed changes of lists or resources. The cause is a Gap constant
// of package names.
func (c *Client) ChangeGap(cause string) {
	if c == nil {
		return
	}
	ctx := context.Background()
	if c.tel.ins.changeGaps.Enabled(ctx) {
		c.tel.ins.changeGaps.Add(ctx, 1, c.metrics.options().gap.At(cause)...)
	}
	suppressed, ok := c.logs.allows(ctx, records.Key{
		Event: names.EventMCPClientChangeGap, Reason: cause, Level: slog.LevelInfo,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(names.KeyMCPClientGapCause, cause))
	c.logs.emit(ctx, slog.LevelInfo, names.EventMCPClientChangeGap, appendCount(fields, c.keys.suppressed, suppressed)...)
}

// ToolChanged counts and logs that a tool differs from its earlier definition. kind is a Change constant of package
// names. parts lists the parts that differ, separated by commas; it is empty for a tool that was added or removed.
// refused is the reason for rejecting the change. It is nil if the change is accepted or undecided.
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
