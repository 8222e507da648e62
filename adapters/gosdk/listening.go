package gosdk

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

const (
	methodListen       = "subscriptions/listen"
	methodAcknowledged = "notifications/subscriptions/acknowledged"
)

type listeningKey struct{}

// listening ends the operation of a request that is being handled, once. The operation of subscriptions/listen ends
// with the acknowledgment, because its handler runs as long as the stream, and no span lasts that long.
type listening struct {
	mu     sync.Mutex
	op     *instrument.Op
	opened func(kind string) func()
	gone   func() // ends the stream; nil without a stream
}

// withListening returns the listening that ends op, and a context from which acknowledged finds it.
func withListening(ctx context.Context, op *instrument.Op, method string,
	opened func(kind string) func()) (context.Context, *listening) {
	l := &listening{op: op, opened: opened}
	if method == methodListen {
		ctx = context.WithValue(ctx, listeningKey{}, l)
	}
	return ctx, l
}

// over records that the handler has returned.
func (l *listening) over(r instrument.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op.End(r)
	if l.gone != nil {
		l.gone()
	}
}

// acknowledged ends the operation of the subscriptions/listen that ctx belongs to, and starts the stream.
func acknowledged(ctx context.Context) {
	l, ok := ctx.Value(listeningKey{}).(*listening)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op.End(instrument.Result{})
	if l.opened != nil && l.gone == nil {
		l.gone = l.opened(names.StreamListen)
	}
}
