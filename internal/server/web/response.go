package web

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/sse"
)

// response is the response to one HTTP request: one JSON document, or nothing, or a stream of events. What it will be
// is decided by what is written first. No goroutine writes after that of the request has closed it.
type response struct {
	cfg    *Options
	w      http.ResponseWriter
	ctl    http.ResponseController
	accept accept

	mu     sync.Mutex  // held while something is written: cfg.WriteTimeout bounds that
	opened bool        // guarded by mu; it is a stream
	over   ending      // written with mu held
	beat   *time.Timer // guarded by mu; writes comments to a stream
	buf    []byte      // guarded by mu
	length [1]string   // guarded by mu; the value of Content-Length
}

// errGone is the error of a write that can reach no client.
var errGone = errors.New("the client does not read the response any more")

// Values of headers that are always the same.
var (
	jsonType   = []string{typeJSON}
	streamType = []string{typeStream}
	unbuffered = []string{"no"}
	uncached   = []string{"no-cache, no-transform"}
	retryAfter = []string{"1"} // seconds, for refusals whose reason will pass
)

// document writes the whole response: JSON, the frame of an answer.
func (r *response) document(status int, a rpc.Answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over.is() {
		return errGone
	}
	defer r.finish()
	h := r.w.Header()
	if status >= http.StatusTooManyRequests {
		h["Retry-After"] = retryAfter
	}
	h["Content-Type"] = jsonType
	r.length[0] = decimal(a.Size())
	h["Content-Length"] = r.length[:]
	r.setDeadline()
	r.w.WriteHeader(status)
	_, err := r.w.Write(a.Frame)
	if err == nil && a.Rest != nil {
		_, err = r.w.Write(a.Rest)
		if err == nil {
			_, err = r.w.Write(rpc.Closing)
		}
	}
	return err
}

// end ends the response where it is: if that is before its beginning, with a status and nothing else.
func (r *response) end(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over.is() && !r.opened {
		r.w.WriteHeader(status)
	}
	r.finish()
}

// open makes the response a stream, unless it is one, and sends its headers.
func (r *response) open() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.begin(); err != nil {
		return err
	}
	return r.send()
}

// begin makes the response a stream, unless it is one. The headers are sent with the next write. mu is held.
func (r *response) begin() error {
	switch {
	case r.over.is():
		return errGone
	case r.opened:
		return nil
	}
	r.opened = true
	h := r.w.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = uncached
	h["X-Accel-Buffering"] = unbuffered
	r.setDeadline()
	r.w.WriteHeader(http.StatusOK)
	if r.cfg.KeepAlive > 0 {
		r.beat = time.AfterFunc(r.cfg.KeepAlive, r.keepAlive)
	}
	return nil
}

// event writes an event. A response whose client does not take it is over.
func (r *response) event(e sse.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.begin(); err != nil {
		return err
	}
	return r.write(sse.AppendEvent(r.buf[:0], e))
}

// last writes an event and ends the response.
func (r *response) last(e sse.Event) error {
	err := r.event(e)
	r.close()
	return err
}

// keepAlive writes a comment, again and again while the stream is open.
func (r *response) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over.is() && r.write(sse.AppendComment(r.buf[:0], "")) == nil {
		r.beat.Reset(r.cfg.KeepAlive)
	}
}

// write writes what has been appended to buf. mu is held.
func (r *response) write(b []byte) error {
	if cap(b) <= rpc.MaxKept {
		r.buf = b
	}
	r.setDeadline()
	_, err := r.w.Write(b)
	if err == nil {
		err = r.send()
	}
	if err != nil {
		r.finish()
	}
	return err
}

// send sends what has been written, and lifts the deadline: over HTTP/2 it would end a stream that is only quiet. A
// writer that cannot flush sends at the end. mu is held.
func (r *response) send() error {
	err := r.ctl.Flush()
	if errors.Is(err, http.ErrNotSupported) {
		err = nil
	}
	if err == nil && r.cfg.WriteTimeout > 0 {
		_ = r.ctl.SetWriteDeadline(time.Time{})
	}
	return err
}

// setDeadline bounds the next write, if the writer can.
func (r *response) setDeadline() {
	if r.cfg.WriteTimeout > 0 {
		_ = r.ctl.SetWriteDeadline(time.Now().Add(r.cfg.WriteTimeout))
	}
}

// finish lets the request's goroutine return. mu is held.
func (r *response) finish() {
	if r.over.come() && r.beat != nil {
		r.beat.Stop()
	}
}

func (r *response) isOpen() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened
}

// done returns a channel that is closed when the response is over. It does not wait for what is being written.
func (r *response) done() <-chan struct{} { return r.over.done() }

func (r *response) isOver() bool { return r.over.is() }

// close ends the response where it is.
func (r *response) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finish()
}

// ending is whether something is over.
type ending struct {
	mu    sync.Mutex
	over  bool          // guarded by mu
	ended chan struct{} // guarded by mu; closed when it is over; nil until done is called
}

// come has it be over, and reports whether it was not.
func (e *ending) come() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return false
	}
	e.over = true
	if e.ended != nil {
		close(e.ended)
	}
	return true
}

func (e *ending) is() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over
}

func (e *ending) done() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended == nil {
		e.ended = make(chan struct{})
		if e.over {
			close(e.ended)
		}
	}
	return e.ended
}
