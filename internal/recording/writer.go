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
	// DefaultLimit is how many bytes a file has at most, unless its writer is told otherwise. No more of a file is read.
	DefaultLimit = 1 << 30
	// maxQueued bounds, in bytes, what waits to be written.
	maxQueued = 64 << 20 // or one line that is larger by itself
)

// ErrSlow is why a recording ends whose lines are written more slowly than they come.
var ErrSlow = errors.New("what it is written to is too slow: " + unit.Size(maxQueued) + " wait")

// ErrLimit is why a recording ends that has reached its size.
var ErrLimit = errors.New("it has reached its limit")

// Writer writes lines in a goroutine of its own, so that the caller does not wait for a disk. What comes faster than it
// can be written, or after an error, ends the recording: what is in the file has no hole. It is safe for concurrent
// use.
type Writer struct {
	to      io.Writer
	limit   int64
	room    int // for what waits, in bytes
	stopped func(error)
	wake    chan struct{} // has room for one
	done    chan struct{} // is closed when the goroutine has ended

	mu      sync.Mutex
	queue   [][]byte // guarded by mu; lines
	size    int      // guarded by mu; theirs, in bytes, and of those that are being written
	total   int64    // guarded by mu; of all lines that were accepted
	entries int      // guarded by mu
	ended   bool     // guarded by mu; nothing more is accepted
	why     error    // guarded by mu; it has ended before Close
}

// NewWriter returns a writer, which has written the header. A limit of zero is DefaultLimit. stopped, if it is not nil,
// is called once if the recording ends before Close, and is not waited for by those who write. End it with Close.
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

// Write has an entry written, and does not wait for that.
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

// end accepts nothing more. mu is held.
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

// signal wakes the goroutine. mu is held.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Close writes what waits and the last line, and returns why the recording ended before, if it did. When ctx ends
// first, it returns its cause, and the write that hangs is left behind.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.end(nil)
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		return fmt.Errorf("the end of the recording is not written: %w", context.Cause(ctx))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// run writes until the recording ends.
func (w *Writer) run() {
	defer close(w.done)
	for range w.wake {
		lines, ended := w.take()
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
			w.tell()
			return
		}
	}
}

// take returns what waits, and whether that is all.
func (w *Writer) take() (lines [][]byte, ended bool) {
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

// fail ends the recording because of an error of a write.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	w.ended, w.why, w.queue = true, err, nil
	w.mu.Unlock()
	w.tell()
}

// tell says why the recording has ended before Close, if it has.
func (w *Writer) tell() {
	w.mu.Lock()
	why := w.why
	w.mu.Unlock()
	if why != nil && w.stopped != nil {
		w.stopped(why)
	}
}
