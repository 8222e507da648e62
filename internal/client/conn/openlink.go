package conn

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// openLink is a connection of the present epoch, from the dialling on. The epoch changes if it is negotiated anew.
type openLink struct {
	core  *Conn
	epoch uint64    // changed by the steps of the connection's own goroutine only
	clock stopwatch // of the handshake

	// Written by the connection's own goroutine, with core.mu held; others read it with that.
	conn transport.Conn // nil before it is open
	// of the present attempt or session, ends with it or when the client hangs up; carries no span
	ctx context.Context
	end context.CancelCauseFunc // ends ctx, with why

	authorizing int32          // guarded by core.mu; messages that wait for an authorization
	hungUp      bool           // guarded by core.mu; the client has hung up
	closing     bool           // guarded by core.mu; a goroutine closes conn
	why         error          // guarded by core.mu; why the client has hung up
	trouble     error          // guarded by core.mu; the first message of the handshake that could not be used
	closed      sync.WaitGroup // waits for the goroutine that closes, unless it is the connection's own
}

func newOpenLink(c *Conn, epoch uint64) *openLink {
	l := &openLink{core: c, epoch: epoch}
	l.ctx, l.end = context.WithCancelCause(context.Background()) // the machine hangs up before it ends
	return l
}

// attach gives l its connection. If the client has hung up meanwhile, that is closed.
func (l *openLink) attach(conn transport.Conn) {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	if l.conn = conn; l.hungUp {
		l.beginClose()
	}
}

// renew gives the connection a context for what comes next, an attempt or a session. A context that many others have
// come of keeps a table of them for as long as it is there.
func (l *openLink) renew() {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	l.trouble = nil
	l.end(nil)
	l.ctx, l.end = context.WithCancelCause(context.Background())
	if l.hungUp {
		l.end(l.why)
	}
}

// leave hangs up. The goroutine of the connection ends then. It is called with mu held.
func (l *openLink) leave(why error) {
	l.hungUp, l.why = true, why
	l.end(why)
	if l.conn != nil && !l.closing {
		l.beginClose()
	}
}

// beginClose has the connection closed in the background. It is called with mu held.
func (l *openLink) beginClose() {
	l.closing = true
	l.closed.Go(l.closeConn) // ends within CloseTimeout; close waits for it
}

// close closes the connection, if there is one, and lets the next be opened.
func (l *openLink) close() {
	c := l.core
	if l.conn != nil {
		c.Telemetry.Queue(nil)
		if l.mayClose() {
			l.closeConn()
		} else {
			l.closed.Wait()
		}
	}
	c.release()
	l.end(nil)
}

// mayClose reports whether the connection is not being closed yet. The caller does so then.
func (l *openLink) mayClose() bool {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	may := !l.closing
	l.closing = true
	return may
}
