package transport

import (
	"context"
	"sync"
)

// visitors are the workers of exchanges that are done in the goroutines of their senders.
var visitors = sync.Pool{New: func() any { return new(worker) }}

// mayBeInline reports whether the exchange can be done in the goroutine of its sender: nothing in it waits for a
// person, a user's function, or another message, and to end it tells the server all there is to tell, as it does in the
// modern era. (specification 2026-07-28, basic/patterns/cancellation)
func (ex *exchange) mayBeInline() bool {
	return ex.m.Inline != nil && ex.modern && ex.m.Kind == Request && ex.gate == nil && ex.conn.requests.prompt &&
		ex.conn.requests.authorizer == nil
}

// runInline does the exchange, and leaves what comes on a stream to a goroutine of the pool.
func (ex *exchange) runInline(ctx context.Context) {
	ex.m.Inline(ex.stop)
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, ex.stop)()
	}
	w := visitors.Get().(*worker)
	defer visitors.Put(w)
	defer func() {
		if ex.stream != nil {
			ex.conn.pool.run(ex)
			return
		}
		ex.finish()
		ex.conn.tasks.Done()
	}()
	if ex.Err() == nil && ex.state.CompareAndSwap(waiting, leaving) {
		ex.post(w)
	}
}
