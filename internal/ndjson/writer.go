package ndjson

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

var (
	// ErrBusy is returned by [Writer.Send] when the queue is full.
	ErrBusy = errors.New("write queue is full")
	// ErrClosed is wrapped by every error after [Writer.Close] or a failure of the stream. After a failure, the error also
	// wraps the cause.
	ErrClosed = errors.New("writer is closed")
	// ErrNewline is returned for a frame that contains a newline.
	ErrNewline = errors.New("frame contains a newline")
)

// DefaultQueue is the default bound of the queue: 256 KiB.
const DefaultQueue = 256 << 10

const (
	joined      = 64 << 10 // up to this size, a frame is copied, so that one write sends it with its newline
	maxWrites   = 16       // bound on the writes of one Send, for its own frame and for frames queued in the meantime
	keptWriting = 16 << 10 // largest memory to return to batches
	quietWrites = 64       // number of consecutive writes of at most keptWriting/4 after which the writer counts as quiet
	largeBurst  = 1 << 20  // memory above this size is released after a burst of frames
)

// Writer writes frames to a stream, each followed by a newline, never interleaved. All methods are safe for concurrent
// use.
//
// A sender that finds the stream idle writes its frame, without waiting for the peer. Frames that others send during
// that write are queued and go out together. If many goroutines send at once, the first sender lets them add their
// frames to its write. If the stream does not accept everything at once, a background goroutine writes the rest and
// then ends. If the stream cannot write without waiting (a file, a terminal, a pipe in blocking mode, anything that is
// not a descriptor), the goroutine does all writes.
//
// The memory is at most twice the queue, plus one frame if that frame is larger than the queue. With [Waited], each of
// these frames takes a time.Time more. An idle writer returns up to 16 KiB to a pool shared by all writers. It keeps
// larger memory until 64 writes in a row were small, but releases more than 1 MiB as soon as a burst of frames is over.
//
// The first error of the stream is final: the stream may have sent a part of a frame, so nothing can follow it.
type Writer struct {
	w     io.Writer
	try   *tryWriter // nil if w cannot write without waiting
	bound int

	waited func(time.Duration) // nil if waits are not reported

	mu    sync.Mutex // guards the fields down to changed
	queue *batch     // frames accepted during a write; may be nil if empty
	// number of frames being written; unless it is 0, one goroutine owns the stream
	writing    int
	large      bool             // the current write is larger than bound
	line       []*waiter        // senders that found no space, in order
	contention contention       // guesses whether other senders are about to send
	err        error            // final error; nil while the writer accepts frames
	changed    broadcast.Signal // sent whenever a write ends

	out       *batch // frames of the current write; the writing goroutine owns it; may be nil if empty
	few       int    // consecutive small writes; the writing goroutine owns it
	burst     bool   // a large batch with several frames was written; the writing goroutine owns it
	gathering bool   // set by the writing goroutine; while it is set, mu guards out and other senders may add to it
}

// Option is an option of [NewWriter].
type Option func(*Writer)

// Waited makes the writer call f with the time that each frame has waited, from its acceptance until its write is
// complete. Frames that their sender writes at once did not wait and are not reported, nor are dropped frames. The
// frames of one write all wait until the last of them has been written.
//
// The writing goroutine, which may be any sender, calls f without holding a lock: f must be quick. When [Writer.Flush]
// returns nil, all frames that waited have been reported. Waited(nil) has no effect; without the option, the writer
// reads no clock.
func Waited(f func(time.Duration)) Option { return func(w *Writer) { w.waited = f } }

// NewWriter returns a writer to w with a queue of at most queue bytes; zero means [DefaultQueue]. The writer accepts a
// larger frame when the queue is empty. The Writer never closes w, and nothing else may write to w.
func NewWriter(w io.Writer, queue int, options ...Option) *Writer {
	if queue <= 0 {
		queue = DefaultQueue
	}
	nw := &Writer{w: w, try: newTryWriter(w), bound: queue}
	for _, option := range options {
		option(nw)
	}
	return nw
}

// Send accepts a frame without waiting, neither for the peer nor for other senders; it does not keep frame. nil means
// accepted, not written. [ErrBusy] means that the queue is full now; [ErrClosed] means that the writer is closed for
// good.
//
// On an error, no byte of the frame was written or will be written. If the stream fails after a part of the frame, Send
// returns nil, and the next call returns the error.
func (w *Writer) Send(frame []byte) error {
	_, err := w.send(frame, false)
	return err
}

// SendWait is like Send, but waits for space. If ctx ends first, it returns the cause. Waiting calls are served in
// order, so smaller frames cannot overtake a frame larger than the queue forever.
func (w *Writer) SendWait(ctx context.Context, frame []byte) error {
	place, err := w.send(frame, true)
	if place == nil {
		return err
	}
	return w.wait(ctx, place)
}

// SendParts is like SendWait for a frame in parts. It copies no part, and returns when all parts have been written or
// the stream has failed. The end of ctx ends only the wait for earlier frames, not the write of this frame.
func (w *Writer) SendParts(ctx context.Context, parts ...[]byte) error {
	for _, p := range parts {
		if bytes.IndexByte(p, '\n') >= 0 {
			return ErrNewline
		}
	}
	if err := w.seize(ctx); err != nil {
		return err
	}
	for _, p := range append(parts, []byte("\n")) {
		if n, err := w.w.Write(p); err != nil || n < len(p) {
			return w.fail(cmp.Or(err, io.ErrShortWrite))
		}
	}
	if w.next() {
		go w.flush()
	}
	return nil
}

