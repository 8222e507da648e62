package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// NewRelay is for package mcpproxy: it returns a client that passes on what another peer says, as it says it, and gives
// what the server says to r. It begins to connect at once.
//
// Of o it takes what concerns the connection and the telemetry. BackoffMin and BackoffMax are 50 ms and 2 s if they are
// zero, and RequestTimeout is none. All that makes a client say or hear something of its own is an error.
func NewRelay(t transport.Transport, o *Options, r *relay.Client) (relay.Server, error) {
	if t == nil {
		return nil, errors.New("mcpclient: no transport")
	}
	cfg, err := relayConfig(o, t.Name())
	if err != nil {
		return nil, fmt.Errorf("mcpclient: %w", err)
	}
	c := &relayed{
		client: r, name: cfg.Name, instance: cmp.Or(cfg.InstanceID, instrument.NewInstanceID()), group: cfg.Group,
		patience: cmp.Or(r.Patience, 30*time.Second),
	}
	c.wishes.shared = r.Shared
	hooks := relayHooks{c}
	cfg.core.Introducer = hooks
	if err := cfg.core.Complete(); err != nil {
		return nil, fmt.Errorf("mcpclient: options: %w", err)
	}
	tel := instrument.NewClient(cfg.Telemetry, c.name, instrument.Network(t.Network()),
		instrument.WithInstanceID(c.instance), instrument.WithGroup(cfg.Group))
	c.core.Init(&cfg.core, t, tel, instrument.RefFrom(r.Context), hooks)
	c.number = running.Clients.Number()
	running.Enlist(&running.Clients, c.number, c)
	c.core.Start()
	return c, nil
}

// relayConfig returns the options of a client that says nothing of its own.
func relayConfig(o *Options, transportName string) (config, error) {
	var own Options
	if o != nil {
		own = *o
	}
	var unfit []string
	for name, v := range map[string]any{
		"ClientInfo": own.ClientInfo, "Versions": own.Versions, "Features": own.Features,
		"Capabilities": own.Capabilities, "InitialAttempts": own.InitialAttempts,
		"NotificationQueue": own.NotificationQueue, "NotificationBytes": own.NotificationBytes,
		"MaxInputRounds": own.MaxInputRounds, "NoCache": own.NoCache, "CacheSize": own.CacheSize,
		"Middleware": own.Middleware, "HandlerMiddleware": own.HandlerMiddleware,
	} {
		if !reflect.ValueOf(v).IsZero() {
			unfit = append(unfit, name)
		}
	}
	if unfit != nil {
		slices.Sort(unfit)
		return config{}, fmt.Errorf("options: %s: a client that only passes messages on has none of that",
			strings.Join(unfit, ", "))
	}
	own.BackoffMin = cmp.Or(own.BackoffMin, 50*time.Millisecond)
	own.BackoffMax = cmp.Or(own.BackoffMax, max(2*time.Second, own.BackoffMin))
	own.RequestTimeout = cmp.Or(own.RequestTimeout, -1)
	return newConfig(&own, transportName, 1)
}

// relayed is a client that passes messages on.
type relayed struct {
	core     conn.Conn
	client   *relay.Client
	patience time.Duration // with which a message waits for a session

	name, instance, group string
	number                uint64 // among the clients of the process

	serving  serving
	restored restored
	wishes   wishes
	tools    listedTools
	heard    atomic.Uint64 // messages of the server that may be about a request which is on its way

	mu         sync.Mutex
	introduced bool            // guarded by mu; the peer in front knows what has become of the first connection
	latest     json.RawMessage // guarded by mu; the params of the latest introduction, for a sign of life
}

// Request sends a request of the peer in front.
func (c *relayed) Request(ctx context.Context, m relay.Message, answer relay.Answer) {
	q := c.newRequest(ctx, m.Method, answer)
	q.params, q.Header = conn.ReadParams(m.Params), m.Header
	if m.Method == mcp.MethodSubscriptionsListen {
		q.id = bytes.Clone(m.ID)
	}
	q.Pass(ctx, q, time.Now().Add(c.patience))
}

func (c *relayed) newRequest(ctx context.Context, method string, answer relay.Answer) *relayedRequest {
	q := &relayedRequest{Request: conn.NewRequest(&c.core), c: c, ctx: ctx, answer: answer}
	q.Method = method
	return q
}

// Notify sends a notification of the peer in front.
func (c *relayed) Notify(ctx context.Context, m relay.Message) error {
	params := conn.ReadParams(m.Params)
	if err := c.core.PassNotification(ctx, m.Method, &params, time.Now().Add(c.patience)); err != nil {
		return errorOf(err)
	}
	return nil
}

// Ready reports whether messages need not wait for a session.
func (c *relayed) Ready() bool { return c.core.Open() }

// Stop ends the client as [Client.Stop] does.
func (c *relayed) Stop(ctx context.Context) error { return c.core.Stop(ctx) }

// Inspect returns what the client is doing: see [Client.Inspect].
func (c *relayed) Inspect() inspect.Client {
	i, why, oldest := c.core.Inspect(func(i *inspect.Client) { i.Answering = c.serving.count() })
	i.Number, i.Name, i.InstanceID, i.Group = c.number, c.name, c.instance, c.group
	show(&c.core, &i, &why, oldest)
	return i
}

// targets says what the methods of the protocol are about, in all revisions.
var targets = sync.OnceValue(func() map[string]mcp.Target {
	all := map[string]mcp.Target{}
	for m := range mcp.Methods() {
		all[m.Name] = m.Target
	}
	return all
})

// aboutRelayed describes a message of the peer in front.
func aboutRelayed(method string, p *conn.PassedParams) instrument.Request {
	target, known := targets()[method]
	r := instrument.Request{Method: method, Foreign: !known}
	switch target {
	case mcp.TargetTool:
		r.TargetKind, r.Target = instrument.Tool, p.Target(target)
	case mcp.TargetPrompt:
		r.TargetKind, r.Target = instrument.Prompt, p.Target(target)
	case mcp.TargetResource:
		r.URI = p.Target(target)
	case mcp.TargetNone:
		if method == mcp.MethodComplete {
			if name, _ := jsonrpc.Text(jsonrpc.CompletedPrompt(p.Raw())); name != "" {
				r.TargetKind, r.Target = instrument.Prompt, name
			}
		}
	}
	return r
}
