package instrument

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Transition is a change of the connection from one state to another.
type Transition struct {
	connstate.Transition
	Attempt Ref   // span of the attempt that made the connection, for the trace of the log record
	Err     error // cause for the log record; nil if no error caused the transition
}

type transitionKey struct {
	from, to connstate.State
	reason   connstate.Reason
}

// Transition counts and logs a transition of the connection, and sets the state for the gauge.
func (c *Client) Transition(t Transition) {
	if c == nil {
		return
	}
	ctx := t.Attempt.context(context.Background())
	c.state.Store(uint32(t.To))
	c.noteTransition(&t)
	over := t.From == connstate.Ready && t.To == connstate.Backoff || t.Reason == connstate.ReasonRefused
	if over {
		defer c.logs.flightRecord(ctx) // after the record of the transition
	}
	if c.tel.ins.transitions.Enabled(ctx) {
		c.tel.ins.transitions.Add(ctx, 1, c.metrics.options().transition.At(transitionKey{t.From, t.To, t.Reason})...)
	}
	level := slog.LevelInfo // a failed attempt has its own record
	if over {
		level = slog.LevelWarn
	}
	if !c.logs.enabled(ctx, level) {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0],
		slog.String(names.KeyMCPClientConnectionFrom, t.From.String()),
		slog.String(names.KeyMCPClientConnectionTo, t.To.String()),
		slog.String(names.KeyMCPClientConnectionReason, t.Reason.String()),
		slog.Int(names.KeyMCPClientConnectionAttemptNumber, t.Transition.Attempt),
		slog.Uint64(names.KeyMCPClientConnectionEpoch, t.Epoch),
		slog.Float64(names.KeyMCPClientDuration, t.Duration.Seconds()))
	if t.Err != nil {
		fields = appendText(fields, names.KeyExceptionMessage, c.textOf(ctx, t.Err))
	}
	c.logs.emit(ctx, level, names.EventMCPClientConnectionTransition, fields...)
}

// Backoff records how long the client waits before it tries to connect again. attempt is the number of the failed
// attempt, or 0 if a ready connection was lost.
func (c *Client) Backoff(delay time.Duration, attempt int) {
	if c == nil {
		return
	}
	ctx := context.Background()
	c.flight.Note(flight.Entry{Brief: flight.Brief{Kind: flight.Backoff, Elapsed: delay, In: int64(attempt)}})
	if c.tel.ins.backoff.Enabled(ctx) {
		c.tel.ins.backoff.Record(ctx, delay.Seconds(), c.metrics.options().plain...)
	}
	if c.logs.enabled(ctx, slog.LevelInfo) {
		c.logs.emit(ctx, slog.LevelInfo, names.EventMCPClientConnectionBackoff,
			slog.Float64(names.KeyMCPClientConnectionBackoffDelay, delay.Seconds()),
			slog.Int(names.KeyMCPClientConnectionAttemptNumber, attempt))
	}
}

// Tombstones counts tombstones. delta is the number of added tombstones, or minus the number of removed ones. A
// tombstone is the id of a call that ended without an answer; it identifies a late answer.
func (c *Client) Tombstones(delta int) {
	if c == nil || delta == 0 {
		return
	}
	ctx := context.Background()
	if n := c.countTombstones(ctx, int32(delta)); n != 0 {
		c.tel.ins.tombstones.Add(ctx, int64(n), c.metrics.options().plainAdding...)
	}
	event := names.EventMCPClientTombstoneAdded
	if delta < 0 {
		event, delta = names.EventMCPClientTombstoneExpired, -delta
	}
	if c.logs.enabled(ctx, slog.LevelDebug) {
		c.logs.emit(ctx, slog.LevelDebug, event, slog.Int(names.KeyMCPClientTombstoneCount, delta))
	}
}

// countTombstones returns the part of delta that the metric counts. The metric subtracts only tombstones that it has
// added. So its value is correct even if it was enabled later.
func (c *Client) countTombstones(ctx context.Context, delta int32) int32 {
	if delta > 0 {
		if !c.tel.ins.tombstones.Enabled(ctx) {
			return 0
		}
		c.tombstones.Add(delta)
		return delta
	}
	for {
		have := c.tombstones.Load()
		n := min(-delta, have)
		if c.tombstones.CompareAndSwap(have, have-n) {
			return -n
		}
	}
}