// send accepts the frame or returns an error. If there is no space and waits is set, it returns a waiter in the line.
func (w *Writer) send(frame []byte, waits bool) (*waiter, error) {
	if bytes.IndexByte(frame, '\n') >= 0 {
		return nil, ErrNewline
	}
	place, mine, err := w.accept(frame, waits)
	if mine {
		err = w.writeNow(frame)
	}
	return place, err
}

// accept is like send, but writes nothing: mine means that the caller must now write the frame. accept has a single
// defer, which stays on the stack: with a defer on each return path, the stacks of a server's goroutines had to grow.
func (w *Writer) accept(frame []byte, waits bool) (place *waiter, mine bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return nil, false, w.err
	case waits && len(w.line) > 0, !w.fits(len(frame) + 1):
		if !waits {
			return nil, false, ErrBusy
		}
		return w.lineUp(&waiter{frame: frame}), false, nil
	case w.gathering && w.queued() == 0 && len(w.out.data)+len(frame) < w.bound:
		w.out.add(frame)
		w.writing++
		return nil, false, nil
	case w.writing > 0:
		w.enqueue(frame)
		return nil, false, nil
	}
	w.writing, w.large = 1, len(frame)+1 > w.bound
	if w.out == nil {
		w.out = batches.Get().(*batch)
	}
	if w.try != nil && len(frame) <= joined && w.contention.likely() {
		w.gathering = true
		w.out.add(frame)
	}
	return nil, true, nil
}

// fits reports whether the writer can accept n more bytes. The caller holds mu.
func (w *Writer) fits(n int) bool {
	return w.queued() == 0 && (n <= w.bound || !w.large) || w.queue != nil && len(w.queue.data)+n <= w.bound
}

// enqueue adds the frame to the queue. The caller holds mu.
func (w *Writer) enqueue(frame []byte) {
	if w.queue == nil {
		w.queue = batches.Get().(*batch)
	}
	w.queue.add(frame)
	if w.waited != nil {
		w.queue.stamp()
	}
}

// queued returns the number of frames in the queue. The caller holds mu.
func (w *Writer) queued() int {
	if w.queue == nil {
		return 0
	}
	return w.queue.frames
}

// writeNow writes the frame, and frames queued in the meantime, as far as that works without waiting. The caller owns
// the stream. If the stream fails, writeNow returns the error only if no byte of the frame has left.
func (w *Writer) writeNow(frame []byte) error {
	if w.try == nil {
		w.out.add(frame)
		w.writeLater()
		return nil
	}
	left := 0
	switch {
	case w.gathering:
		w.gather()
	case len(frame) > joined:
		n, err := w.try.write(frame)
		if err != nil {
			return w.fail(err)
		}
		left = n
		w.out.add(frame[n:])
	default:
		w.out.add(frame)
	}
	for range maxWrites {
		n, err := w.try.write(w.out.data)
		left += n
		if err != nil {
			if err = w.fail(err); left > 0 {
				return nil
			}
			return err
		}
		if n < len(w.out.data) {
			w.out.data = append(w.out.data[:0], w.out.data[n:]...)
			break
		}
		if !w.next() {
			return nil
		}
	}
	w.writeLater()
	return nil
}

// writeLater starts a goroutine that flushes. Frames that went into w.out without queueing begin to wait now.
func (w *Writer) writeLater() {
	if w.waited != nil {
		w.out.stamp()
	}
	go w.flush()
}

// flush writes all frames and waits for the peer as long as necessary. It ends when no frame is left, or when the
// stream fails. Close makes the stream fail.
func (w *Writer) flush() {
	for {
		n, err := w.w.Write(w.out.data)
		if err == nil && n < len(w.out.data) {
			err = io.ErrShortWrite
		}
		if err != nil {
			w.fail(err)
			return
		}
		if !w.next() {
			return
		}
	}
}

// next moves the queued frames to w.out, after the previous frames in w.out have been written. It reports false if
// there is nothing to write; then the caller no longer owns the stream.
func (w *Writer) next() bool {
	w.out.report(w.waited)
	if w.few++; len(w.out.data) > keptWriting/4 {
		w.few = 0
	}
	w.burst = w.burst || w.out.frames > 1 && w.out.memory() > largeBurst
	w.out.reset()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed.Send()
	w.large = false
	if w.queued() == 0 {
		w.admit()
	}
	if w.queued() > 0 { // otherwise keep the larger memory where it is
		w.out, w.queue = w.queue, w.out
	}
	w.writing, w.large = w.out.frames, len(w.out.data) > w.bound
	if w.writing > 0 {
		w.admit()
		w.contention.found()
		return true
	}
	if !w.handOver() {
		w.giveBack()
	}
	return false
}

// giveBack releases the writer's memory, unless it has written much recently. The caller holds mu.
func (w *Writer) giveBack() {
	switch held := w.out.memory() + w.queue.memory(); {
	case held <= keptWriting:
		batches.Put(w.out)
		if w.queue != nil {
			batches.Put(w.queue)
		}
	case w.few < quietWrites && !w.burst:
		return
	}
	w.out, w.queue, w.line, w.burst = nil, nil, nil, false
}

// fail closes the writer because of err, and returns the error for all further calls of Send.
func (w *Writer) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	w.queue, w.out, w.writing, w.large = nil, nil, 0, false
	w.turnAway()
	w.changed.Send()
	return w.err
}

// Queued returns the number of accepted frames that have not left, including those being written. Frames of one write
// leave together.
func (w *Writer) Queued() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queued() + w.writing
}
