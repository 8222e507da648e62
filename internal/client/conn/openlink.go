package conn

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// openLink is a connection of the present epoch, from the start of dialling. Its epoch changes if the client negotiates
// again.
type openLink struct {
	core  *Conn
	epoch uint64    // only the connection's own goroutine changes it
	clock stopwatch // bounds the handshake

	// The connection's own goroutine writes these fields with core.mu held. Other goroutines read them with core.mu held.
	conn transport.Conn // nil while dialling
	// context of the present attempt or session; ends with that attempt or session, or when the client hangs up; carries
	// no span
	ctx context.Context
	end context.CancelCauseFunc // ends ctx with a reason

	authorizing int32          // number of messages that wait for an authorization; guarded by core.mu
	hungUp      bool           // the client has hung up; guarded by core.mu
	closing     bool           // a goroutine closes conn; guarded by core.mu
	why         error          // reason why the client hung up; guarded by core.mu
	trouble     error          // error of the first unusable message of the handshake; guarded by core.mu
	closed      sync.WaitGroup // waits for the goroutine that closes conn, unless that is the connection's own goroutine
}

func newOpenLink(c *Conn, epoch uint64) *openLink {
	l := &openLink{core: c, epoch: epoch}
	l.ctx, l.end = context.WithCancelCause(context.Background()) // leave ends l.ctx before the machine ends
	return l
}

// attach sets the connection of l. If the client has hung up in the meantime, attach starts to close the connection.
func (l *openLink) attach(conn transport.Conn) {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	if l.conn = conn; l.hungUp {
		l.beginClose()
	}
}

// renew creates a context for the next attempt or session. It replaces the old context, because a context keeps a table
// of the contexts that are derived from it.
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

// leave hangs up, which ends the goroutine of the connection. The caller holds mu.
func (l *openLink) leave(why error) {
	l.hungUp, l.why = true, why
	l.end(why)
	if l.conn != nil && !l.closing {
		l.beginClose()
	}
}

// beginClose closes the connection in the background. The caller holds mu.
func (l *openLink) beginClose() {
	l.closing = true
	l.closed.Go(l.closeConn) // the goroutine ends within CloseTimeout; close waits for it
}

// close closes the connection, if there is one, and allows the core to open the next one.
func (l *openLink) close() {
	c := l.core
	if l.conn != nil {
		c.Telemetry.Queue(nil)
		c.Telemetry.Process(nil)
		if l.mayClose() {
			l.closeConn()
		} else {
			l.closed.Wait()
		}
	}
	c.release()
	l.end(nil)
}

// mayClose reports whether the caller must close the connection, because no other goroutine is closing it.
func (l *openLink) mayClose() bool {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	may := !l.closing
	l.closing = true
	return may
}
