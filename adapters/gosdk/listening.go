package gosdk

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

const (
	methodListen       = "subscriptions/listen"
	methodAcknowledged = "notifications/subscriptions/acknowledged"
)

type listeningKey struct{}

// listening ends the operation of a request that is being handled, once. That of subscriptions/listen, whose handler
// stays for as long as the stream does, ends with the acknowledgment: no span lasts as long as a stream.
type listening struct {
	mu sync.Mutex
	op *telemetry.Op
}

// withListening returns ctx and what ends op. The context leads the acknowledgment to it.
func withListening(ctx context.Context, op *telemetry.Op, method string) (context.Context, *listening) {
	l := &listening{op: op}
	if method == methodListen {
		ctx = context.WithValue(ctx, listeningKey{}, l)
	}
	return ctx, l
}

func (l *listening) end(r telemetry.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op.End(r)
}

// acknowledged ends the operation of the subscriptions/listen that ctx belongs to.
func acknowledged(ctx context.Context) {
	if l, ok := ctx.Value(listeningKey{}).(*listening); ok {
		l.end(telemetry.Result{})
	}
}
