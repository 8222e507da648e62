// Package records decides whether a log record is written, and by which goroutine. A [Limiter] limits the records of
// each event and reason. A [Queue] writes records for which no goroutine should wait.
package records

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// Limits for the records that wait for a log handler, by number and by size in bytes. The limits of a server are
// higher, because many clients may connect at the same time.
const (
	MaxRecords = 1024
	MaxBytes   = 1 << 20

	MaxRecordsOfServer = 32 << 10
	MaxBytesOfServer   = 16 << 20
)

// Queue writes the records for which no goroutine of a client or server should wait: records of reading, connecting and
// answering. The records wait in order for the log handler. A goroutine writes them, and ends when the queue is empty.
// The queue drops records beyond its limits, and a later record contains their number.
//
// A Queue must be initialized with Init.
type Queue struct {
	owner Owner

	mu       sync.Mutex
	waiting  []queued         // guarded by mu
	bytes    int32            // guarded by mu; size of waiting in bytes
	running  bool             // guarded by mu; the goroutine exists
	lost     int              // guarded by mu; dropped records since the last report
	accepted uint64           // guarded by mu; number of all accepted records
	written  uint64           // guarded by mu; number of written records
	moved    broadcast.Signal // guarded by mu; sent when another record is written
}

// Owner is the client or server for which a Queue writes.
type Owner interface {
	// QueueLimits returns the maximum number of waiting records, and their maximum size in bytes.
	QueueLimits() (records, bytes int)

	// RunningQueues returns the set that contains the Queue while its goroutine runs.
	RunningQueues() *Set

	// StartWriting is called in the goroutine of the Queue before the goroutine writes. An operation may have started the
	// goroutine, which then has the profile labels of that operation.
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

// sizeOf estimates the memory of a record in bytes.
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

// run writes the records, and returns when the queue is empty. If a log handler ends the goroutine with runtime.Goexit,
// run starts another goroutine, which continues with the next record.
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
			_ = one.handler.Handle(one.ctx, one.record) // slog ignores the error, too
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

// next removes and returns the first record of the queue, with ok set. If the queue is empty, lost is the number of
// dropped records. If the queue is empty and lost is zero, run must return.
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

// Flush waits until all records that were accepted before the call are written. If ctx ends first, Flush returns its
// cause.
func (q *Queue) Flush(ctx context.Context) error {
	q.mu.Lock()
	until := q.accepted
	if q.lost > 0 {
		until++ // for the record about dropped records
	}
	q.mu.Unlock()
	return q.moved.Await(ctx, &q.mu, func() bool { return !q.running || q.written >= until })
}

// handler adds the records for another handler to a queue.
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
