package wire

import (
	"context"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Tap returns t with a Watch on each connection. It calls report for every message of either side that violates its
// schema. report must be safe for concurrent use.
func Tap(t transport.Transport, s *Schemas, report func(Side, error)) transport.Transport {
	return &tap{t, s, report}
}

type tap struct {
	transport.Transport
	schemas *Schemas
	report  func(Side, error)
}

func (t *tap) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := t.Transport.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &tapped{c, t.schemas.NewWatch(), t.report}, nil
}

type tapped struct {
	transport.Conn
	watch  *Watch
	report func(Side, error)
}

func (c *tapped) Send(ctx context.Context, m transport.Message) error {
	c.see(Client, m.Data) // before the server can answer
	return c.Conn.Send(ctx, m)
}

func (c *tapped) Cancel(id int64, notice transport.Message) {
	if notice.Data != nil {
		c.see(Client, notice.Data)
	}
	c.Conn.Cancel(id, notice)
}

func (c *tapped) Receive(ctx context.Context) (transport.Frame, error) {
	f, err := c.Conn.Receive(ctx)
	if err == nil && len(f.Data) > 0 {
		c.see(Server, f.Data)
	}
	return f, err
}

func (c *tapped) see(from Side, data []byte) {
	if err := c.watch.Message(from, data); err != nil {
		c.report(from, err)
	}
}
