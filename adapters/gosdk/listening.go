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

// listening ends the operation of a request that is being handled, once. That of subscriptions/listen, whose handler
// stays for as long as the stream does, ends with the acknowledgment: no span lasts as long as a stream.
type listening struct {
	mu     sync.Mutex
	op     *instrument.Op
	opened func(kind string) func()
	gone   func() // ends the stream, nil if there is none
}

// withListening returns ctx and what ends op. The context leads the acknowledgment to it.
func withListening(ctx context.Context, op *instrument.Op, method string,
	opened func(kind string) func()) (context.Context, *listening) {
	l := &listening{op: op, opened: opened}
	if method == methodListen {
		ctx = context.WithValue(ctx, listeningKey{}, l)
	}
	return ctx, l
}

// over says that the handler has returned.
func (l *listening) over(r instrument.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op.End(r)
	if l.gone != nil {
		l.gone()
	}
}

// acknowledged ends the operation of the subscriptions/listen that ctx belongs to, and begins the stream.
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
