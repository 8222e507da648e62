package ndjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
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
	turns       = 16       // so often the sender that holds the stream writes what others have queued meanwhile
	keptWriting = 16 << 10 // what an idle writer may hold
)

// Writer writes frames to a stream, each with a newline behind it, never one inside another. All its methods may be
// called from any goroutine.
//
// Whoever finds the stream free writes, once and without waiting for the peer; what others send meanwhile is queued and
// goes out together. What the stream does not take at once is left to a goroutine that exists until all is written. A
// stream that cannot be asked to write without waiting (a file, a terminal, a pipe in blocking mode, anything that is not
// a descriptor) is left to that goroutine altogether. So memory is bounded by twice the queue, plus one frame when that is
// larger than the queue.
//
// The first error of the stream is kept: a frame may have been written in part then, so nothing can follow it.
type Writer struct {
	w     io.Writer
	try   *tryWriter // nil if w cannot write without waiting
	bound int
	turn  chan struct{} // held by the one SendWait that waits for space

	mu      sync.Mutex
	queue   []byte // frames accepted while another was written
	writing bool   // somebody owns out and the stream
	large   bool   // what is being written is larger than the bound
	waiting int    // calls of SendWait that found no space
	err     error
	changed chan struct{} // closed when space comes free or the writing ends; nil when nobody waits for that

	out []byte // what is being written, owned by who set writing
}

// NewWriter returns a writer to w whose queue holds at most queue bytes; zero means [DefaultQueue]. A frame that is larger
// is accepted when no other is waiting. The Writer never closes w, and nothing else may write to it.
func NewWriter(w io.Writer, queue int) *Writer {
	if queue <= 0 {
		queue = DefaultQueue
	}
	return &Writer{w: w, try: newTryWriter(w), bound: queue, turn: make(chan struct{}, 1)}
}

// Send accepts a frame without waiting, neither for the peer nor for other senders to finish; it does not keep frame. nil
// means accepted, not written. [ErrBusy] says that there is no space for it now, [ErrClosed] that there never will be.
func (w *Writer) Send(frame []byte) error {
	_, err := w.send(frame, impatient)
	return err
}

// SendWait is Send that waits for space until ctx ends, and then returns the cause. Calls that wait are served in their
// order, so that a frame larger than the queue gets its turn.
func (w *Writer) SendWait(ctx context.Context, frame []byte) error {
	changed, err := w.send(frame, newcomer)
	if changed == nil {
		return err
	}
	defer w.leave()
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		if changed, err = w.send(frame, waiter); !errors.Is(err, ErrBusy) {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (w *Writer) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
}

// patience says what a sender does when there is no space.
type patience uint8

const (
	impatient patience = iota // goes away
	newcomer                  // lines up, and does so too if others wait already
	waiter                    // is the first in the line
)

// send accepts the frame, or returns [ErrBusy] and, to those with patience, a channel that is closed when it is worth
// another try. A newcomer is counted as waiting from then on.
func (w *Writer) send(frame []byte, p patience) (changed <-chan struct{}, err error) {
	if bytes.IndexByte(frame, '\n') >= 0 {
		return nil, ErrNewline
	}
	w.mu.Lock()
	switch {
	case w.err != nil:
		defer w.mu.Unlock()
		return nil, w.err
	case p == newcomer && w.waiting > 0, !w.fits(len(frame) + 1):
		defer w.mu.Unlock()
		if p == impatient {
			return nil, ErrBusy
		}
		if p == newcomer {
			w.waiting++
		}
		return w.change(), ErrBusy
	case w.writing:
		defer w.mu.Unlock()
		w.queue = append(append(w.queue, frame...), '\n')
		return nil, nil
	}
	w.writing, w.large = true, len(frame)+1 > w.bound
	w.mu.Unlock()
	return nil, w.hold(frame)
}

// fits reports whether n bytes more may be accepted. mu is held.
func (w *Writer) fits(n int) bool {
	return len(w.queue)+n <= w.bound || len(w.queue) == 0 && !w.large
}

// change returns a channel that is closed at the next change. mu is held.
func (w *Writer) change() <-chan struct{} {
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.changed
}

// wake closes that channel. mu is held.
func (w *Writer) wake() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// hold writes the frame, and what is queued meanwhile, as far as that goes without waiting. The caller has set writing.
func (w *Writer) hold(frame []byte) error {
	if w.try == nil {
		w.out = append(append(w.out[:0], frame...), '\n')
		go w.flush()
		return nil
	}
	if len(frame) > joined {
		n, err := w.try.write(frame)
		if err != nil {
			return w.fail(err)
		}
		frame = frame[n:]
	}
	w.out = append(append(w.out[:0], frame...), '\n')
	for range turns {
		n, err := w.try.write(w.out)
		if err != nil {
			return w.fail(err)
		}
		if n < len(w.out) {
			w.out = w.out[n:]
			break
		}
		w.out = w.out[:0]
		if !w.next() {
			return nil
		}
	}
	go w.flush()
	return nil
}

// flush writes all there is and waits for the peer as long as that takes. It ends when nothing is left, or the stream
// fails, which Close brings about.
func (w *Writer) flush() {
	for {
		n, err := w.w.Write(w.out)
		if err == nil && n < len(w.out) {
			err = io.ErrShortWrite
		}
		if err != nil {
			w.fail(err)
			return
		}
		w.out = w.out[:0]
		if !w.next() {
			return
		}
	}
}

// next takes the queue for out, which has been written. It reports false, and gives up the stream, if there is nothing.
func (w *Writer) next() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake()
	w.out, w.queue = w.queue, w.out[:0]
	w.large = len(w.out) > w.bound
	if w.writing = len(w.out) > 0; !w.writing && cap(w.out)+cap(w.queue) > keptWriting {
		w.out, w.queue = nil, nil
	}
	return w.writing
}

// fail gives up the stream for good because of err, and returns what Send has to return from now on.
func (w *Writer) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	w.queue, w.out, w.writing, w.large = nil, nil, false, false
	w.wake()
	return w.err
}

// Flush waits until all that has been accepted is written, or returns the error that prevents it, or the cause of ctx.
func (w *Writer) Flush(ctx context.Context) error {
	return w.await(ctx, func() (bool, error) { return w.err != nil || !w.writing, w.err })
}

// Close makes the writer refuse all frames from now on, drops those that wait, and waits until nobody writes to the
// stream any more, or until ctx ends; then it returns the cause.
//
// A write that waits for the peer is ended by its deadline if the stream has deadlines, as pipes and connections have;
// the frame is then cut off in the middle. If the stream has none, the owner closes it before he calls Close; where even
// that does not end a write, as on a pipe in blocking mode, the goroutine in it remains until the peer reads or goes away.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	if w.err == nil {
		w.err = ErrClosed
	}
	w.queue = nil
	w.wake()
	writing := w.writing
	w.mu.Unlock()
	if !writing {
		return nil
	}
	if s, ok := w.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = s.SetWriteDeadline(time.Unix(1, 0)) // a stream without deadlines says so; nothing is lost
	}
	return w.await(ctx, func() (bool, error) { return !w.writing, nil })
}

// await waits until done, which is called with mu held, reports true and returns its error.
func (w *Writer) await(ctx context.Context, done func() (bool, error)) error {
	for {
		w.mu.Lock()
		ok, err := done()
		if ok {
			w.mu.Unlock()
			return err
		}
		changed := w.change()
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
