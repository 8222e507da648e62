package mcpproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
	"github.com/mcpotel/mcpotel/internal/relay/upstream"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Options configure a Proxy. The zero value of each field means its default.
type Options struct {
	// Name is the name of the server in telemetry, on both sides: mcp_client.name and mcp_server.name. Empty means the
	// name of the transport, for example the name of the program.
	Name string

	// Limits bound the size of messages.
	Limits Limits

	// Timeouts bound the closing of a connection.
	Timeouts Timeouts

	// KeepAlive is the time without a message from the server after which the proxy sends a ping. If the server does not
	// answer within the same time, the proxy restarts it or reconnects. Zero means no pings.
	KeepAlive time.Duration

	// NoListening makes the proxy answer subscriptions/listen with -32601 instead of passing it on. Use it for a server
	// that stops answering after that request, see [mcpclient.Options.NoListening].
	NoListening bool

	// Policy decides which messages pass, and which parts are changed. Nil means that all messages pass unchanged.
	Policy *Policy

	// Recorder writes the messages to a file: messages of the host as the host sends them, messages of the server as the
	// host gets them. Nil means no recording.
	Recorder *Recorder

	// Telemetry receives spans, metrics and log records. Nil means telemetry.New().
	Telemetry *telemetry.Telemetry
}

// Limits bound the messages of a Proxy. The zero value of each field means its default.
type Limits struct {
	// Frame is the size in bytes of the largest message, in each direction. Zero means [DefaultFrameLimit].
	Frame int
}

// Timeouts bound the closing of a Proxy's connections. The zero value of each field means its default.
type Timeouts struct {
	// Close bounds how long the end of the server may take after its host has left. Zero means 1 s.
	Close time.Duration
}

// DefaultFrameLimit is the default of [Limits.Frame]: 64 MiB.
const DefaultFrameLimit = 64 << 20

// drainTimeout bounds how long the proxy waits for answers after the last message of a host. Together with the time for
// the end of the server, it is shorter than the 2 s after which hosts kill the proxy.
const drainTimeout = 500 * time.Millisecond

// Proxy relays messages between hosts and a server. It is safe for concurrent use.
type Proxy struct {
	o       Options
	server  *mcpserver.Server
	connect func(*relay.Client) (relay.Server, error)
	guard   *guard // nil without a policy

	mu    sync.Mutex
	pairs map[relay.Peer]*pair // guarded by mu; by host
}

// New returns a proxy for the server that t reaches. Each host has its own connection, or its own process. The proxy
// connects, or starts a process, when a host sends its first message. New returns an error if t or an option is
// invalid.
func New(t transport.Transport, o *Options) (*Proxy, error) {
	if t == nil {
		return nil, errors.New("mcpproxy: no transport")
	}
	p := &Proxy{pairs: map[relay.Peer]*pair{}}
	if o != nil {
		p.o = *o
	}
	p.o.Name = cmp.Or(p.o.Name, t.Name())
	p.o.Limits.Frame = cmp.Or(p.o.Limits.Frame, DefaultFrameLimit)
	p.o.Timeouts.Close = cmp.Or(p.o.Timeouts.Close, time.Second)
	if p.o.Telemetry == nil {
		p.o.Telemetry = telemetry.New()
	}
	instance := instrument.NewInstanceID()
	if p.o.Policy != nil {
		tel := instrument.NewServer(p.o.Telemetry, p.o.Name, instrument.Network{}, instrument.WithInstanceID(instance))
		var err error
		if p.guard, err = newGuard(p.o.Policy, tel); err != nil {
			return nil, fmt.Errorf("mcpproxy: %w", err)
		}
		if p.guard.secrets != nil {
			p.o.Telemetry = instrument.Redacting(p.o.Telemetry, p.guard.scrub)
		}
	}
	client := upstream.Options{
		Name: p.o.Name, FrameLimit: p.o.Limits.Frame, KeepAlive: p.o.KeepAlive, CloseTimeout: p.o.Timeouts.Close,
		Telemetry: p.o.Telemetry,
	}
	p.connect = func(c *relay.Client) (relay.Server, error) {
		s, err := upstream.New(t, &client, c)
		if err != nil {
			return nil, fmt.Errorf("mcpproxy: %w", err)
		}
		return s, nil
	}
	server, err := downstream.New((*hosts)(p), &downstream.Options{
		Name: p.o.Name, InstanceID: instance, FrameLimit: p.o.Limits.Frame, DrainTimeout: drainTimeout,
		Telemetry: p.o.Telemetry,
	})
	if err != nil {
		return nil, err
	}
	p.server = server.(*mcpserver.Server)
	if p.o.Recorder != nil {
		if err := p.o.Recorder.begin(p.o.Name, p.o.Policy); err != nil {
			return nil, fmt.Errorf("mcpproxy: %w", err)
		}
	}
	return p, nil
}