// ProcessExit describes the end of a server that is a child process.
type ProcessExit struct {
	PID    int
	Code   int    // exit code; -1 if a signal ended the process
	Signal string // signal that ended the process; empty if the process exited

	InAttempt bool // the process ended during an attempt to connect, which has failed and is logged
}

// ProcessExit logs the end of the server's process. The level is Info if the exit code is 0, or if the process ended
// during an attempt to connect, which has a record of its own. Otherwise it is Warn.
func (c *Client) ProcessExit(e ProcessExit) {
	if c == nil {
		return
	}
	ctx, level := context.Background(), slog.LevelWarn
	c.noteExit(e)
	if e.Code == 0 && e.Signal == "" || e.InAttempt {
		level = slog.LevelInfo
	}
	if c.logs.enabled(ctx, level) {
		var buf [maxFields]slog.Attr
		fields := append(buf[:0], slog.Int(names.KeyProcessPID, e.PID), slog.Int(names.KeyProcessExitCode, e.Code))
		fields = appendText(fields, names.KeyMCPClientProcessSignal, e.Signal)
		c.logs.emit(ctx, level, names.EventMCPClientProcessExit, fields...)
	}
}

// CloseFailed logs that closing a connection left something open.
func (c *Client) CloseFailed(err error) {
	if c == nil {
		return
	}
	if ctx := context.Background(); c.logs.enabled(ctx, slog.LevelWarn) {
		c.logs.emit(ctx, slog.LevelWarn, names.EventMCPClientConnectionCloseFailed, appendText(nil, names.KeyExceptionMessage,
			c.textOf(ctx,
				err))...)
	}
}

// ListsUncached logs that the lists of a server were not read from the cache or not written to it. err is the reason.
func (c *Client) ListsUncached(err error) {
	if c == nil {
		return
	}
	if ctx := context.Background(); c.logs.enabled(ctx, slog.LevelWarn) {
		c.logs.emit(ctx, slog.LevelWarn, names.EventMCPClientListCacheFailed,
			appendText(nil, names.KeyExceptionMessage, c.textOf(ctx, err))...)
	}
}

// OutputUnchecked logs that the client does not validate the output of a tool. err is the reason.
func (c *Client) OutputUnchecked(tool string, err error) {
	c.warnAboutTool(names.EventMCPClientToolOutputUnchecked, words.MethodCallTool, tool, err)
}

// ToolRejected logs that the client omits a tool from the server's list. err is the reason.
func (c *Client) ToolRejected(tool string, err error) {
	c.warnAboutTool(names.EventMCPClientToolRejected, words.MethodListTools, tool, err)
}

// IconsRejected logs that the client omits icons from a result. err is the reason.
func (c *Client) IconsRejected(method string, err error) {
	if c == nil {
		return
	}
	if ctx := context.Background(); c.logs.enabled(ctx, slog.LevelDebug) {
		fields := []slog.Attr{slog.String(names.KeyMCPMethodName, truncate(method, words.MaxName))}
		c.logs.emit(ctx, slog.LevelDebug, names.EventMCPClientIconRejected, appendText(fields, names.KeyExceptionMessage,
			c.textOf(ctx,
				err))...)
	}
}

func (c *Client) warnAboutTool(event, method, tool string, err error) {
	if c != nil {
		c.warn(event, method, names.KeyGenAIToolName, truncate(tool, words.MaxName), err)
	}
}

// warn logs the reason why a listed or served item cannot be used. The limiter counts the record as a failure of the
// method.
func (c *Client) warn(event, method, key, value string, err error) {
	ctx := context.Background()
	if suppressed, ok := c.logs.allowsFailure(ctx, slog.LevelWarn, event, method, names.Other); ok {
		fields := appendText([]slog.Attr{slog.String(key, value)}, names.KeyExceptionMessage, c.textOf(ctx, err))
		c.logs.emit(ctx, slog.LevelWarn, event, appendCount(fields, c.keys.suppressed, suppressed)...)
	}
}

// SubscriptionLost logs that the server no longer reports updates of a subscribed resource. err is the reason.
func (c *Client) SubscriptionLost(uri string, err error) {
	if c != nil {
		c.warn(names.EventMCPClientSubscriptionLost, words.MethodSubscribe, names.KeyMCPResourceURI,
			truncate(uri, words.MaxURI), err)
	}
}
