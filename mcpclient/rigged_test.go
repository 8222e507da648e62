package mcpclient_test

import (
	"cmp"
	"context"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// rigged is a transport with functions that replace its own functions. A nil function, or a function that returns
// false, changes nothing.
type rigged struct {
	transport.Transport
	dial    func(ctx context.Context) (error, bool)
	send    func(m transport.Message) (error, bool)
	cancel  func(id int64, notice transport.Message) bool
	receive func(ctx context.Context, next receiver) (transport.Frame, error)
	network transport.Network // result of Network; the zero value means the transport's own
}

func (r *rigged) Network() transport.Network { return cmp.Or(r.network, r.Transport.Network()) }

// receiver is the connection's own Receive.
type receiver func(ctx context.Context) (transport.Frame, error)

func (r *rigged) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	if r.dial != nil {
		if err, ok := r.dial(ctx); ok {
			return nil, err
		}
	}
	c, err := r.Transport.Dial(ctx, cfg)
	return riggedConn{c, r}, err
}

type riggedConn struct {
	transport.Conn
	r *rigged
}

func (c riggedConn) Send(ctx context.Context, m transport.Message) error {
	if c.r.send != nil {
		if err, ok := c.r.send(m); ok {
			return err
		}
	}
	return c.Conn.Send(ctx, m)
}

func (c riggedConn) Cancel(id int64, notice transport.Message) {
	if c.r.cancel == nil || !c.r.cancel(id, notice) {
		c.Conn.Cancel(id, notice)
	}
}

func (c riggedConn) Receive(ctx context.Context) (transport.Frame, error) {
	if c.r.receive != nil {
		return c.r.receive(ctx, c.Conn.Receive)
	}
	return c.Conn.Receive(ctx)
}

// observed runs f in a bubble with a client of a script, through rig unless that is nil. It checks the client's
// telemetry, which has more options, against the schema. The client is closed at the end.
func observed(t *testing.T, o mcpclient.Options, rig *rigged,
	f func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording), more ...telemetry.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		if rig == nil {
			rig = &rigged{}
		}
		rig.Transport = s
		rec := telemetrytest.Recorder(t, more...)
		o.Telemetry = rec.Telemetry()
		c, err := mcpclient.New(rig, checked(t, &o))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		f(t, s, c, rec)
	})
}
