package telemetry

import (
	"context"
	"log/slog"
	"sync"
)

// What waits for a log handler is bounded, by number and by size in bytes.
const (
	toldRecords = 1024
	toldBytes   = 1 << 20
)

// teller writes the log records of a client that no caller should wait for: those of what reads for all callers, connects
// and answers. They wait here for a log handler that is slow, in order, and a goroutine writes them that exists until all are
// written. Records for which there is no room are counted, and a record tells how many those were.
type teller struct {
	report func(lost int)

	mu      sync.Mutex
	queue   []toldRecord  // guarded by mu; what waits
	bytes   int           // guarded by mu; of that
	lost    int           // guarded by mu; records since the last report
	running bool          // guarded by mu; the goroutine exists
	idle    chan struct{} // guarded by mu; closed when there is nothing to write; nil unless that is waited for
}

type toldRecord struct {
	ctx     context.Context
	handler slog.Handler
	record  slog.Record
	size    int
}

// tell accepts a record, or counts it.
func (t *teller) tell(ctx context.Context, h slog.Handler, r slog.Record) {
	one := toldRecord{ctx, h, r.Clone(), recordSize(&r)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == toldRecords || t.bytes+one.size > toldBytes {
		t.lost++
		return
	}
	t.queue = append(t.queue, one)
	t.bytes += one.size
	if !t.running {
		t.running = true
		go t.run()
	}
}

// recordSize is about how much memory a record takes.
func recordSize(r *slog.Record) int {
	const base, perField = 400, 40
	size := base + len(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		size += perField + len(a.Key)
		if a.Value.Kind() == slog.KindString {
			size += len(a.Value.String())
		}
		return true
	})
	return size
}

// run writes what there is. It ends when that is all. A handler that ends its goroutine does not end the writing.
func (t *teller) run() {
	done := false
	defer func() {
		if !done {
			go t.run()
		}
	}()
	for {
		one, lost, ok := t.next()
		switch {
		case lost > 0:
			t.report(lost)
		case ok:
			_ = one.handler.Handle(one.ctx, one.record) // slog has no use for the error either
		default:
			done = true
			return
		}
	}
}

// next takes the first record from the queue, or, when that is empty, how many had no room in it.
func (t *teller) next() (one toldRecord, lost int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case len(t.queue) > 0:
		one, t.queue[0] = t.queue[0], one
		t.queue = t.queue[1:]
		t.bytes -= one.size
		return one, 0, true
	case t.lost > 0:
		lost, t.lost = t.lost, 0
		return one, lost, false
	}
	t.queue, t.running = nil, false
	if t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
	return one, 0, false
}

// flush waits until nothing is left to write, or until ctx ends, and then returns its cause.
func (t *teller) flush(ctx context.Context) error {
	t.mu.Lock()
	if !t.running {
		t.mu.Unlock()
		return nil
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	t.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tellerHandler hands records to a teller, for another handler.
type tellerHandler struct {
	slog.Handler
	t *teller
}

func (h tellerHandler) Handle(ctx context.Context, r slog.Record) error {
	h.t.tell(ctx, h.Handler, r)
	return nil
}

// Flush waits until the records that clients have written beside their callers have been taken by the log handler, or until
// ctx ends, and then returns its cause. [Client.Close] does so for one client; who logs a call waits for its own records.
func (t *Telemetry) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	for _, c := range t.gauges.everyClient() {
		if err := c.teller.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// logLost says how many records had no room.
func (c *Client) logLost(lost int) {
	if ctx := context.Background(); c.logs(ctx, slog.LevelWarn) {
		c.emit(ctx, slog.LevelWarn, eventClientLogLost, slog.Int(keyClientSuppressed, lost))
	}
}

// Untold says that so many transitions were not told of, because the user's function for them did not return in time.
func (c *Client) Untold(transitions int) {
	if c != nil {
		c.logLost(transitions)
	}
}
