package gosdk

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Server is an instrumented [mcp.Server]. The original server may still be used. Only Connect and Run of Server differ:
// they determine the network of the session, for telemetry, from the type of the transport.
type Server struct {
	*mcp.Server
}

// ServerOption configures [InstrumentServer].
type ServerOption func(*serving)

// TrustTraceContext lets HTTP clients without a token of the SDK's package auth decide about traces: the span that the
// client sends becomes the parent of the request's span, including its sampling decision, and the handler's context has
// the client's baggage. Without the option, the span is linked to the client's span, its parent is the span of the HTTP
// request, if any, and the baggage is not read. Set the option if only your own programs can reach the server;
// telemetry.WithPublicEndpointFn can distrust single requests.
func TrustTraceContext() ServerOption { return func(v *serving) { v.trusting = true } }

// InstrumentServer observes everything that s receives and sends from now on. The name is the value of mcp_server.name.
//
// Messages that do not arrive over HTTP count as messages over pipes, unless the transport of the Server's Connect or
// Run names another network.
//
// The parent of a request's span is the span that the client sends in the request. Over HTTP, this requires a verified
// token or [TrustTraceContext]; the span of the HTTP request is then linked, or is the parent if the client sends no
// span. In HTTP sessions the SDK provides only the span of the first HTTP request, which is not used; serve HTTP
// sessions through [HTTPHandler] to get the right span.
func InstrumentServer(s *mcp.Server, tel *telemetry.Telemetry, name string, opts ...ServerOption) *Server {
	v := &serving{tel: tel, name: name, instance: instrument.NewInstanceID()}
	for _, o := range opts {
		o(v)
	}
	if instrument.NewServer(tel, name, instrument.Network{}) == nil {
		return &Server{s} // the telemetry is off
	}
	s.AddSendingMiddleware(v.sending)
	s.AddReceivingMiddleware(v.receiving)
	return &Server{s}
}

// Connect is like [mcp.Server.Connect].
func (s *Server) Connect(ctx context.Context, t mcp.Transport, opts *mcp.ServerSessionOptions) (*mcp.ServerSession,
	error) {
	return s.Server.Connect(context.WithValue(ctx, networkKey{}, networkOf(t)), t, opts)
}

// Run is like [mcp.Server.Run].
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	return s.Server.Run(context.WithValue(ctx, networkKey{}, networkOf(t)), t)
}

// networkKey is the context key for the network of a connection.
type networkKey struct{}

// serving is the instrumentation of one server.
type serving struct {
	tel  *telemetry.Telemetry
	name string

	instance string // the same on all networks

	trusting bool // HTTP clients without a token decide about traces

	tools, prompts roster

	networks sync.Map // *network by instrument.Network
	sessions sync.Map // *session by weak.Pointer[mcp.ServerSession]
}

// network is the instrumentation of the connections over one network.
type network struct {
	instrument.Network
	tel   *instrument.Server
	peers sync.Map // *instrument.Peer by version, for clients without a session id
}

// session is a connection that outlives one message, or a session with an id.
type session struct {
	network *network
	peer    atomic.Pointer[instrument.Peer] // client of an open session; nil without one
}

func (v *serving) network(ctx context.Context, extra *mcp.RequestExtra) *network {
	n, ok := ctx.Value(networkKey{}).(instrument.Network)
	switch {
	case ok:
	case overHTTP(ctx, extra):
		n = served
	default:
		n = pipe
	}
	if known, ok := v.networks.Load(n); ok {
		return known.(*network)
	}
	known, _ := v.networks.LoadOrStore(n, &network{Network: n,
		tel: instrument.NewServer(v.tel, v.name, n, instrument.WithInstanceID(v.instance))})
	return known.(*network)
}

// peer returns the peer for a version and a session.
func (n *network) peer(version, sessionID string) *instrument.Peer {
	facts := instrument.Facts{Network: n.Network, MCPVersion: version}
	if sessionID != "" || !slices.Contains(versions, version) {
		return n.tel.Peer(facts, sessionID)
	}
	if p, ok := n.peers.Load(version); ok {
		return p.(*instrument.Peer)
	}
	p, _ := n.peers.LoadOrStore(version, n.tel.Peer(facts, ""))
	return p.(*instrument.Peer)
}

// versions are the protocol versions. Each has one peer for all clients without a session.
var versions = mcp.SupportedProtocolVersions()

