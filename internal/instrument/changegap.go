package instrument

import (
	"context"
	"log/slog"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ChangeGap counts and logs that the client may have missed changes of lists or resources. The cause is a Gap word of
// package names.
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
