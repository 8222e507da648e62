// Package upstream is a relay's connection to a server. A [Server] sends the messages of the peer in front, a client of
// the relay, unchanged. It passes the messages of the server to a [relay.Receiver]. If the connection is lost, the
// relay reconnects and restores the state of the lost session in the next one.
//
// The package uses package conn, the client's core, like [mcpclient.Client], but has no tools, lists, handlers or
// cache. It sends requests with [conn.Request.Start]: no goroutine waits for an answer, and the goroutine that reads an
// answer passes it on.
//
// [mcpclient.Client]: https://pkg.go.dev/github.com/mcpotel/mcpotel/mcpclient#Client
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/serving"
	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Options configure a [Server]. The zero value of each field means its default.
type Options struct {
	Name  string // name in telemetry (mcp_client.name); the transport's name by default
	Group string // group in telemetry (mcp_client.group); none by default

	// RequestTimeout bounds each request, from the moment at which it can be sent. Zero means no limit.
	RequestTimeout time.Duration
	// InitTimeout bounds two steps of each connection attempt separately: opening the transport, and the introduction.
	// Zero means 10 s.
	InitTimeout time.Duration
	// CloseTimeout bounds the orderly closing of a connection. After that time, the connection is cut. Zero means 100 ms.
	CloseTimeout time.Duration
	// KeepAlive is the time without a message from the server after which the relay sends a ping. Zero means no pings.
	KeepAlive time.Duration
	// FrameLimit is the size of the largest frame, in bytes. Zero means 16 MiB.
	FrameLimit int

	Telemetry *telemetry.Telemetry // telemetry.New() by default
}

// defaultFrameLimit is the default of [Options.FrameLimit].
const defaultFrameLimit = 16 << 20

// Limits of the pauses between connection attempts, of the start of a process, and of an authorization by a person.
const (
	backoffMin   = 50 * time.Millisecond
	backoffMax   = 2 * time.Second
	startTimeout = time.Minute
	authTimeout  = 5 * time.Minute
)

// settings returns the settings for the client's core.
func (o *Options) settings() *conn.Settings {
	return &conn.Settings{
		RequestTimeout: o.RequestTimeout, InitTimeout: cmp.Or(o.InitTimeout, 10*time.Second), StartTimeout: startTimeout,
		AuthTimeout: authTimeout, CloseTimeout: cmp.Or(o.CloseTimeout, 100*time.Millisecond),
		BackoffMin: backoffMin, BackoffMax: backoffMax, KeepAlive: o.KeepAlive,
		InitialAttempts: 1, FrameLimit: cmp.Or(o.FrameLimit, defaultFrameLimit),
	}
}

// Server is a connection to a server. It reconnects when the connection is lost.
type Server struct {
	core     conn.Conn
	client   *relay.Client
	patience time.Duration // bounds how long a message waits for a session

	name, instance, group string
	number                uint64 // number among the clients of the process

	serving  serving.Requests
	restored restored
	wishes   wishes
	tools    tools
	heard    atomic.Uint64 // number of messages of the server that may be about a request in flight

	mu         sync.Mutex
	introduced bool            // guarded by mu; the peer in front knows the outcome of the first connection
	latest     json.RawMessage // guarded by mu; params of the latest introduction, for modern keep-alive requests
	sessions   bool            // guarded by mu; true after the first session
	told       *conn.Session   // guarded by mu; session in which the relay sends notifications/initialized; nil for none
}

