package mcpgo

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mark3labs/mcp-go/tracing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// ServerOption configures [InstrumentServer].
type ServerOption func(*serving)

// TrustTraceContext lets HTTP clients decide about traces: the span that the client sends becomes the parent of the
// request's span, including its sampling decision, and the handler's context has the client's baggage. Without the
// option, the span is linked to the client's span, its parent is the span of the HTTP request, if any, and the baggage
// is not read. Set the option if only your own programs can reach the server; telemetry.WithPublicEndpointFn can
// distrust single requests.
func TrustTraceContext() ServerOption { return func(v *serving) { v.trusting = true } }

// InstrumentServer observes every request that s receives from now on, and the requests of its handlers to legacy
// clients. The name is the value of mcp_server.name. Call it when s is created, before it serves.
//
// The parent of a request's span is the span that the client sends in the request. Over HTTP, where mcp-go does not
// authenticate clients, this requires [TrustTraceContext]; the span of the HTTP request is then linked, or is the
// parent if the client sends no span.
func InstrumentServer(s *server.MCPServer, tel *telemetry.Telemetry, name string, opts ...ServerOption) {
	v := &serving{server: s, tel: tel, name: name, instance: instrument.NewInstanceID()}
	for _, o := range opts {
		o(v)
	}
	if v.network(pipe).tel == nil {
		return // the telemetry is off
	}
	server.WithTracer(v)(s)
	server.WithPropagator(v)(s)
	server.WithMetaPropagator(v)(s)
	server.WithToolHandlerMiddleware(v.aroundTool)(s)
	server.WithPromptHandlerMiddleware(v.aroundPrompt)(s)
	server.WithResourceHandlerMiddleware(v.aroundResource)(s)
	hooks := s.GetHooks()
	if hooks == nil {
		hooks = &server.Hooks{}
		server.WithHooks(hooks)(s)
	}
	hooks.AddBeforeAny(v.before)
	hooks.AddOnSuccess(v.succeeded)
	hooks.AddOnError(v.failed)
	hooks.AddOnRegisterSession(v.registered)
	hooks.AddOnUnregisterSession(v.unregistered)
}

// serving is the instrumentation of one server. It implements the tracer and the propagators of mcp-go's server.
type serving struct {
	server *server.MCPServer
	tel    *telemetry.Telemetry
	name   string

	instance string // the same on all networks

	trusting bool // HTTP clients decide about traces

	networks sync.Map // *network by instrument.Network
	prompts  sync.Map // known names of prompts
	sessions sync.Map // opened by session id
}

// network is the instrumentation of the connections over one network.
type network struct {
	instrument.Network
	tel   *instrument.Server
	peers sync.Map // *instrument.Peer by version, for clients without a session id
}

func (v *serving) network(n instrument.Network) *network {
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
	if sessionID != "" || !slices.Contains(mcp.ValidProtocolVersions, version) {
		return n.tel.Peer(facts, sessionID)
	}
	if p, ok := n.peers.Load(version); ok {
		return p.(*instrument.Peer)
	}
	p, _ := n.peers.LoadOrStore(version, n.tel.Peer(facts, ""))
	return p.(*instrument.Peer)
}

// Context keys for data that mcp-go provides before it starts a span, in this order.
type (
	metaKey    struct{} // *mcp.Meta
	headersKey struct{} // http.Header
)

// ExtractMeta stores the _meta of a request in the context.
func (v *serving) ExtractMeta(ctx context.Context, meta *mcp.Meta) context.Context {
	if meta == nil {
		return ctx
	}
	return context.WithValue(ctx, metaKey{}, meta)
}

// InjectMeta does nothing: [asker] injects the trace context into requests to the client.
func (v *serving) InjectMeta(_ context.Context, meta *mcp.Meta) *mcp.Meta { return meta }

// Extract stores the headers of a request in the context. They are empty unless the request came over HTTP.
func (v *serving) Extract(ctx context.Context, h http.Header) context.Context {
	if len(h) == 0 {
		return ctx
	}
	return context.WithValue(ctx, headersKey{}, h)
}

// Inject does nothing.
func (v *serving) Inject(context.Context, http.Header) {}

// Start starts a request. Its operation begins after mcp-go has read the request, so the returned context gets the span
// later.
func (v *serving) Start(ctx context.Context, name string, kind tracing.SpanKind,
	_ ...tracing.Attribute) (context.Context, tracing.Span) {
	method, ok := strings.CutPrefix(name, "mcp.")
	if kind != tracing.SpanKindServer || !ok {
		return ctx, noSpan{} // a tool's span would duplicate the span of the request
	}
	r := &request{v: v, method: method}
	r.base = context.WithValue(ctx, requestKey{}, r)
	return late{r.base, r}, span{r}
}

// noSpan is a span that is not recorded.
type noSpan struct{}

func (noSpan) SetAttributes(...tracing.Attribute)   {}
func (noSpan) RecordError(error)                    {}
func (noSpan) SetStatus(tracing.StatusCode, string) {}
func (noSpan) End()                                 {}

// span is the span with which mcp-go ends a request.
type span struct{ r *request }

func (s span) SetAttributes(...tracing.Attribute) {}
func (s span) RecordError(error)                  {}
func (s span) End()                               { s.r.finish() }

// SetStatus records that the response is an error.
func (s span) SetStatus(_ tracing.StatusCode, message string) { s.r.refused = message }

func (v *serving) before(ctx context.Context, id any, _ mcp.MCPMethod, message any) {
	if r := requestOf(ctx); r != nil {
		r.begin(anyID(id), message)
	}
}

func (v *serving) succeeded(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, result any) {
	if r := requestOf(ctx); r != nil {
		r.result = result
	}
}

func (v *serving) failed(ctx context.Context, id any, _ mcp.MCPMethod, message any, err error) {
	if r := requestOf(ctx); r != nil {
		r.begin(anyID(id), message) // has an effect only if mcp-go refused the request before reading it
		r.err = err
	}
}

// opened is a session that mcp-go has registered.
type opened struct {
	since time.Time
	gone  func()
}

func (v *serving) registered(ctx context.Context, s server.ClientSession) {
	n, _ := v.carrier(ctx, s)
	gone := v.network(n).tel.Connected(instrument.Connection{InSession: func() bool { return legacySession(s) != "" }})
	v.sessions.Store(s.SessionID(), opened{time.Now(), gone})
}

// unregistered records the end of a session.
func (v *serving) unregistered(ctx context.Context, s server.ClientSession) {
	was, ok := v.sessions.LoadAndDelete(s.SessionID())
	if !ok {
		return
	}
	was.(opened).gone()
	if version := legacySession(s); version != "" {
		n, id := v.carrier(ctx, s)
		v.network(n).peer(version, id).SessionEnd(time.Since(was.(opened).since), "")
	}
}

// legacySession returns the version of a legacy client's session. Modern clients open no session, although mcp-go has
// one for their connection.
func legacySession(s server.ClientSession) string {
	versioned, ok := s.(server.SessionWithProtocolVersion)
	if !ok || versioned.ProtocolVersion() >= modern {
		return ""
	}
	return versioned.ProtocolVersion()
}
