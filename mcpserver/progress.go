package mcpserver

import (
	"context"
	"fmt"
	"math"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrAnswered is returned by [RequestInfo.Progress] and [RequestInfo.Log], and where a client is asked for something,
// after the request has been answered.
var ErrAnswered = rpc.ErrAnswered

// Progress tells the client how far the request has come: progress of total, zero or less if that is not known, and a
// message for people, if it is not empty. It does nothing if the client has not asked for progress, and for a value
// that is not above the last one. It waits as long as the client takes no messages; ctx bounds that. In a task it is
// the status message, and waits for nothing; clients of 2025-11-25 that have asked for progress are told the latest
// besides.
//
// The error is the cause of ctx, [ErrAnswered], or that of the connection. A handler may stop at any of them.
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
	if err == ErrAnswered && r.TaskID() != "" { // it has become one meanwhile
		return r.task.Progress(ctx, progress, total, message)
	}
	return err
}

// progress is what has been told about one request. The goroutine that holds the turn owns the rest.
type progress struct {
	token jsonrpc.ID
	turn  lock.Mutex // one holds it: no notification follows the answer, nor a larger value
	last  float64
	over  bool
}

func newProgress(token jsonrpc.ID) *progress {
	return &progress{token: token, last: math.Inf(-1)}
}

// end waits for a notification that is being sent and lets no other follow. p may be nil.
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
	if !c.x.mayTell(rateProgress, mcp.NotificationProgress) {
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

// progressFrame returns a notification of progress for a client of a revision, whose token names the request.
func progressFrame(
	v mcp.Version, meta mcp.Meta, token jsonrpc.ID, value, total float64, message string,
) ([]byte, error) {
	params := mcp.ProgressParams{Meta: meta, ProgressToken: token, Progress: value}
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
