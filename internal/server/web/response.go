package web

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/sse"
)

// response is the response to one HTTP request: one JSON document, a status without a body, or a stream of events. The
// first write decides the form. No goroutine writes after the request's goroutine has closed the response.
type response struct {
	cfg    *Options
	w      http.ResponseWriter
	ctl    http.ResponseController
	accept accept

	mu     sync.Mutex  // held while writing; cfg.WriteTimeout bounds each write
	opened bool        // guarded by mu; the response is a stream
	over   ending      // written with mu held
	beat   *time.Timer // guarded by mu; timer of keep-alive comments; nil if there are none
	buf    []byte      // guarded by mu
	length [1]string   // guarded by mu; the value of Content-Length
}

// errGone is the error of a write that can no longer reach the client.
var errGone = errors.New("the client no longer reads the response")

// Constant header values.
var (
	jsonType   = []string{typeJSON}
	streamType = []string{typeStream}
	unbuffered = []string{"no"}
	uncached   = []string{"no-cache, no-transform"}
	retryAfter = []string{"1"} // seconds; for refusals with a temporary reason
)

// document writes the whole response: the answer as JSON.
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

// end ends the response. If nothing was written, it sends the status without a body.
func (r *response) end(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over.is() && !r.opened {
		r.w.WriteHeader(status)
	}
	r.finish()
}

// open makes the response a stream and sends the headers.
func (r *response) open() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.begin(); err != nil {
		return err
	}
	return r.send()
}

// begin makes the response a stream. The next write sends the headers. mu is held.
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

// event writes an event. A failed write ends the response.
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

// keepAlive writes a comment and restarts its timer while the stream is open.
func (r *response) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over.is() && r.write(sse.AppendComment(r.buf[:0], "")) == nil {
		r.beat.Reset(r.cfg.KeepAlive)
	}
}

// write writes b, which was appended to buf, and flushes it. mu is held.
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

// send flushes the response and clears the write deadline. Over HTTP/2, the deadline would also end an idle stream. If
// the writer cannot flush, net/http sends the data at the end. mu is held.
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

// setDeadline sets the deadline of the next write, if the writer supports deadlines.
func (r *response) setDeadline() {
	if r.cfg.WriteTimeout > 0 {
		_ = r.ctl.SetWriteDeadline(time.Now().Add(r.cfg.WriteTimeout))
	}
}

// finish marks the response as over, which lets the request's goroutine return. mu is held.
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

// done returns a channel that is closed when the response is over. It does not wait for a write in progress.
func (r *response) done() <-chan struct{} { return r.over.done() }

func (r *response) isOver() bool { return r.over.is() }

// close ends the response.
func (r *response) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finish()
}

// ending records whether something has ended.
type ending struct {
	mu    sync.Mutex
	over  bool          // guarded by mu
	ended chan struct{} // guarded by mu; closed at the end; nil until done is called
}

// come records the end. It reports false if the end was already recorded.
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
