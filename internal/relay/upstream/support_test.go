package upstream

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcptest"
)

// Checked returns o, or the defaults if o is nil. Unless o has a Telemetry, Checked adds one that is checked against
// the schema at the end of the test. This Telemetry writes nothing into messages.
func Checked(t testing.TB, o *Options) *Options {
	t.Helper()
	var c Options
	if o != nil {
		c = *o
	}
	c.Group = cmp.Or(c.Group, "tests")
	if c.Telemetry == nil {
		c.Telemetry = telemetrytest.Recorder(t,
			telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator()),
			telemetry.WithExecuteToolDuration(), telemetry.WithContextCost()).Telemetry()
	}
	return &c
}

// script is the server of a test.
type script struct{ *mcptest.Script }

func newScript(t testing.TB) *script {
	s := &script{mcptest.NewScript(t)}
	s.Patience = time.Hour
	return s
}

// conversation is the server's view of one connection.
type conversation struct {
	*mcptest.Conversation
	t *testing.T
}

// next waits for the next conversation.
func (s *script) next(t *testing.T) *conversation {
	t.Helper()
	return &conversation{s.Accept(), t}
}

// ofSubscription returns the _meta of the notifications of a subscription.
func ofSubscription(id string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
}

// background runs f in a goroutine, and returns a channel that receives the error of f.
func background(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// rigged is a transport with functions that interfere. A function that is nil or returns false has no effect.
type rigged struct {
	transport.Transport
	dial    func(ctx context.Context) (error, bool)
	send    func(m transport.Message) (error, bool)
	receive func(ctx context.Context, next receiver) (transport.Frame, error)
	network transport.Network // network that the transport reports; zero for the real one
}

func (r *rigged) Network() transport.Network { return cmp.Or(r.network, r.Transport.Network()) }

// receiver is the Receive method of the underlying connection.
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

func (c riggedConn) Receive(ctx context.Context) (transport.Frame, error) {
	if c.r.receive != nil {
		return c.r.receive(ctx, c.Conn.Receive)
	}
	return c.Conn.Receive(ctx)
}