// Serve relays messages between the host at the other end of c and the host's own server. It returns when the host has
// left, ctx ends, or the session cannot continue; the server has ended by then. The error is the error of
// [mcpserver.Server.Serve], or the reason why the session could not continue.
func (p *Proxy) Serve(ctx context.Context, c mcpserver.Conn) error { return p.server.Serve(ctx, c) }

// ServeStdio is like Serve, for the host on standard input and output. See [mcpserver.Server.ServeStdio].
func (p *Proxy) ServeStdio(ctx context.Context) error { return p.server.ServeStdio(ctx) }

// HTTPHandler returns a handler for hosts over HTTP, to mount at a path such as /mcp. Each session of a host has its
// own server. Requests of revisions without sessions (2026-07-28 and later) share one server. If that is a stdio
// server, its messages that belong to no request do not reach these hosts. A nil o means the defaults. HTTPHandler
// panics if Stateless or Sessions is set, because that is a mistake in the program.
//
// The limit is [DefaultMaxSessions] sessions, unless Sessions of [mcpserver.HTTPLimits] sets another limit. One
// [mcpserver.HTTPOptions.Account] gets at most half of them. At the limit, the handler ends the oldest session whose
// host has sent only initialize, together with its server. If there is none, it refuses the next session with 503.
//
// A session ends after Timeouts.Session of [mcpserver.HTTPOptions] without messages, together with its server. End the
// handler with [mcpserver.HTTPHandler.Shutdown], before the [net/http.Server].
func (p *Proxy) HTTPHandler(o *mcpserver.HTTPOptions) *mcpserver.HTTPHandler {
	return p.server.HTTPHandler(boundSessions(o))
}

// HealthHandler returns a handler that reports whether the servers are usable, in the form of
// [mcpclient.HealthHandler]. It checks the server of each host from the server's first answer until the host has left.
// Without hosts it answers 200, because the proxy connects, or starts a process, only for a host. The handler contacts
// no server: [Options.KeepAlive] detects silently broken connections. The handler may be used concurrently.
func (p *Proxy) HealthHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		pairs := slices.Collect(maps.Values(p.pairs))
		p.mu.Unlock()
		var all []health.Connection
		for _, of := range pairs {
			if l, _ := of.current(); l != nil {
				if c, ok := l.health(); ok {
					all = append(all, c)
				}
			}
		}
		health.Write(w, all)
	})
}

// DefaultMaxSessions is the default limit of sessions over HTTP; Sessions of [mcpserver.HTTPLimits] sets another limit.
// Each session may have its own process.
const DefaultMaxSessions = 64

// boundSessions returns o with the default limit of sessions.
func boundSessions(o *mcpserver.HTTPOptions) *mcpserver.HTTPOptions {
	own := *cmp.Or(o, new(mcpserver.HTTPOptions))
	own.Limits.Sessions = cmp.Or(own.Limits.Sessions, DefaultMaxSessions)
	return &own
}

// hosts receives the messages of hosts.
type hosts Proxy

// ReceiveRequest passes on a request of a host.
func (h *hosts) ReceiveRequest(ctx context.Context, m relay.Message, from relay.Peer, answer relay.Answer) {
	p := h.pairOf(from)
	if !p.accepted() {
		answer = withAdvice(answer) // the tape below records the text without advice
	}
	answer = p.tape.asked(ctx, recording.HostSide, p.tape.forTape(m), answer)
	p.guard.request(ctx, p, m, answer)
}

// ReceiveNotification passes on a notification of a host.
func (h *hosts) ReceiveNotification(ctx context.Context, m relay.Message, from relay.Peer) {
	p := h.pairOf(from)
	p.tape.told(ctx, recording.HostSide, p.tape.forTape(m))
	if p.guard.notification(ctx, m) {
		p.notify(ctx, m)
	}
}

// Gone ends the connection to the server of a host that has left.
func (h *hosts) Gone(from relay.Peer) {
	h.mu.Lock()
	p := h.pairs[from]
	delete(h.pairs, from)
	h.mu.Unlock()
	if p == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.o.Timeouts.Close*3/2)
	defer cancel()
	p.gone(ctx)
	if h.guard != nil {
		h.guard.tel.Close()
	}
}

// pairOf returns the pair of a host. It creates the pair for the host's first message.
func (h *hosts) pairOf(from relay.Peer) *pair {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pairs[from]
	if p == nil {
		p = &pair{
			connect: h.connect, host: from.(relay.Ender), guard: h.guard, // the peers of package downstream are Enders
			tape: h.o.Recorder.tape(), noListening: h.o.NoListening,
		}
		h.pairs[from] = p
	}
	return p
}
