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

// endpointWait is how long a server that may be an old one has to say so.
const endpointWait = 3 * time.Second

// endpointEvent is the event with which a server of HTTP+SSE begins its stream.
const endpointEvent = "endpoint"

var (
	errOldServer  = errors.New("the server begins the stream of HTTP+SSE")
	errNoEndpoint = fmt.Errorf("no endpoint event within %v", endpointWait)
	errOrigin     = errors.New("the endpoint event does not name a URL of the same origin")
)

// sharedStream is the one stream of HTTP+SSE. (specification 2024-11-05, basic/transports, "HTTP with SSE")
type sharedStream struct {
	ready    chan struct{} // closed when one of these is set
	endpoint *url.URL      // where messages go
	failure  *RequestError

	end context.CancelCauseFunc // ends it; guarded by httpConn.mu, nil as long as it is not opened
}

// endpoint returns where ex goes if the server speaks HTTP+SSE, having opened the stream if there is none, and nil if
// it speaks Streamable HTTP.
func (c *httpConn) endpoint(ex *exchange) (*url.URL, *RequestError) {
	c.mu.Lock()
	known := c.shared != nil
	c.mu.Unlock()
	if known || c.h.Mode == SSE {
		return c.openShared(ex, 0)
	}
	old := c.h.oldServer.Load()
	if c.h.Mode != Auto || old == nil || *old != c.h.URL {
		return nil, nil
	}
	to, failure := c.openShared(ex, endpointWait)
	if failure != nil && !passing(failure) {
		c.h.oldServer.Store(nil) // it has become a newer one
		return nil, nil
	}
	return to, failure
}

// mayBeOld reports whether a server that answers initialize like this may speak HTTP+SSE only.
func (c *httpConn) mayBeOld(status int, body []byte) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return c.h.Mode == Auto && !isModern(body)
	}
	return false
}

// introduces reports whether ex is of those requests by which a server is found out.
func (ex *exchange) introduces() bool { return ex.initialize || ex.m.Method == methodDiscover }

// postToOld posts the message to a server that has turned out to speak HTTP+SSE.
func (ex *exchange) postToOld(w *worker) {
	endpoint, failure := ex.conn.openShared(ex, endpointWait)
	if failure != nil {
		ex.fail(failure)
		return
	}
	ex.postTo(w, endpoint, true)
}

// openShared returns the endpoint of the shared stream, which the first one to ask opens. The server has so much time
// to send it, or as long as ex lives if limit is 0.
func (c *httpConn) openShared(ex *exchange, limit time.Duration) (*url.URL, *RequestError) {
	c.mu.Lock()
	s := c.shared
	first := s == nil
	if first {
		s = &sharedStream{ready: make(chan struct{})}
		c.shared = s
	}
	c.mu.Unlock()
	if first {
		c.connectShared(ex, s, limit)
	}
	select {
	case <-s.ready:
		return s.endpoint, s.failure
	case <-ex.Done():
		return nil, &RequestError{Reason: Lost, Unsent: true, Err: ex.Err()}
	}
}

// connectShared opens the stream and waits for its endpoint event.
func (c *httpConn) connectShared(ex *exchange, s *sharedStream, limit time.Duration) {
	defer close(s.ready)
	ctx, end := c.livingShared(s)
	detach := context.AfterFunc(&ex.life, func() { end(ex.Err()) })
	inTime := func() bool { return true }
	if limit > 0 {
		inTime = time.AfterFunc(limit, func() { end(errNoEndpoint) }).Stop
	}
	resp, events, failure := c.greet(ctx, s)
	if !inTime() || !detach() || ctx.Err() != nil {
		<-ctx.Done()
		failure = &RequestError{Reason: Lost, Err: context.Cause(ctx)}
	}
	if failure == nil {
		c.h.oldServer.Store(new(c.h.URL))
		c.tasks.Go(func() { c.readShared(ctx, resp, events) })
		return
	}
	end(nil)
	if resp != nil {
		_ = resp.Body.Close()
	}
	s.endpoint, s.failure = nil, failure
	c.mu.Lock()
	c.shared = nil
	c.mu.Unlock()
}

// livingShared returns the context of the shared stream, and its end.
func (c *httpConn) livingShared(s *sharedStream) (context.Context, context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.end = end; c.hungUp {
		end(nil)
	}
	return ctx, end
}

// greet asks for the stream and reads its endpoint event.
func (c *httpConn) greet(ctx context.Context, s *sharedStream) (*http.Response, *sse.Reader, *RequestError) {
	resp, failure := c.roundTrip(outgoing{ctx: ctx, method: http.MethodGet, to: c.target,
		header: only{"Accept": eventsOnly}})
	if failure == nil {
		failure = noStream(resp, theServer)
	}
	if failure != nil {
		return nil, nil, failure
	}
	events := sse.NewReader(resp.Body, c.limit, c.skip)
	for {
		e, err := events.Next()
		if err != nil {
			return resp, nil, &RequestError{Reason: Lost, Err: fmt.Errorf("no endpoint event: %w", err)}
		}
		if e.Name != endpointEvent {
			continue
		}
		s.endpoint, err = c.target.Parse(string(e.Data))
		if err != nil || !hostname.SameOrigin(s.endpoint, c.target) {
			return resp, nil, &RequestError{Reason: Malformed, Err: errOrigin}
		}
		return resp, events, nil
	}
}

// readShared delivers what comes on the stream. Its end is that of the connection.
func (c *httpConn) readShared(ctx context.Context, resp *http.Response, events *sse.Reader) {
	ended := c.streamOpened("sse")
	cur := cursor{retry: -1}
	_, err := c.consume(ctx, nil, events, 0, &cur)
	_ = resp.Body.Close()
	c.fail(fmt.Errorf("the server's event stream ended: %w", err))
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		err = nil
	}
	ended(err)
}
