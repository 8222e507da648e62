// Package records decides whether a log record is written, and by which goroutine. A [Limiter] bounds the records of
// each event and reason. A [Queue] writes records that no goroutine should wait for.
package records

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// Records that wait for a log handler are bounded, by number and by size in bytes. The limits of a server are higher,
// since many clients may arrive at once.
const (
	MaxRecords = 1024
	MaxBytes   = 1 << 20

	MaxRecordsOfServer = 32 << 10
	MaxBytesOfServer   = 16 << 20
)

// Queue writes the records that no goroutine of a client or server should wait for: records of reading, connecting
// and answering. They wait in order for the log handler. A goroutine writes them and ends when the queue is empty.
// Records that exceed the limits are dropped, and a record reports how many.
//
// A Queue is ready after Init.
type Queue struct {
	owner Owner

	mu       sync.Mutex
	waiting  []queued         // guarded by mu
	bytes    int32            // guarded by mu; the size of waiting
	running  bool             // guarded by mu; the goroutine exists
	lost     int              // guarded by mu; dropped records since the last report
	accepted uint64           // guarded by mu; number of all accepted records
	written  uint64           // guarded by mu; number of written records
	moved    broadcast.Signal // guarded by mu; sent when another record is written
}

// Owner is the client or server that a Queue writes for.
type Owner interface {
	// QueueLimits returns how many records and bytes may wait.
	QueueLimits() (records, bytes int)

	// RunningQueues returns the set that has the Queue while its goroutine runs.
	RunningQueues() *Set

	// StartWriting runs in the goroutine of the Queue before it writes. An operation may have started the goroutine,
	// which then has the profile labels of the operation.
	StartWriting()

	// ReportLost writes a record about the number of dropped records.
	ReportLost(records int)
}

type queued struct {
	ctx     context.Context
	handler slog.Handler
	record  slog.Record
	size    int
}

// Init sets the owner of the Queue.
func (q *Queue) Init(o Owner) { q.owner = o }

// Handler returns a handler that passes its records to h through the Queue.
func (q *Queue) Handler(h slog.Handler) slog.Handler { return handler{h, q} }

// add accepts a record, or counts it as dropped.
func (q *Queue) add(ctx context.Context, h slog.Handler, r slog.Record) {
	one := queued{ctx, h, r.Clone(), sizeOf(&r)}
	records, bytes := q.owner.QueueLimits()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == records || int(q.bytes)+one.size > bytes {
		q.lost++
		return
	}
	q.waiting = append(q.waiting, one)
	q.bytes += int32(one.size)
	q.accepted++
	if !q.running {
		q.running = true
		q.owner.RunningQueues().add(q)
		go q.run()
	}
}

// sizeOf returns an estimate of the memory that a record takes.
func sizeOf(r *slog.Record) int {
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

// run writes the records, and returns when the queue is empty. If a handler ends the goroutine, another run
// continues.
func (q *Queue) run() {
	q.owner.StartWriting()
	done := false
	defer func() {
		if !done {
			q.wrote()
			go q.run()
		}
	}()
	for {
		one, lost, ok := q.next()
		switch {
		case lost > 0:
			q.owner.ReportLost(lost)
		case ok:
			_ = one.handler.Handle(one.ctx, one.record) // slog ignores the error as well
			q.wrote()
		default:
			done = true
			return
		}
	}
}

// wrote counts a written record.
func (q *Queue) wrote() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.written++
	q.moved.Send()
}

// next removes and returns the first record of the queue. If the queue is empty, it returns the number of dropped
// records instead. If that is zero too, the goroutine ends.
func (q *Queue) next() (one queued, lost int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.waiting) > 0:
		one, q.waiting[0] = q.waiting[0], one
		q.waiting = q.waiting[1:]
		q.bytes -= int32(one.size)
		return one, 0, true
	case q.lost > 0:
		lost, q.lost = q.lost, 0
		return one, lost, false
	}
	q.waiting, q.running = nil, false
	q.owner.RunningQueues().remove(q)
	q.moved.Send()
	return one, 0, false
}

// Flush waits until all records that were accepted so far are written. If ctx ends first, Flush returns its cause.
func (q *Queue) Flush(ctx context.Context) error {
	q.mu.Lock()
	until := q.accepted
	if q.lost > 0 {
		until++ // for the record about dropped records
	}
	q.mu.Unlock()
	return q.moved.Await(ctx, &q.mu, func() bool { return !q.running || q.written >= until })
}

// handler adds records to a queue, for another handler.
type handler struct {
	slog.Handler
	q *Queue
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	h.q.add(ctx, h.Handler, r)
	return nil
}

// Set holds the queues of a Telemetry that have a running goroutine.
type Set struct {
	mu  sync.Mutex
	all map[*Queue]struct{} // guarded by mu
}

func (s *Set) add(q *Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*Queue]struct{}{}
	}
	s.all[q] = struct{}{}
}

func (s *Set) remove(q *Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, q)
}

func (s *Set) snapshot() []*Queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.all))
}

// Flush flushes each queue. If ctx ends first, it returns the cause of ctx.
func (s *Set) Flush(ctx context.Context) error {
	for _, q := range s.snapshot() {
		if err := q.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}
