package transport

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// ending is the state of Close, which may run several times concurrently.
type ending struct {
	begun   sync.Once
	quiet   chan struct{} // closed after Close was called and all notifications and responses have been sent
	deleted chan struct{} // closed after the attempt to delete the session
	gone    chan struct{} // closed when all goroutines have ended
	abandon context.CancelFunc
	parted  sync.Once // ensures that the connection leaves the shared HTTP client only once
}

func newEnding() *ending {
	return &ending{quiet: make(chan struct{}), deleted: make(chan struct{}), gone: make(chan struct{})}
}

// Close sends the accepted notifications and responses, ends everything else, and then deletes the session on the
// server.
// (specification 2025-11-25, basic/transports, "Session Management")
func (c *httpConn) Close(ctx context.Context) error {
	p := patienceOf(ctx, defaultGrace)
	c.refuse()
	p.await(ctx, c.end.quiet, 20)
	c.hangUp()
	c.end.begun.Do(c.leave)
	p.await(ctx, c.end.deleted, 40)
	c.end.abandon()
	left := !p.last(c.end.gone)
	c.end.parted.Do(c.requests.leave)
	if left {
		return errors.New("an HTTP client, authorizer or callback is still running although its context has ended")
	}
	return nil
}

// refuse makes Send fail and Receive return.
func (c *httpConn) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.closing = true
		c.end = newEnding()
	}
	c.failLocked(ErrClosed)
	c.noteQuiet()
}

// hangUp ends every exchange and stream, and prevents new sessions.
func (c *httpConn) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hungUp = true
	c.drop()
	c.old.hangUp()
}

// noteQuiet closes quiet if Close has been called and no notification or response is in flight. c.mu is held.
func (c *httpConn) noteQuiet() {
	if !c.closing || c.flight.notices > 0 {
		return
	}
	select {
	case <-c.end.quiet:
	default:
		close(c.end.quiet)
	}
}

// leave deletes the session if it has an id and the server is reachable, and waits for all goroutines to end.
func (c *httpConn) leave() {
	ctx, cancel := context.WithCancel(context.Background())
	c.end.abandon = cancel
	c.mu.Lock()
	id, version := c.session.id, c.session.version
	c.mu.Unlock()
	go func() {
		if id != "" && c.requests.isReachable() {
			c.requests.deleteSession(ctx, id, version)
		}
		close(c.end.deleted)
		c.tasks.Wait()
		c.pool.leave()
		close(c.end.gone)
	}()
}

func (q *requester) deleteSession(ctx context.Context, id, version string) {
	resp, failure := q.roundTrip(outgoing{ctx: ctx, method: http.MethodDelete, to: q.target, header: only{
		"Mcp-Session-Id": id, "Mcp-Protocol-Version": version,
	}})
	if failure == nil {
		_ = resp.Body.Close() // the status of the response does not matter
	}
}
