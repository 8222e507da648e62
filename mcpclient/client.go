package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Client keeps a connection to one MCP server until the Client is closed. The methods may be called from any goroutine,
// including the handlers of the Client.
type Client struct {
	core     conn.Conn
	cfg      *config // may be shared with other clients
	name     string
	instance string
	number   uint64 // unique in the process

	pool          sync.Pool // contains *call values
	operations    operations
	dispatcher    dispatcher
	answering     answering
	tasks         tasking
	tools         knownTools
	subscriptions subscriptions
	logLevel      logLevel
	roots         rootList
	cache         *resultCache // nil if caching is off

	elicitor    elicitor    // nil without handlers for elicitation
	urls        *urlVisits  // nil without a handler for URL visits
	drift       *driftWatch // nil without UseDriftDetection
	taskOptions TaskOptions // the zero value without UseTasks
	intercepted CallFunc    // runs a call through the middleware; nil without middleware
}

// New creates a client and starts to connect in the background. It returns an error if an option is invalid. The caller
// must close the client: see [Client.Close] and [Client.Shutdown].
func New(t transport.Transport, o *Options) (*Client, error) {
	return newClient(context.Background(), t, o, 0)
}

// connectAttempts is the default of Backoff.Attempts for Connect.
const connectAttempts = 3

// Connect creates a client and waits until it is ready. ctx bounds only this wait. If ctx ends first, or the
// client gives up (see [Backoff]), Connect closes the client and returns the error of the last attempt.
func Connect(ctx context.Context, t transport.Transport, o *Options) (*Client, error) {
	c, err := newClient(ctx, t, o, connectAttempts)
	if err != nil {
		return nil, err
	}
	if err := c.WaitForReady(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func newClient(ctx context.Context, t transport.Transport, o *Options, attempts int) (*Client, error) {
	c, err := build(ctx, t, o, attempts)
	if err != nil {
		return nil, err
	}
	c.enlist()
	c.core.Start()
	return c, nil
}

// check returns an error if New would return one.
func check(t transport.Transport, o *Options) error {
	c, err := build(context.Background(), t, o, 0)
	if err == nil {
		c.core.Discard()
	}
	return err
}

// build creates a client that does not connect. The caller must call core.Start or core.Discard.
func build(ctx context.Context, t transport.Transport, o *Options, attempts int) (*Client, error) {
	if t == nil {
		return nil, errors.New("mcpclient: the transport is nil")
	}
	cfg, err := newConfig(o, t.Name(), attempts)
	if err != nil {
		return nil, fmt.Errorf("mcpclient: %w", err)
	}
	c := &Client{name: cfg.Name, instance: cmp.Or(cfg.InstanceID, instrument.NewInstanceID())}
	cfg.Name, cfg.InstanceID = "", ""
	tel := instrument.NewClient(cfg.Telemetry, c.name, instrument.Network(t.Network()),
		instrument.WithInstanceID(c.instance), instrument.WithGroup(cfg.TelemetryGroup))
	c.cfg = &cfg
	c.core.Init(&cfg.core, t, tel, instrument.RefFrom(ctx), hooks{c})
	c.dispatcher.c, c.tools.c, c.subscriptions.c, c.tasks.c, c.answering.c = c, c, c, c, &c.core
	if cfg.CacheSize > 0 {
		c.cache = newResultCache(cfg.CacheSize)
	}
	if err := c.use(cfg.Features); err != nil {
		c.core.Discard()
		return nil, err
	}
	c.cfg = cfg.shared()
	c.core.Settings = &c.cfg.core
	return c, nil
}

// use adds the features to the client. It returns an error if two features answer the same method, or if a capability
// cannot be declared.
func (c *Client) use(features []Feature) error {
	for _, f := range features {
		f := f.feature()
		if f.declare != nil {
			f.declare(&c.cfg.Capabilities)
		}
		for method, h := range f.answers {
			if err := c.answering.add(method, h); err != nil {
				return fmt.Errorf("mcpclient: features: %w", err)
			}
		}
		if f.hears != nil {
			c.dispatcher.add(f.hears)
		}
		if f.join != nil {
			if err := f.join(c); err != nil {
				return fmt.Errorf("mcpclient: features: %w", err)
			}
		}
	}
	c.answering.complete(len(c.cfg.HandlerMiddleware) == 0 && !c.tasks.declared())
	if err := c.answering.interpose(c.cfg.HandlerMiddleware); err != nil {
		return err
	}
	if err := c.interpose(); err != nil {
		return err
	}
	c.tasks.relate(c.answering.handlers)
	if err := given.Check(c.cfg.ClientInfo); err != nil {
		return fmt.Errorf("mcpclient: options: ClientInfo: %w", err)
	}
	if err := given.Check(c.cfg.Capabilities); err != nil {
		return fmt.Errorf("mcpclient: capabilities: %w", err)
	}
	c.cfg.core.Capabilities = c.cfg.Capabilities // includes the capabilities of the features
	if err := c.cfg.core.Declarable(); err != nil {
		return fmt.Errorf("mcpclient: capabilities: %w", err)
	}
	return nil
}

// Done returns a channel that is closed when the client has ended: after [Client.Close], or after a permanent failure,
// which [Client.Err] returns.
func (c *Client) Done() <-chan struct{} { return c.core.Base.Done() }

// Err returns the error that made the client give up. It returns nil if the client has not given up or was closed.
func (c *Client) Err() error { return c.core.GaveUp() }

// Close ends the client: calls in flight fail with [ErrShutdown], and the connection is closed. A child process that
// does not end within [Timeouts.Close] is killed. Close waits for all goroutines of the client, including handlers, but
// only slightly longer than that timeout. While Close waits, handlers still get queued notifications, with a context
// that has already ended. The error is always nil. Further calls of Close wait in the same way. See [Client.Shutdown].
func (c *Client) Close() error { return c.core.Stop(context.Background()) }
