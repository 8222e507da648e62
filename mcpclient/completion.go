package mcpclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// Complete requests completions for the value of a prompt argument or of a resource template's argument. others are the
// arguments that already have values, or nil; the client does not send them to servers before 2025-06-18. The answer
// has at most 100 values, the best first. If the server sends more, the client cuts the answer to 100 values and sets
// HasMore.
//
// Servers can declare completion only from 2025-03-26 on. The client asks a server of 2024-11-05 without a declaration,
// and the server may refuse. (specification 2026-07-28, server/utilities/completion)
func (c *Client) Complete(
	ctx context.Context, ref mcp.CompleteRef, argument mcp.CompleteArgument, others map[string]string,
	options ...CallOption,
) (*mcp.CompleteResult, error) {
	p, r := &mcp.CompleteParams{Ref: ref, Argument: argument}, new(mcp.CompleteResult)
	err := c.operate(ctx, mcp.MethodComplete, p, options, func(ctx context.Context, options []CallOption) error {
		s, options, err := c.agreed(ctx, mcp.MethodComplete, options)
		switch {
		case err != nil:
			return err
		case s.Version >= mcp.Version20250326 && !hasCompletion(&s.Capabilities):
			return unsupported(mcp.MethodComplete, "completions")
		}
		if s.Version < mcp.Version20250618 {
			p.Ref.Title = ""
		} else if len(others) > 0 {
			p.Context = &mcp.CompleteContext{Arguments: others}
		}
		return c.Call(ctx, mcp.MethodComplete, p, r, options...)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// ErrSuperseded is wrapped in the error of a [Completer.Complete] call that a later call of the same Completer
// replaced.
var ErrSuperseded = errors.New("superseded by a later completion")

// DefaultCompletionDelay is the default delay of a [Completer].
const DefaultCompletionDelay = 150 * time.Millisecond

// Completer requests completions while a user types into one field, and skips requests for answers that the user would
// not see: a call sends its request only if no other call follows within the delay. Create one Completer for each
// field. The methods of a Completer may be called from any goroutine. A Completer need not be closed. (specification
// 2026-07-28, server/utilities/completion, "Implementation Considerations")
type Completer struct {
	client *Client
	delay  time.Duration

	mu   sync.Mutex
	stop context.CancelCauseFunc // ends the latest call; nil before the first; guarded by mu
}

// NewCompleter returns a Completer with this delay. Zero means [DefaultCompletionDelay]. A negative delay means no
// delay; a later call still cancels an earlier one.
func NewCompleter(c *Client, delay time.Duration) *Completer {
	if delay == 0 {
		delay = DefaultCompletionDelay
	}
	return &Completer{client: c, delay: delay}
}

// Complete calls [Client.Complete] after the delay. A later call of the same Completer cancels this call, which then
// returns an error of kind [KindCancelled] that wraps [ErrSuperseded]. ctx bounds the delay too. The timeout of the
// call begins after the delay.
func (k *Completer) Complete(
	ctx context.Context, ref mcp.CompleteRef, argument mcp.CompleteArgument, others map[string]string,
	options ...CallOption,
) (*mcp.CompleteResult, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	k.supersede(stop)
	if k.delay > 0 && !conn.PauseFor(ctx, k.delay) {
		return nil, errorOf(conn.Outlived(ctx, mcp.MethodComplete, true))
	}
	return k.client.Complete(ctx, ref, argument, others, options...)
}

// supersede ends the previous call, and stores stop for the present call.
func (k *Completer) supersede(stop context.CancelCauseFunc) {
	k.mu.Lock()
	before := k.stop
	k.stop = stop
	k.mu.Unlock()
	if before != nil {
		before(ErrSuperseded)
	}
}
