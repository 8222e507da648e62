package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mcpotel/mcpotel/internal/unit"
)

const (
	// DefaultLimit bounds the size of a file, in bytes, unless NewWriter gets another limit. It also bounds Open.
	DefaultLimit = 1 << 30
	// maxQueued bounds the queue of lines to write, in bytes. A single larger line is accepted if the queue is empty.
	maxQueued = 64 << 20
)

// ErrSlow ends a recording when lines arrive faster than they are written.
var ErrSlow = errors.New("the disk is too slow: " + unit.Size(maxQueued) + " are queued")

// ErrLimit ends a recording that has reached its size limit.
var ErrLimit = errors.New("the recording has reached its limit")

// Writer writes entries in its own goroutine, so that its callers do not wait for a disk. A full queue or a write
// error ends the recording, so a file has no gaps. Writer is safe for concurrent use.
type Writer struct {
	to      io.Writer
	limit   int64
	room    int           // bound of the queue, in bytes
	stopped func(error)   // called once if the recording ends before Close; nil for no call
	wake    chan struct{} // has room for one
	done    chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	queue   [][]byte // guarded by mu; lines to write
	size    int      // guarded by mu; bytes in queue and in lines that are being written
	total   int64    // guarded by mu; bytes of all accepted lines
	entries int      // guarded by mu
	ended   bool     // guarded by mu; no more lines are accepted
	why     error    // guarded by mu; why the recording ended before Close
}

// NewWriter returns a writer and queues the header. A limit of zero means DefaultLimit. If stopped is not nil, the
// writer calls it once when the recording ends before Close; Write does not wait for it. The caller must call Close.
func NewWriter(to io.Writer, h Header, limit int64, stopped func(error)) *Writer {
	if limit == 0 {
		limit = DefaultLimit
	}
	first := line(h)
	w := &Writer{
		to: to, limit: limit, room: maxQueued, stopped: stopped, wake: make(chan struct{}, 1), done: make(chan struct{}),
		queue: [][]byte{first}, size: len(first), total: int64(len(first)),
	}
	w.wake <- struct{}{}
	go w.run()
	return w
}

// Write queues an entry, and does not wait until it is written.
func (w *Writer) Write(e *Entry) {
	text := e.AppendLine(make([]byte, 0, 256+len(e.Content)))
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended:
		return
	case w.total+int64(len(text)) > w.limit:
		w.end(fmt.Errorf("%w of %s", ErrLimit, unit.Size(w.limit)))
		return
	case w.size > 0 && w.size+len(text) > w.room:
		w.end(ErrSlow)
		return
	}
	w.queue = append(w.queue, text)
	w.size += len(text)
	w.total += int64(len(text))
	w.entries++
	w.signal()
}

// end ends the recording. The caller holds mu.
func (w *Writer) end(why error) {
	if w.ended {
		return
	}
	w.ended, w.why = true, why
	last := End{End: true, Entries: w.entries}
	if why != nil {
		last.Why = why.Error()
	}
	w.queue = append(w.queue, line(last))
	w.signal()
}

// signal wakes the goroutine. The caller holds mu.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Close writes the queued lines and the last line, and returns why the recording ended early, or nil. If ctx ends
// first, Close returns its cause and abandons the pending write.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.end(nil)
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		return fmt.Errorf("write the end of the recording: %w", context.Cause(ctx))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// run writes lines until the recording ends.
func (w *Writer) run() {
	defer close(w.done)
	for range w.wake {
		lines, ended := w.dequeue()
		size := 0
		for _, text := range lines {
			if _, err := w.to.Write(text); err != nil {
				w.fail(err)
				return
			}
			size += len(text)
		}
		w.written(size)
		if ended {
			w.reportEnd()
			return
		}
	}
}

// dequeue empties the queue, and reports whether the recording has ended.
func (w *Writer) dequeue() (lines [][]byte, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines, w.queue = w.queue, nil
	return lines, w.ended
}

func (w *Writer) written(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size -= size
}

// fail ends the recording after a write error.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	w.ended, w.why, w.queue = true, err, nil
	w.mu.Unlock()
	w.reportEnd()
}

// reportEnd calls stopped if the recording ended before Close.
func (w *Writer) reportEnd() {
	w.mu.Lock()
	why := w.why
	w.mu.Unlock()
	if why != nil && w.stopped != nil {
		w.stopped(why)
	}
}
