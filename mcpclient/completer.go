package mcpclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrSuperseded is in the error of a [Completer.Complete] whose place a later one of the same Completer has taken.
var ErrSuperseded = errors.New("superseded by a later completion")

// DefaultCompletionDelay is how long a [Completer] waits for the next character unless its user says otherwise.
const DefaultCompletionDelay = 150 * time.Millisecond

// Completer asks for completions while a user types into one field, and spares the server those that the user will not
// see: it waits until no other call has come for a while, and only the latest call goes on. Make one for each field.
// Its methods may be called from any goroutine. It holds nothing that has to be freed. (specification 2026-07-28,
// server/utilities/completion, "Implementation Considerations")
type Completer struct {
	client *Client
	delay  time.Duration

	mu   sync.Mutex
	stop context.CancelCauseFunc // guarded by mu; ends the latest call, if it has not ended; nil before the first
}

// NewCompleter returns a Completer that waits for delay. Zero means [DefaultCompletionDelay], negative no time: then
// calls are only superseded.
func NewCompleter(c *Client, delay time.Duration) *Completer {
	if delay == 0 {
		delay = DefaultCompletionDelay
	}
	return &Completer{client: c, delay: delay}
}

// Complete is [Client.Complete], after the delay. A later call of the same Completer ends it at once with an error of
// kind [KindCancelled] that wraps [ErrSuperseded]; a request that was under way is cancelled. ctx bounds the delay,
// too; the timeout of the call begins behind it.
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

// supersede ends the call before, and makes stop the one that ends the latest.
func (k *Completer) supersede(stop context.CancelCauseFunc) {
	k.mu.Lock()
	before := k.stop
	k.stop = stop
	k.mu.Unlock()
	if before != nil {
		before(ErrSuperseded)
	}
}
