package conn

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// openLink is a connection of the present epoch, from dialling on. The epoch changes if the client negotiates again.
type openLink struct {
	core  *Conn
	epoch uint64    // only the connection's own goroutine changes it
	clock stopwatch // bounds the handshake

	// Written by the connection's own goroutine with core.mu held; other goroutines read it with core.mu held.
	conn transport.Conn // nil while dialling
	// of the present attempt or session; ends with it or when the client hangs up; carries no span
	ctx context.Context
	end context.CancelCauseFunc // ends ctx, with the reason

	authorizing int32          // guarded by core.mu; messages that wait for an authorization
	hungUp      bool           // the client has hung up; guarded by core.mu
	closing     bool           // a goroutine closes conn; guarded by core.mu
	why         error          // why the client has hung up; guarded by core.mu
	trouble     error          // error of the first unusable message of the handshake; guarded by core.mu
	closed      sync.WaitGroup // the goroutine that closes conn, unless it is the connection's own
}

func newOpenLink(c *Conn, epoch uint64) *openLink {
	l := &openLink{core: c, epoch: epoch}
	l.ctx, l.end = context.WithCancelCause(context.Background()) // the machine hangs up before it ends
	return l
}

// attach sets the connection of l. If the client has hung up in the meantime, attach starts to close the
// connection.
func (l *openLink) attach(conn transport.Conn) {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	if l.conn = conn; l.hungUp {
		l.beginClose()
	}
}

// renew creates a context for the next attempt or session. A context that many others are derived from keeps a
// table of them as long as it lives, so it is replaced.
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

// leave hangs up, and the goroutine of the connection ends. mu is held.
func (l *openLink) leave(why error) {
	l.hungUp, l.why = true, why
	l.end(why)
	if l.conn != nil && !l.closing {
		l.beginClose()
	}
}

// beginClose closes the connection in the background. mu is held.
func (l *openLink) beginClose() {
	l.closing = true
	l.closed.Go(l.closeConn) // ends within CloseTimeout; close waits for it
}

// close closes the connection, if there is one, and allows the next to be opened.
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

// mayClose reports whether the caller must close the connection, because no goroutine is closing it.
func (l *openLink) mayClose() bool {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	may := !l.closing
	l.closing = true
	return may
}
