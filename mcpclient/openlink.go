package mcpclient

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// openLink is a connection of the present epoch, from the dialling on. The epoch changes if it is negotiated anew.
type openLink struct {
	epoch       uint64    // changed by the steps of the connection's own goroutine only
	authorizing int       // guarded by Client.mu; messages that wait for an authorization
	clock       stopwatch // of the handshake

	// Written by the connection's own goroutine, with Client.mu held; others read it with that.
	conn transport.Conn          // nil before it is open
	ctx  context.Context         // of the present attempt or session, ends with it or when the client hangs up; carries no span
	end  context.CancelCauseFunc // ends ctx, with why

	hungUp  bool           // guarded by Client.mu; the client has hung up
	why     error          // guarded by Client.mu; why it has
	closing bool           // guarded by Client.mu; somebody closes conn
	closed  sync.WaitGroup // waits for that, unless it is the connection's own goroutine
}

func newOpenLink(epoch uint64) *openLink {
	l := &openLink{epoch: epoch}
	l.ctx, l.end = context.WithCancelCause(context.Background()) // the machine hangs up before it ends
	return l
}

// attach gives l its connection. If the client has hung up meanwhile, that is closed.
func (c *core) attach(l *openLink, conn transport.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.conn = conn; l.hungUp {
		c.beginClose(l)
	}
}

// renew gives l a context for what comes next, an attempt or a session. A context that many others have come of keeps a table
// of them for as long as it is there.
func (c *core) renew(l *openLink) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.end(nil)
	l.ctx, l.end = context.WithCancelCause(context.Background())
	if l.hungUp {
		l.end(l.why)
	}
}

// leaveLink hangs up. The goroutine of the connection ends then. It is called with mu held.
func (c *core) leaveLink(l *openLink, why error) {
	l.hungUp, l.why = true, why
	l.end(why)
	if l.conn != nil && !l.closing {
		c.beginClose(l)
	}
}

// beginClose has the connection closed in the background. It is called with mu held.
func (c *core) beginClose(l *openLink) {
	l.closing = true
	l.closed.Go(func() { c.close(l.conn) }) // ends within CloseTimeout; closeLink waits for it
}

// closeLink closes the connection, if there is one, and lets the next be opened.
func (c *core) closeLink(l *openLink) {
	if l.conn != nil {
		c.tel.Queue(nil)
		if c.mayClose(l) {
			c.close(l.conn)
		} else {
			l.closed.Wait()
		}
	}
	c.release()
	l.end(nil)
}

// mayClose reports whether nobody closes the connection yet. Whoever asks does so then.
func (c *core) mayClose(l *openLink) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	may := !l.closing
	l.closing = true
	return may
}
