package instrument

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// What waits for a log handler is bounded, by number and by size in bytes. A server has many clients, who may all come
// at once.
const (
	toldRecords = 1024
	toldBytes   = 1 << 20

	toldRecordsOfServer = 32 << 10
	toldBytesOfServer   = 16 << 20
)

// teller writes the log records of a client or a server that no goroutine should wait for: those of what reads for all,
// connects and answers. They wait here for a log handler that is slow, in order, and a goroutine writes them that
// exists until all are written. Records for which there is no room are counted, and a record tells how many those were.
type teller struct {
	side *side

	mu       sync.Mutex
	queue    []toldRecord     // guarded by mu; what waits
	bytes    int32            // guarded by mu; of that
	running  bool             // guarded by mu; the goroutine exists
	lost     int              // guarded by mu; records since the last report
	accepted uint64           // guarded by mu; records so far
	written  uint64           // guarded by mu; of those
	moved    broadcast.Signal // guarded by mu; sent when another is written
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
	records, bytes := toldRecords, toldBytes
	if t.side.which == telemetry.ServerSide {
		records, bytes = toldRecordsOfServer, toldBytesOfServer
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == records || int(t.bytes)+one.size > bytes {
		t.lost++
		return
	}
	t.queue = append(t.queue, one)
	t.bytes += int32(one.size)
	t.accepted++
	if !t.running {
		t.running = true
		t.side.tel.tellers.add(t)
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
	t.side.setLabels(context.Background()) // it may have been started by an operation that has labels
	done := false
	defer func() {
		if !done {
			t.wrote()
			go t.run()
		}
	}()
	for {
		one, lost, ok := t.next()
		switch {
		case lost > 0:
			t.side.logLost(lost)
		case ok:
			_ = one.handler.Handle(one.ctx, one.record) // slog has no use for the error either
			t.wrote()
		default:
			done = true
			return
		}
	}
}

// wrote says that a record has been written.
func (t *teller) wrote() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written++
	t.moved.Send()
}

// next takes the first record from the queue, or, when that is empty, how many had no room in it.
func (t *teller) next() (one toldRecord, lost int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case len(t.queue) > 0:
		one, t.queue[0] = t.queue[0], one
		t.queue = t.queue[1:]
		t.bytes -= int32(one.size)
		return one, 0, true
	case t.lost > 0:
		lost, t.lost = t.lost, 0
		return one, lost, false
	}
	t.queue, t.running = nil, false
	t.side.tel.tellers.remove(t)
	t.moved.Send()
	return one, 0, false
}

// flush waits until all that has been told so far is written, or until ctx ends, and then returns its cause.
func (t *teller) flush(ctx context.Context) error {
	t.mu.Lock()
	until := t.accepted
	if t.lost > 0 {
		until++ // the report
	}
	t.mu.Unlock()
	return t.moved.Await(ctx, &t.mu, func() bool { return !t.running || t.written >= until })
}

// tellers are those that are at work.
type tellers struct {
	mu  sync.Mutex
	all map[*teller]struct{} // guarded by mu
}

func (t *tellers) add(one *teller) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[*teller]struct{}{}
	}
	t.all[one] = struct{}{}
}

func (t *tellers) remove(one *teller) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, one)
}

func (t *tellers) snapshot() []*teller {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.all))
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

// Flush waits until the log handler has taken all records that tellers have accepted so far, or until ctx ends, and
// then returns its cause.
func (h *hub) Flush(ctx context.Context) error {
	for _, one := range h.tellers.snapshot() {
		if err := one.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// logLost says how many records had no room.
func (s *side) logLost(lost int) {
	if ctx := context.Background(); s.logs(ctx, slog.LevelWarn) {
		s.emit(ctx, slog.LevelWarn, s.events.logLost, slog.Int(s.keys.suppressed, lost))
	}
}

// Untold says that so many transitions were not told of, because the user's function for them did not return in time.
func (c *Client) Untold(transitions int) {
	if c != nil {
		c.logLost(transitions)
	}
}
