package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

var errAbandoned = errors.New("abandoned at shutdown")

// A link stands between one signal's exporter and the collector, so that a shutdown is short when the collector is not
// there. Left alone, an exporter answers a refused connection by waiting seconds for the next try, and the SDK's
// shutdown waits with it until its deadline, at the end of every run of every program. A link
//
//   - lets everything pass while the program runs;
//   - at lastTry, ends an export that is only waiting to try again, and from then on makes a failed try the last one;
//   - from abandon on, ends and refuses every export, so that nothing the SDK still has at work outlives the shutdown.
type link struct {
	life context.Context // over after abandon
	end  context.CancelCauseFunc

	// whole says that each batch has all that was in those before, as that of cumulative metrics: if one is delivered,
	// nothing is lost. The SDK's shutdown cancels the one at work and then sends the last.
	whole bool

	idle func() // closes the connections that nothing is sent on; set before the link is used, nil for none

	mu      sync.Mutex
	closing bool                    // guarded by mu
	failing bool                    // guarded by mu: the last try failed and no other has begun
	batch   context.Context         // guarded by mu: over when the exports at work are given up; then replaced
	giveUp  context.CancelCauseFunc // guarded by mu: ends batch
	lost    error                   // guarded by mu: of the last export that failed after lastTry
}

func newLink() *link {
	l := &link{}
	l.life, l.end = context.WithCancelCause(context.Background())
	l.batch, l.giveUp = context.WithCancelCause(l.life)
	return l
}

// do runs one call of the exporter: one or more tries to deliver a batch.
func (l *link) do(ctx context.Context, export func(context.Context) error) error {
	l.mu.Lock()
	batch := l.batch
	l.mu.Unlock()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(batch, func() { cancel(errAbandoned) })()
	err := export(ctx)
	l.exported(err)
	return err
}

// exported notes what came of an export.
func (l *link) exported(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing && (err != nil || l.whole) {
		l.lost = err
	}
}

// intercept is a [grpc.UnaryClientInterceptor]: it sees every try.
func (l *link) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, try grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	l.tried(nil)
	err := try(ctx, method, req, reply, cc, opts...)
	if closing := l.tried(err); closing && err != nil {
		// Without its gRPC code no error is retryable.
		return errors.New(status.Convert(err).Message())
	}
	return err
}

// transport is how an exporter over HTTP reaches a collector: it sees every try.
type transport struct {
	*link
	next http.RoundTripper
}

// RoundTrip makes one try. The exporters try again after an error that says it is temporary, and after some statuses. A
// collector that cannot be reached is one that is away for a while.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.tried(nil)
	resp, err := t.next.RoundTrip(req)
	failure := err
	if err == nil && resp.StatusCode/100 != 2 {
		failure = fmt.Errorf("the collector answers %s", resp.Status)
	}
	closing := t.tried(failure)
	switch {
	case failure != nil && closing:
		if err == nil {
			_ = resp.Body.Close()
		}
		return nil, errors.New(failure.Error())
	case err != nil:
		return nil, temporary{err}
	}
	return resp, nil
}

// temporary is an error after which an exporter tries again.
type temporary struct{ error }

func (temporary) Temporary() bool { return true }
func (e temporary) Unwrap() error { return e.error }

func (l *link) tried(err error) (closing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing = err != nil
	return l.closing
}

func (l *link) lastTry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
	if l.failing {
		l.giveUp(errAbandoned)
		l.batch, l.giveUp = context.WithCancelCause(l.life)
	}
}

func (l *link) abandon() {
	l.end(errAbandoned)
	if l.idle != nil {
		l.idle()
	}
}

// loss is why something was not delivered since lastTry, if so.
func (l *link) loss() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}
