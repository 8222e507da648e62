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

var errAbandoned = errors.New("the export was abandoned at shutdown")

// A link stands between one signal's exporter and the collector, to keep a shutdown short when the collector is down.
// Without a link, an exporter waits seconds to retry after a refused connection. The SDK's shutdown would wait for the
// exporter, up to the deadline of the shutdown, at the end of every program. A link
//
//   - passes everything while the program runs;
//   - at lastTry, ends an export that is only waiting to retry, and from then on makes a failed try the last;
//   - at abandon, ends and refuses every export, so that no work of the SDK outlives the shutdown.
type link struct {
	life context.Context // context that abandon ends
	end  context.CancelCauseFunc

	// whole means that each batch includes the data of earlier batches, as with cumulative metrics. Nothing is lost if the
	// last batch is delivered: the SDK's shutdown cancels the running export and then sends the last one.
	whole bool

	idle func() // closes idle connections; set before the link is used, nil for none

	mu      sync.Mutex
	closing bool                    // guarded by mu
	failing bool                    // guarded by mu; the last try failed and no other has started
	batch   context.Context         // guarded by mu; lastTry ends it, to give up the running exports, and replaces it
	giveUp  context.CancelCauseFunc // guarded by mu; ends batch
	lost    error                   // guarded by mu; error of the last failed export after lastTry
}

func newLink() *link {
	l := &link{}
	l.life, l.end = context.WithCancelCause(context.Background())
	l.batch, l.giveUp = context.WithCancelCause(l.life)
	return l
}

// do runs one export, with one or more tries to deliver a batch.
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

// exported records the outcome of an export.
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

// transport is the HTTP transport of an exporter: it sees every try.
type transport struct {
	*link
	next http.RoundTripper
}

// RoundTrip makes one try. Exporters retry after a temporary error, and after some statuses. An unreachable collector
// is a temporary error.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.tried(nil)
	resp, err := t.next.RoundTrip(req)
	failure := err
	if err == nil && resp.StatusCode/100 != 2 {
		failure = fmt.Errorf("the collector answered %s", resp.Status)
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

// temporary marks an error after which an exporter retries.
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

// loss returns the error of data that was not delivered since lastTry, or nil.
func (l *link) loss() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}
