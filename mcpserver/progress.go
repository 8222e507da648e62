package mcpserver

import (
	"context"
	"fmt"
	"math"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrAnswered means that the request has already been answered. [RequestInfo.Progress], [RequestInfo.Log] and
// functions that ask the client return it.
var ErrAnswered = rpc.ErrAnswered

// Progress reports the request's progress to the client: progress out of total, where a total of zero or less means
// unknown, and an optional message for people. Progress does nothing if the client has not requested progress, or if
// the value is not above the last value. Progress waits while the client does not read; ctx bounds the wait. In a
// task, Progress sets the status message and does not wait; clients of 2025-11-25 that have requested progress also
// get the latest value.
//
// The error is the cause of ctx, [ErrAnswered], or the error of the connection. A handler may return when it gets an
// error.
// (specification 2026-07-28, basic/patterns/progress)
func (r *RequestInfo) Progress(ctx context.Context, progress, total float64, message string) error {
	switch {
	case r == nil:
		return nil
	case r.TaskID() != "":
		return r.task.Progress(ctx, progress, total, message)
	case r.call == nil || r.call.progress == nil:
		return nil
	}
	err := r.call.report(ctx, progress, total, message)
	if err == ErrAnswered && r.TaskID() != "" { // the request has become a task in the meantime
		return r.task.Progress(ctx, progress, total, message)
	}
	return err
}

// progress is the progress of one request. The goroutine that holds turn owns last and over.
type progress struct {
	token jsonrpc.ID
	turn  lock.Mutex // serializes notifications, so that no notification follows the answer or a larger value
	last  float64
	over  bool
}

func newProgress(token jsonrpc.ID) *progress {
	return &progress{token: token, last: math.Inf(-1)}
}

// end waits for a notification in progress, and prevents further notifications. p may be nil.
func (p *progress) end() {
	if p != nil {
		p.turn.Lock()
		p.over = true
		p.turn.Unlock()
	}
}

func (c *call) report(ctx context.Context, value, total float64, message string) error {
	p := c.progress
	if err := p.turn.LockContext(ctx); err != nil {
		return err
	}
	defer p.turn.Unlock()
	switch {
	case p.over:
		return ErrAnswered
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.Context().Err() != nil:
		return context.Cause(c.Context())
	case value <= p.last:
		return nil
	}
	if !c.x.mayTell(rates.Progress, mcp.NotificationProgress) {
		return nil
	}
	frame, err := progressFrame(c.info.Version, nil, p.token, value, total, message)
	if err != nil {
		return err
	}
	if err := c.x.Peer.SendCounted(ctx, c.Out, mcp.NotificationProgress, frame); err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	p.last = value
	return nil
}

// progressFrame encodes a progress notification for clients of a revision. token identifies the request.
func progressFrame(
	v mcp.Version, meta mcp.Meta, token jsonrpc.ID, value, total float64, message string,
) ([]byte, error) {
	params := mcp.ProgressParams{Meta: meta, ProgressToken: mcp.ProgressToken(token), Progress: value}
	if total > 0 && !math.IsInf(total, 1) {
		params.Total = &total
	}
	if v >= mcp.Version20250326 {
		params.Message = message
	}
	raw, err := mcp.AppendParams(nil, params)
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	return jsonrpc.AppendNotification(nil, mcp.NotificationProgress, jsonrpc.Meta{}, raw)
}
