package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/sse"
)

// endpointWait is how long to wait for the endpoint event of a server that may speak HTTP+SSE.
const endpointWait = 3 * time.Second

// endpointEvent is the event with which a server of HTTP+SSE begins its stream.
const endpointEvent = "endpoint"

var (
	errOldServer  = errors.New("the server started an HTTP+SSE stream")
	errNoEndpoint = fmt.Errorf("no endpoint event within %v", endpointWait)
	errOrigin     = errors.New("the endpoint event does not name a URL of the same origin")
)

// sharedStream is the single stream of HTTP+SSE. (specification 2024-11-05, basic/transports, "HTTP with SSE")
type sharedStream struct {
	ready    chan struct{} // closed when endpoint or failure is set
	endpoint *url.URL      // URL for messages
	failure  *RequestError

	end context.CancelCauseFunc // ends the stream; nil until it is opened; guarded by httpConn.mu
}

// oldServer is the part of a connection that speaks HTTP+SSE: it detects such servers, opens their stream and
// holds their endpoint for messages. The [HTTP] remembers the result for later connections.
type oldServer struct {
	conn   *httpConn
	stream *sharedStream // nil unless the stream is open or opening; guarded by conn.mu
}

// endpointFor returns the endpoint for ex if the server speaks HTTP+SSE, and nil if it speaks Streamable HTTP. It
// opens the stream if necessary.
func (o *oldServer) endpointFor(ex *exchange) (*url.URL, *RequestError) {
	c := o.conn
	c.mu.Lock()
	known := o.stream != nil
	c.mu.Unlock()
	if known || c.h.Mode == ModeSSE {
		return o.open(ex, 0)
	}
	old := c.h.oldServer.Load()
	if c.h.Mode != ModeAuto || old == nil || *old != c.h.URL {
		return nil, nil
	}
	to, failure := o.open(ex, endpointWait)
	if failure != nil && !passing(failure) {
		c.h.oldServer.Store(nil) // the server was upgraded
		return nil, nil
	}
	return to, failure
}

// mayBe reports whether a server that gives this answer to initialize may speak only HTTP+SSE.
func (o *oldServer) mayBe(status int, body []byte) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return o.conn.h.Mode == ModeAuto && !isModern(body)
	}
	return false
}

// isHandshake reports whether ex is a request that opens a connection. Its answer reveals the server's transport.
func (ex *exchange) isHandshake() bool { return ex.initialize || ex.m.Method == methodDiscover }

// postToOld posts the message to a server that was just detected to speak HTTP+SSE.
func (ex *exchange) postToOld(w *worker) {
	endpoint, failure := ex.conn.old.open(ex, endpointWait)
	if failure != nil {
		ex.fail(failure)
		return
	}
	ex.postTo(w, endpoint, true)
}

// open returns the endpoint of the shared stream. The first caller opens the stream. limit bounds the wait for the
// endpoint event; 0 means as long as ex lives.
func (o *oldServer) open(ex *exchange, limit time.Duration) (*url.URL, *RequestError) {
	c := o.conn
	c.mu.Lock()
	s := o.stream
	first := s == nil
	if first {
		s = &sharedStream{ready: make(chan struct{})}
		o.stream = s
	}
	c.mu.Unlock()
	if first {
		o.connect(ex, s, limit)
	}
	select {
	case <-s.ready:
		return s.endpoint, s.failure
	case <-ex.ctx.Done():
		return nil, &RequestError{Reason: ReasonLost, Unsent: true, Err: ex.ctx.Err()}
	}
}

// connect opens the stream and waits for its endpoint event.
func (o *oldServer) connect(ex *exchange, s *sharedStream, limit time.Duration) {
	c := o.conn
	defer close(s.ready)
	ctx, end := o.streamContext(s)
	detach := context.AfterFunc(ex.ctx, func() { end(ex.ctx.Err()) })
	inTime := func() bool { return true }
	if limit > 0 {
		inTime = time.AfterFunc(limit, func() { end(errNoEndpoint) }).Stop
	}
	resp, events, failure := o.readEndpoint(ctx, s)
	if !inTime() || !detach() || ctx.Err() != nil {
		<-ctx.Done()
		failure = &RequestError{Reason: ReasonLost, Err: context.Cause(ctx)}
	}
	if failure == nil {
		c.h.oldServer.Store(new(c.h.URL))
		c.tasks.Go(func() { o.read(ctx, resp, events) })
		return
	}
	end(nil)
	if resp != nil {
		_ = resp.Body.Close()
	}
	s.endpoint, s.failure = nil, failure
	c.mu.Lock()
	o.stream = nil
	c.mu.Unlock()
}

// streamContext returns the context of the shared stream, and a function that ends it.
func (o *oldServer) streamContext(s *sharedStream) (context.Context, context.CancelCauseFunc) {
	c := o.conn
	ctx, end := context.WithCancelCause(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.end = end; c.hungUp {
		end(nil)
	}
	return ctx, end
}

// readEndpoint requests the stream and reads its endpoint event.
func (o *oldServer) readEndpoint(ctx context.Context, s *sharedStream) (*http.Response, *sse.Reader, *RequestError) {
	q := &o.conn.requests
	resp, failure := q.roundTrip(outgoing{
		ctx: ctx, method: http.MethodGet, to: q.target, header: only{"Accept": eventsOnly},
	})
	if failure == nil {
		failure = noStream(resp, theServer)
	}
	if failure != nil {
		return nil, nil, failure
	}
	events := o.conn.bound.events(resp.Body)
	for {
		e, err := events.Next()
		if err != nil {
			return resp, nil, &RequestError{Reason: ReasonLost, Err: fmt.Errorf("no endpoint event: %w", err)}
		}
		if e.Name != endpointEvent {
			continue
		}
		s.endpoint, err = q.target.Parse(string(e.Data))
		if err != nil || !hostname.SameOrigin(s.endpoint, q.target) {
			return resp, nil, &RequestError{Reason: ReasonMalformed, Err: errOrigin}
		}
		return resp, events, nil
	}
}

// read delivers the frames of the stream. When the stream ends, the connection ends.
func (o *oldServer) read(ctx context.Context, resp *http.Response, events *sse.Reader) {
	c := o.conn
	ended := c.inbox.streamOpened("sse")
	cur := cursor{retry: -1}
	_, err := c.consume(ctx, nil, events, 0, &cur)
	_ = resp.Body.Close()
	c.fail(fmt.Errorf("the server's event stream ended: %w", err))
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		err = nil
	}
	ended(err)
}

// isInUse reports whether all answers arrive on the stream of HTTP+SSE. If so, the connection ends only with that
// stream. A message that cannot reach the server does not end the connection, because frames of the stream would be
// lost.
func (o *oldServer) isInUse() bool {
	o.conn.mu.Lock()
	defer o.conn.mu.Unlock()
	return o.stream != nil
}

// hangUp ends the stream. conn.mu is held.
func (o *oldServer) hangUp() {
	if o.stream != nil && o.stream.end != nil {
		o.stream.end(nil)
	}
}
