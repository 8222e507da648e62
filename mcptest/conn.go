package mcptest

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/internal/inlet"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// conn is a connection to a Server. The test controls its failures.
type conn struct {
	inlet.Conn
	server *Server
}

// Send rejects the message if the server is busy.
func (c *conn) Send(ctx context.Context, m transport.Message) error {
	if over := c.Over(); over != nil {
		return errors.Join(transport.ErrClosed, over)
	}
	if m.Kind == transport.KindRequest && ctx.Err() == nil {
		if why := c.server.turnedAway(); why != nil {
			c.Deliver(transport.Frame{Request: m.ID, Err: why})
			return nil
		}
	}
	return c.Conn.Send(ctx, m)
}

// Receive returns injected frames before the frames of the server.
func (c *conn) Receive(ctx context.Context) (transport.Frame, error) {
	f, _, err := c.Next(ctx)
	return f, err
}

// kill ends the connection as if the server's process had been killed, and waits until the server's end is closed.
func (c *conn) kill(err error) {
	c.End(err)
	atOnce, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Close(atOnce) // fails only if a handler still runs; Shutdown waits for that handler
}

// Close ends the connection.
func (c *conn) Close(ctx context.Context) error {
	defer func() {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		delete(c.server.conns, c)
	}()
	return c.Conn.Close(ctx)
}