// session returns the session of a message. It stores the session, unless the session lasts only for that message.
func (v *serving) session(ctx context.Context, s *mcp.ServerSession, extra *mcp.RequestExtra) *session {
	key := weak.Make(s)
	if known, ok := v.sessions.Load(key); ok {
		return known.(*session)
	}
	fresh := &session{network: v.network(ctx, extra)}
	if fresh.network.Protocol == served.Protocol && s.ID() == "" {
		return fresh
	}
	known, taken := v.sessions.LoadOrStore(key, fresh)
	if !taken {
		runtime.AddCleanup(s, func(key weak.Pointer[mcp.ServerSession]) { v.sessions.Delete(key) }, key)
	}
	return known.(*session)
}

// client returns the client of a message with these params.
func (known *session) client(s *mcp.ServerSession, params mcp.Params) *instrument.Peer {
	if p := known.peer.Load(); p != nil {
		return p
	}
	version := ""
	if params != nil {
		version, _ = params.GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	}
	if p := s.InitializeParams(); version == "" && p != nil {
		version = p.ProtocolVersion
	}
	return known.network.peer(version, s.ID())
}

// clientOf returns the name and version of the client, from a modern message or the handshake; empty if unknown.
func clientOf(s *mcp.ServerSession, params mcp.Params) (name, version string) {
	switch p := params.(type) {
	case nil:
	case *mcp.InitializeParams:
		if p.ClientInfo != nil {
			return p.ClientInfo.Name, p.ClientInfo.Version
		}
	default:
		if said, ok := params.GetMeta()[mcp.MetaKeyClientInfo].(map[string]any); ok {
			name, _ = said["name"].(string)
			version, _ = said["version"].(string)
			return name, version
		}
	}
	if p := s.InitializeParams(); p != nil && p.ClientInfo != nil {
		return p.ClientInfo.Name, p.ClientInfo.Version
	}
	return "", ""
}

// opened records that the client has opened the session. It records the end of the session when the connection ends.
func (v *serving) opened(known *session, s *mcp.ServerSession, version string) {
	if kept, ok := v.sessions.Load(weak.Make(s)); !ok || kept != known {
		return // the session ends with the message
	}
	p := known.network.peer(version, s.ID())
	known.peer.Store(p)
	since := time.Now()
	gone := known.network.tel.Connected(instrument.Connection{InSession: func() bool { return true }})
	go func() { // ends with the session
		defer gone()
		errorType := ""
		if err := s.Wait(); err != nil {
			errorType = names.ErrorConnectionLost
		}
		p.SessionEnd(time.Since(since), errorType)
	}()
}

func (v *serving) sending(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s, ok := req.GetSession().(*mcp.ServerSession)
		if !ok {
			return next(ctx, method, req)
		}
		switch method {
		case methodAcknowledged:
			acknowledged(ctx)
		case "notifications/tools/list_changed":
			v.tools.changed()
		case "notifications/prompts/list_changed":
			v.prompts.changed()
		}
		known := v.session(ctx, s, nil)
		return send(ctx, known.network.tel, known.client(s, nil), method, req, next)
	}
}

func (v *serving) receiving(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s, ok := req.GetSession().(*mcp.ServerSession)
		if !ok {
			return next(ctx, method, req)
		}
		extra := req.GetExtra()
		known := v.session(ctx, s, extra)
		in := incoming(method, req.GetParams(), known.client(s, req.GetParams()))
		in.ClientName, in.ClientVersion = clientOf(s, req.GetParams())
		in.Untrusted = known.network.Protocol == served.Protocol && !v.trusting && (extra == nil || extra.TokenInfo == nil)
		switch in.TargetKind {
		case instrument.Tool:
			in.TargetKnown = v.tools.has(in.Target, func() (map[string]bool, error) { return toolNames(ctx, s, next) })
		case instrument.Prompt:
			in.TargetKnown = v.prompts.has(in.Target, func() (map[string]bool, error) { return promptNames(ctx, s, next) })
		}
		result, err := receive(ambient(ctx, method, s, extra), known.network.tel, in, req, known.network.tel.StreamOpened,
			next)
		if res, ok := result.(*mcp.InitializeResult); ok && err == nil && res != nil {
			v.opened(known, s, res.ProtocolVersion)
		}
		return result, err
	}
}
