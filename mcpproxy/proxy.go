package mcpproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/upstream"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Options are those of a Proxy. The zero value of each field means its default.
type Options struct {
	// Name is the name of the server in telemetry, at both ends: mcp_client.name and mcp_server.name. Empty means that of
	// the transport, such as the program's.
	Name string

	// FrameLimit is the size in bytes of the largest message, each way. Zero means 64 MiB.
	FrameLimit int

	// KeepAlive, if it is not zero, is how long the server may say nothing before it is sent a ping; one that does not
	// answer in as long is started or connected to anew. Zero means no pings.
	KeepAlive time.Duration

	// NoListening, if true, answers subscriptions/listen of hosts with -32601 and does not pass it on: for a server that
	// stops answering after it, see [mcpclient.Options.NoListening].
	NoListening bool

	// CloseTimeout is how long the server may take to end when its host has left. Zero means 1 s.
	CloseTimeout time.Duration

	// Policy says which messages pass, and how. Nil means that all pass as they are.
	Policy *Policy

	// Recorder has what passes written to a file, as the host has said it and as it gets it. Nil means that nothing is.
	Recorder *Recorder

	// Telemetry is where spans, metrics and log records go. Nil means telemetry.New().
	Telemetry *telemetry.Telemetry
}

// DefaultFrameLimit is the default of [Options.FrameLimit], in bytes.
const DefaultFrameLimit = 64 << 20

// drainTimeout is how long answers are waited for when a host has sent its last message. With the time that the server
// has to end, it is shorter than the 2 s for which hosts wait before they kill.
const drainTimeout = 500 * time.Millisecond

// Proxy stands between hosts and a server. It is safe for concurrent use.
type Proxy struct {
	o       Options
	server  *mcpserver.Server
	connect func(*relay.Client) (relay.Server, error)
	guard   *guard // nil if there is no policy

	mu    sync.Mutex
	pairs map[relay.Peer]*pair // guarded by mu; by host
}

// New returns a proxy for the server that t reaches. Each host has a connection to it, or a process, of its own.
// Nothing is connected to or started before a host has spoken. It is an error if t or an option is invalid.
func New(t transport.Transport, o *Options) (*Proxy, error) {
	if t == nil {
		return nil, errors.New("mcpproxy: no transport")
	}
	p := &Proxy{pairs: map[relay.Peer]*pair{}}
	if o != nil {
		p.o = *o
	}
	p.o.Name = cmp.Or(p.o.Name, t.Name())
	p.o.FrameLimit = cmp.Or(p.o.FrameLimit, DefaultFrameLimit)
	p.o.CloseTimeout = cmp.Or(p.o.CloseTimeout, time.Second)
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
		Name: p.o.Name, FrameLimit: p.o.FrameLimit, KeepAlive: p.o.KeepAlive, CloseTimeout: p.o.CloseTimeout,
		Telemetry: p.o.Telemetry,
	}
	p.connect = func(c *relay.Client) (relay.Server, error) {
		s, err := upstream.New(t, &client, c)
		if err != nil {
			return nil, fmt.Errorf("mcpproxy: %w", err)
		}
		return s, nil
	}
	var err error
	if p.server, err = mcpserver.NewRelay((*hosts)(p), &mcpserver.Options{
		Name: p.o.Name, InstanceID: instance, FrameLimit: p.o.FrameLimit, DrainTimeout: drainTimeout,
		Telemetry: p.o.Telemetry,
	}); err != nil {
		return nil, err
	}
	if p.o.Recorder != nil {
		if err := p.o.Recorder.begin(p.o.Name, p.o.Policy); err != nil {
			return nil, fmt.Errorf("mcpproxy: %w", err)
		}
	}
	return p, nil
}

// Serve passes messages between the host at the other end of c and a server of its own, until the host has left, ctx
// ends, or the session cannot go on. The server has ended when it returns. The error is that of
// [mcpserver.Server.Serve], or says why the session could not go on.
func (p *Proxy) Serve(ctx context.Context, c mcpserver.Conn) error { return p.server.Serve(ctx, c) }

// ServeStdio is Serve for the host at the other end of standard input and output. What [mcpserver.Server.ServeStdio]
// says of these holds.
func (p *Proxy) ServeStdio(ctx context.Context) error { return p.server.ServeStdio(ctx) }

// HTTPHandler returns a handler for hosts over HTTP, which is to be mounted at a path such as /mcp. Each session of a
// host has a server of its own. Requests of revisions that have no sessions (2026-07-28 and later) share one: what a
// server on standard input and output says that belongs to no request does not reach them. Nil for o means the
// defaults; Stateless and Sessions are mistakes in the program, and HTTPHandler panics.
//
// There are [DefaultMaxSessions] at once at most, unless [mcpserver.HTTPOptions.MaxSessions] has another number. One
// [mcpserver.HTTPOptions.Account] gets half of them. Beyond, the oldest session ends that has sent nothing but
// initialize, with its server; if there is none, the next is refused with 503.
//
// A session that has been idle for [mcpserver.HTTPOptions.SessionTimeout] ends, with its server. End the handler with
// [mcpserver.HTTPHandler.Shutdown], before the [net/http.Server].
func (p *Proxy) HTTPHandler(o *mcpserver.HTTPOptions) *mcpserver.HTTPHandler {
	return p.server.HTTPHandler(boundSessions(o))
}

// DefaultMaxSessions is how many sessions hosts over HTTP have at once, unless [mcpserver.HTTPOptions.MaxSessions] has
// another number: each may have a process of its own.
const DefaultMaxSessions = 64

// boundSessions returns o with the default bound for sessions, each of which has a process of its own.
func boundSessions(o *mcpserver.HTTPOptions) *mcpserver.HTTPOptions {
	own := *cmp.Or(o, new(mcpserver.HTTPOptions))
	own.MaxSessions = cmp.Or(own.MaxSessions, DefaultMaxSessions)
	return &own
}

// hosts receives what hosts send.
type hosts Proxy

// ReceiveRequest passes on a request of a host.
func (h *hosts) ReceiveRequest(ctx context.Context, m relay.Message, from relay.Peer, answer relay.Answer) {
	p := h.pairOf(from)
	if !p.accepted() {
		answer = advising(answer) // before the tape, which keeps the words of the server
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
	ctx, cancel := context.WithTimeout(context.Background(), h.o.CloseTimeout+h.o.CloseTimeout/2)
	defer cancel()
	p.gone(ctx)
	if h.guard != nil {
		h.guard.tel.Close()
	}
}

// pairOf returns the pair of a host, which is made with its first message.
func (h *hosts) pairOf(from relay.Peer) *pair {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pairs[from]
	if p == nil {
		p = &pair{
			connect: h.connect, host: from.(relay.Ender), guard: h.guard, // as those of mcpserver are
			tape: h.o.Recorder.tape(), noListening: h.o.NoListening,
		}
		h.pairs[from] = p
	}
	return p
}