// New returns a connection to the server that t reaches. r describes the peer in front. New starts to connect
// immediately.
func New(t transport.Transport, o *Options, r *relay.Client) (*Server, error) {
	if t == nil {
		return nil, errors.New("no transport")
	}
	var own Options
	if o != nil {
		own = *o
	}
	for name, v := range map[string]int64{
		"RequestTimeout": int64(own.RequestTimeout), "InitTimeout": int64(own.InitTimeout),
		"Timeouts.Close": int64(own.CloseTimeout), "KeepAlive": int64(own.KeepAlive), "Limits.Frame": int64(own.FrameLimit),
	} {
		if v < 0 {
			return nil, fmt.Errorf("options: %s is negative", name)
		}
	}
	c := &Server{
		client: r, name: cmp.Or(own.Name, t.Name()), instance: instrument.NewInstanceID(), group: own.Group,
		patience: cmp.Or(r.Patience, 30*time.Second),
	}
	c.wishes.shared = r.Shared
	settings := own.settings()
	settings.Introduction, settings.Heals, settings.AnyRequests = hooks{c}, true, true
	if err := settings.Complete(); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	if own.Telemetry == nil {
		own.Telemetry = telemetry.New()
	}
	tel := instrument.NewClient(own.Telemetry, c.name, instrument.Network(t.Network()),
		instrument.WithInstanceID(c.instance), instrument.WithGroup(c.group))
	c.core.Init(settings, t, tel, instrument.RefFrom(r.Context), hooks{c})
	c.number = running.Clients.Number()
	running.Enlist(&running.Clients, c.number, c)
	c.core.Start()
	return c, nil
}

// Request sends a request of the peer in front.
func (c *Server) Request(ctx context.Context, m relay.Message, answer relay.Answer) {
	q := c.newRequest(ctx, m.Method, answer)
	q.params, q.Header = readParams(m.Params), m.Header
	if m.Method == mcp.MethodSubscriptionsListen {
		q.id = bytes.Clone(m.ID)
	}
	q.start()
}

func (c *Server) newRequest(ctx context.Context, method string, answer relay.Answer) *request {
	q := &request{Request: conn.NewRequest(&c.core), c: c, ctx: ctx, answer: answer}
	q.Content, q.Method, q.Wait, q.WaitForRoom = q, method, true, true
	return q
}

// start starts the request. If there is no session, the request waits for one, for at most Server.patience.
func (q *request) start() {
	q.ReadyBy = time.Now().Add(q.c.patience)
	q.Start(q.ctx, q)
}

// Notify sends a notification of the peer in front. It drops notifications/initialized in a session in which the relay
// sends that notification itself.
func (c *Server) Notify(ctx context.Context, m relay.Message) error {
	p := readParams(m.Params)
	err := c.core.Send(ctx, &conn.Notice{
		Method: m.Method, Version: p.Version(), Wait: true, By: time.Now().Add(c.patience), WaitForRoom: true,
		Encode: func(s *conn.Session, trace *instrument.TraceContext) ([]byte, error) {
			if m.Method == mcp.NotificationInitialized && c.isConfirmed(s) {
				return nil, nil
			}
			frame := jsonscan.AppendString([]byte(`{"jsonrpc":"2.0","method":`), m.Method)
			return p.append(frame, trace), nil
		},
	})
	if err != nil {
		return err
	}
	return nil
}

// hadSession reports whether there has been a session.
func (c *Server) hadSession() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions
}

// confirmed records that the relay sends notifications/initialized in session s.
func (c *Server) confirmed(s *conn.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = s
}

// isConfirmed reports whether the relay sends notifications/initialized in session s.
func (c *Server) isConfirmed(s *conn.Session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told == s
}

// Ready reports whether messages can be sent without waiting for a session.
func (c *Server) Ready() bool { return c.core.Open() }

// Health returns the state of the connection for a probe.
func (c *Server) Health() health.Connection { return c.core.Health(c.name) }

// Stop ends the connection, and waits for the goroutines of the connection as [conn.Conn.Stop] does.
func (c *Server) Stop(ctx context.Context) error { return c.core.Stop(ctx) }

// Inspect returns the state of the connection.
func (c *Server) Inspect() inspect.Client {
	i := c.core.Inspect(func(i *inspect.Client) { i.Answering = c.serving.Len() })
	i.Number, i.Name, i.InstanceID, i.Group = c.number, c.name, c.instance, c.group
	return i
}

// targets maps each method of the protocol, in all revisions, to its target.
var targets = sync.OnceValue(func() map[string]mcp.Target {
	all := map[string]mcp.Target{}
	for m := range mcp.Methods() {
		all[m.Name] = m.Target
	}
	return all
})

// about describes a message of the peer in front for telemetry.
func about(method string, p *params) instrument.Request {
	target, known := targets()[method]
	r := instrument.Request{Method: method, Foreign: !known, Params: p.Raw()}
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
