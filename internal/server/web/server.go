package web

import (
	"context"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Server is the MCP server behind a handler.
type Server interface {
	// Observer returns the observer of the clients on a network.
	Observer(instrument.Network) rpc.Observer
	// NewStateless returns a request with its Exchange and its Call.
	NewStateless() *Stateless
	// Prepare initializes x, the exchange of a stateless request, for the client c and the terms t. The handler has
	// already set the engine, the sink and the contexts of x.
	Prepare(x *rpc.Exchange, r *http.Request, c Client, t Terms)
	// Open opens the connection of a session. life limits the life of the session. stop ends the contexts of the session's
	// handlers; its reason is nil if the client has ended the session.
	Open(life context.Context, o *Opening) (c Conn, stop func(reason error))
	// Unsupported returns the error for a revision that the server does not support.
	Unsupported(mcp.Version) *mcp.Error

	// IsNotice reports whether this server may send the notice to its clients.
	IsNotice(Notice) bool
	// Announce sends notices that come from another process. It sends them to the sessions in to and to all subscriptions
	// of the handler.
	Announce(some []Notice, to []Conn)
	// AnnounceAll sends each subscription of the handler all notices that it subscribed to.
	AnnounceAll()

	// EndStreams ends the subscriptions when Shutdown starts.
	EndStreams()
	// Farewell returns the time that the server needs to clean up after a session.
	Farewell() time.Duration
	// Close ends the server's part of the handler. The handler calls it after the last request.
	Close(ctx context.Context)
}

// Client identifies the client of an HTTP request before the server reads a message.
type Client struct {
	rpc.Observer
	Principal string        // empty for none
	Account   quota.Account // zero for none
}

// Terms are the protocol terms under which the server answers a stateless message.
type Terms struct {
	Modern  bool        // the headers of the message mirror its body
	Version mcp.Version // the agreed legacy revision; empty for none
}

// Opening holds the parameters for the connection of a session.
type Opening struct {
	Client
	ID       string    // session id
	Out      rpc.Sink  // sends messages that belong to no request
	Requests int       // maximum number of running and waiting requests
	Since    time.Time // when the session was opened; zero for now

	// Introduce reserves memory in bytes for the client's introduction, in place of the previous reservation. It reports
	// whether there is enough memory.
	Introduce func(bytes int) bool
	// Quit ends the session for a reason. It does not wait for the end.
	Quit func(reason error)
}

// Conn is the connection between a session and the server.
type Conn interface {
	Principal() string
	Account() quota.Account
	// Exchange returns the exchange for messages that belong to no HTTP request.
	Exchange() *rpc.Exchange
	// Serving returns a new exchange for the messages of one HTTP request.
	Serving(*http.Request) *rpc.Exchange

	// Watch starts the pings of a silent client.
	Watch()
	// Heard records that the client has sent a message.
	Heard()
	// Busy reports whether any handler is doing more than waiting for the client.
	Busy() bool
	// HoldNotices delays notices until ResumeNotices.
	HoldNotices()
	ResumeNotices()

	// Because sets the reason for the end of the session. Only the first call has an effect.
	Because(reason error)
	// Why returns the reason for the end of the session, or nil if the client ended it.
	Why() error
	// Leave ends the requests of the session because of reason.
	Leave(reason error)
	// Close waits for handlers whose contexts have ended. It returns the number of handlers that still run.
	Close() (left int)

	// The methods below are for sessions in a store.

	// Share makes the session known to other processes. From now on the handler sends the notices of the session. If
	// passing is set, the session continues in other processes when this connection ends. others is nil for a session that
	// only this process serves.
	Share(others Others, passing bool)
	// SetPassing changes the passing flag of Share.
	SetPassing(bool)
	// SetAway sets whether another process sends the messages that belong to no request.
	SetAway(bool)
	// State returns the session's state for the store.
	State() State
	// SetState restores a state that State returned. It does not change values that client and server have agreed on.
	SetState(*State)
	// Restore opens a session of another process from its state. An mcpserver.Initializer of this process may reject the
	// session.
	Restore(ctx context.Context, st *State) error
	// Watched returns the URIs of the watched resources, sorted.
	Watched() []string
	// Rewatch notifies the server of resources that the client has started or stopped to watch in another process. before
	// is the earlier result of Watched.
	Rewatch(ctx context.Context, before []string)
	// Announce sends the notices to which the client has subscribed.
	Announce(some []Notice)
	// AnnounceAll sends every notice that the client may have subscribed to.
	AnnounceAll()
	// Log sends a log message if the client has asked for its level.
	Log(level mcp.LoggingLevel, frame []byte)
	// Complete notifies the client that an elicitation is done, if this session has sent the elicitation.
	Complete(elicitation string)
}

// Others represents the other processes that know a session.
type Others interface {
	// Amend changes the state of the session in all processes. Amend may call change again after another process has
	// changed the state. After an error, only this process has the change.
	Amend(ctx context.Context, change func()) error
	rpc.Elsewhere
}

// Notice is a change notification.
type Notice struct {
	Method string `json:"method"`
	URI    string `json:"uri,omitzero"` // URI of the changed resource; empty for a list
}

// State is the part of a session that survives its process.
type State struct {
	Version      mcp.Version            `json:"version"`
	Client       mcp.Implementation     `json:"client"`
	Capabilities mcp.ClientCapabilities `json:"capabilities"`
	Declared     mcp.ServerCapabilities `json:"declared"`
	Confirmed    bool                   `json:"confirmed,omitzero"`
	Level        mcp.LoggingLevel       `json:"level,omitzero"`   // minimum level of log messages; empty if not set
	Watched      []string               `json:"watched,omitzero"` // URIs of watched resources
}
