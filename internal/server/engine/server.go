package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Options configure a server. mcpserver.Options documents the fields of the same names. [New] sets no defaults.
type Options struct {
	Name          string
	InstanceID    string
	MaxConcurrent int
	MaxQueued     int
	MaxTotal      int
	DrainTimeout  time.Duration
	KeepAlive     time.Duration
	FrameLimit    int
	Telemetry     *telemetry.Telemetry

	Versions []mcp.Version // newest first
	Modern   []mcp.Version // modern revisions, newest first
	Legacy   []mcp.Version // legacy revisions, newest first
	Rates    rates.Limits

	// Usage yields the current use of limits that all clients share, other than the engine's own limits. It may be nil.
	Usage func(rpc.YieldUsage)
	// Enlist adds the server to the list of running servers under this number.
	Enlist func(number uint64)
}

// NullID reports whether an error for a message without an id has the id null before the client has agreed on a
// revision. JSON-RPC and the revisions until 2025-06-18 use null. The schemas of later revisions do not allow null, so
// the id is absent. (specification 2025-11-25, basic/index, "Error Responses")
func (o *Options) NullID() bool {
	return len(o.Modern) == 0 && !slices.Contains(o.Legacy, mcp.Version20251125)
}

// Patience returns how long the server waits for the log handler, and for user code such as a Terminate method.
func (o *Options) Patience() time.Duration { return max(o.DrainTimeout, rpc.Settle) }

// Server serves clients.
type Server struct {
	Options
	Number        uint64         // unique in this process
	Total         *quota.Limiter // bounds the requests of all clients together; nil for no bound
	Introductions introduction.Cache

	role Role

	mu        sync.Mutex
	conns     map[*Conn]struct{}                  // guarded by mu; open connections and sessions, except those in a store
	handlers  map[*HTTP]struct{}                  // guarded by mu; HTTP handlers that are not shut down
	last      uint64                              // guarded by mu; number of the latest connection
	observers map[instrument.Network]rpc.Observer // guarded by mu
}

// New returns a server; r serves its clients.
func New(o *Options, r Role) *Server {
	return &Server{
		Options: *o, Number: running.Servers.Number(), Total: quota.NewLimiter(o.MaxTotal), role: r,
		conns: map[*Conn]struct{}{}, handlers: map[*HTTP]struct{}{}, observers: map[instrument.Network]rpc.Observer{},
	}
}

// NewServer returns a *mcpserver.Server; r serves its clients. The options about connections and telemetry apply, with
// the defaults of mcpserver. NewServer is a variable, set by package mcpserver: a public constructor would expose an
// internal type, but mcpproxy and mcptest need a *mcpserver.Server for their public APIs.
var NewServer func(o *Options, r Role) (server any, err error)

// Role serves the clients of a server.
type Role interface {
	// Connect returns the role's part of c, a connection or session. It copies x into the role's own exchange, and sets
	// c.X to the copy.
	Connect(c *Conn, x Exchange) Client
	// Handle returns the role's part of an HTTP handler. It returns an error for options that the role does not support.
	Handle(h *HTTP) (Handler, error)
}

// Client is the role's part of a connection or session. It embeds the [Conn], which has most methods of [web.Conn].
type Client interface {
	web.Conn
	// Drain waits until the client's requests are answered, at most DrainTimeout. The engine calls it after the client has
	// closed its end of the connection, so no further requests arrive.
	Drain()
	// EndStreams starts to end the subscriptions of the connection.
	EndStreams()
	// End ends the role's part after the last handler has returned. It returns the number of user functions that still
	// run.
	End() (left int)
	// Watching returns the numbers of watched resources and of open subscriptions.
	Watching() (resources, subscriptions int)
}

// Handler is the role's part of an HTTP handler. [web.Server] documents the methods without a comment.
type Handler interface {
	NewStateless() *web.Stateless
	IsNotice(web.Notice) bool
	Announce(some []web.Notice, to []web.Conn)
	AnnounceAll()
	EndStreams()
	Farewell() time.Duration
	Close(ctx context.Context)
	// Subscriptions returns the number of open subscriptions, and their limit.
	Subscriptions() (open, limit int)
}

// Conns returns the open connections and sessions, except the sessions in a store.
func (s *Server) Conns() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

// IsConnected reports whether Conns would return any connection.
func (s *Server) IsConnected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns) > 0
}

// enlist adds the server to the list of running servers or removes it. s.mu is held.
func (s *Server) enlist() {
	if len(s.conns)+len(s.handlers) > 0 {
		s.Enlist(s.Number)
	} else {
		running.Servers.Remove(s.Number)
	}
}

// Speaks returns the revision in raw, a JSON value. It returns false unless this is a modern revision that the server
// speaks.
func (s *Server) Speaks(raw []byte) (mcp.Version, bool) {
	for _, known := range s.Modern {
		if jsonrpc.Is(raw, string(known)) {
			return known, true
		}
	}
	return "", false
}
