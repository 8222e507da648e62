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
	// ErrBusy is returned by [Writer.Send] when the frames that wait to be written have reached the bound.
	ErrBusy = errors.New("write queue is full")
	// ErrClosed is in every error after [Writer.Close], and after the stream has failed; then the cause is too.
	ErrClosed = errors.New("writer is closed")
	// ErrNewline is returned for a frame that has a newline in it.
	ErrNewline = errors.New("frame contains a newline")
)

// DefaultQueue is the bound of the queue when none is given: 256 KiB.
const DefaultQueue = 256 << 10

const (
	joined      = 64 << 10 // up to this size, a frame is copied, so that its newline goes out in the same write
	maxWrites   = 16       // so often a sender that writes also writes what others have queued meanwhile
	keptWriting = 16 << 10 // what is worth giving to other writers
	quietWrites = 64       // so many writes in a row of a quarter of that at most make it idle
	largeBurst  = 1 << 20  // what many frames have waited in is not kept if it is larger
)

// Writer writes frames to a stream, each with a newline behind it, never one inside another. All its methods may be
// called from any goroutine.
//
// A sender that finds the stream free writes, once and without waiting for the peer. What others send meanwhile is
// queued and goes out together. Where many send at once, the one that writes first lets them add their frames to the
// same write. What the stream does not take at once is left to a goroutine, which ends when all is written. A stream
// that cannot be asked to write without waiting (a file, a terminal, a pipe in blocking mode, anything that is not a
// descriptor) is left to that goroutine altogether.
//
// So memory is bounded by twice the queue, plus one frame when that is larger than the queue; with [Waited], by a time
// for each of these frames too. Up to 16 KiB that are not in use go to other writers. More is kept until 64 writes in a
// row were small; more than 1 MiB in which many frames have waited is given up when they have left.
//
// The first error of the stream is kept: a frame may have been written in part then, so nothing can follow it.
type Writer struct {
	w     io.Writer
	try   *tryWriter // nil if w cannot write without waiting
	bound int

	waited func(time.Duration) // nil if the times are not reported

	mu    sync.Mutex // guards what follows, down to changed
	queue *batch     // frames accepted while another was written; nil if there may be none
	// frames being written; unless it is 0, one goroutine, the one that writes, owns the stream
	writing    int
	large      bool             // what is being written is larger than the bound
	line       []*waiter        // those that found no space, in their order
	contention contention       // whether others are about to send
	err        error            // why no frame is accepted any more
	changed    broadcast.Signal // sent when the writing ends, and when it goes on

	out       *batch // what is being written, owned by the goroutine that writes; nil if there may be nothing
	few       int    // small writes in a row, owned by the goroutine that writes
	burst     bool   // there have been many frames in much memory; owned by the goroutine that writes
	gathering bool   // while it is set, by the goroutine that writes, out is guarded by mu and others may add to it
}

// Option is an option of [NewWriter].
type Option func(*Writer)

// Waited makes the writer call f with the time each frame has waited, from its acceptance until it has left. A frame
// that is written at once by its sender has not waited and is not reported, nor is one that is dropped. Frames that are
// written together have left when the last of them has.
//
// f is called without a lock held, from the goroutine that writes, which may be any that sends: it must be quick. When
// [Writer.Flush] returns nil, it has been called for all that waited. A nil f is no option, and without it no clock is
// read.
func Waited(f func(time.Duration)) Option { return func(w *Writer) { w.waited = f } }

// NewWriter returns a writer to w whose queue holds at most queue bytes; zero means [DefaultQueue]. A frame that is
// larger is accepted when no other is waiting. The Writer never closes w, and nothing else may write to it.
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

// Send accepts a frame without waiting, neither for the peer nor for other senders to finish; it does not keep frame.
// nil means accepted, not written. [ErrBusy] says that there is no space for it now, [ErrClosed] that there never will
// be.
//
// An error means that no byte of the frame has left and none will. When the stream fails after a part of it, Send
// returns nil, and the next call gets the error.
func (w *Writer) Send(frame []byte) error {
	_, err := w.send(frame, false)
	return err
}

// SendWait is Send that waits for space until ctx ends, and then returns the cause. Calls that wait are served in their
// order, so that a frame larger than the queue is not overtaken for ever.
func (w *Writer) SendWait(ctx context.Context, frame []byte) error {
	place, err := w.send(frame, true)
	if place == nil {
		return err
	}
	return w.wait(ctx, place)
}

// SendParts is SendWait for a frame in parts, none of which it copies: it returns when they have left, or the stream
// has failed. The end of ctx ends the wait for the frames before, and not that for the peer to take this one.
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

// send accepts the frame, or returns [ErrBusy] or, to a sender that waits, its place in the line.
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

// accept is send, except that it writes nothing: mine says that it is for the caller to write, now. The lock has one
// defer, on the stack: those of many ways out took memory by which the stacks of a server's goroutines had to grow.
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

// fits reports whether n bytes more may be accepted. mu is held.
func (w *Writer) fits(n int) bool {
	return w.queued() == 0 && (n <= w.bound || !w.large) || w.queue != nil && len(w.queue.data)+n <= w.bound
}

// enqueue puts the frame into the queue. mu is held.
func (w *Writer) enqueue(frame []byte) {
	if w.queue == nil {
		w.queue = batches.Get().(*batch)
	}
	w.queue.add(frame)
	if w.waited != nil {
		w.queue.stamp()
	}
}

// queued returns how many frames are in the queue. mu is held.
func (w *Writer) queued() int {
	if w.queue == nil {
		return 0
	}
	return w.queue.frames
}

// writeNow writes the frame, and what is queued meanwhile, as far as that goes without waiting. The caller has set
// leaving. When the stream fails, it returns the error only if no byte of the frame has left.
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

// writeLater leaves out to a goroutine. Frames in it that are not from the queue begin to wait now.
func (w *Writer) writeLater() {
	if w.waited != nil {
		w.out.stamp()
	}
	go w.flush()
}

// flush writes all there is and waits for the peer as long as that takes. It ends when nothing is left, or the stream
// fails, which Close brings about.
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

// next takes the queue for out, which has been written. It reports false, and gives up the stream, if there is nothing.
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
	if w.queued() > 0 { // else one of them has all the memory
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

// giveBack gives away what the writer has to write in, unless it has written much lately. mu is held.
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

// fail gives up the stream for good because of err, and returns what Send has to return from now on.
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

// Queued returns how many of the frames accepted have not left, those that are being written included. Frames that are
// written together leave when the last of them has.
func (w *Writer) Queued() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queued() + w.writing
}
