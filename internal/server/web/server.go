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

// Server is the server of MCP behind a handler.
type Server interface {
	// Observer returns the observer of the clients on a network.
	Observer(instrument.Network) rpc.Observer
	// NewStateless returns a request with its Exchange and its Call.
	NewStateless() *Stateless
	// Prepare makes x, the exchange of a stateless request, one of a client on these terms. The handler sets the engine,
	// the sink and the contexts of x before.
	Prepare(x *rpc.Exchange, r *http.Request, c Client, t Terms)
	// Open opens the connection of a session, whose context is life. stop ends the contexts of handlers for a reason, nil
	// if the client has left.
	Open(life context.Context, o *Opening) (c Conn, stop func(reason error))
	// Unsupported returns the error for a revision that the server does not support.
	Unsupported(mcp.Version) *mcp.Error

	// IsNotice reports whether clients of this server may get a notice.
	IsNotice(Notice) bool
	// Announce sends notices of another process to sessions, and to all subscriptions of the handler.
	Announce(some []Notice, to []Conn)
	// AnnounceAll sends each notice to each subscription of the handler that it is for.
	AnnounceAll()

	// EndStreams ends the subscriptions when Shutdown begins.
	EndStreams()
	// Farewell returns the time that the server needs to clean up after a session.
	Farewell() time.Duration
	// Close ends the server's part of the handler after the last request.
	Close(ctx context.Context)
}

// Client is the client of an HTTP request, as far as the server knows it without reading a message.
type Client struct {
	rpc.Observer
	Principal string        // empty for none
	Account   quota.Account // zero for none
}

// Terms are the terms on which a stateless message is answered.
type Terms struct {
	Modern  bool        // the headers of the message mirror its body
	Version mcp.Version // a legacy revision that is agreed on; empty for none
}

// Opening is what a connection is opened with.
type Opening struct {
	Client
	ID       string    // of the session
	Out      rpc.Sink  // for what belongs to no request
	Requests int       // bound of the requests that run or wait
	Since    time.Time // when the session was opened; zero for now

	// Introduce takes bytes of memory for what the client says about itself, in place of the bytes before, and reports
	// whether there is room.
	Introduce func(bytes int) bool
	// Quit ends the session for a reason, without waiting.
	Quit func(reason error)
}

// Conn is the connection of a session to the server.
type Conn interface {
	Principal() string
	Account() quota.Account
	// Exchange returns the exchange of what belongs to no HTTP request.
	Exchange() *rpc.Exchange
	// Serving returns a new exchange for the messages of one HTTP request.
	Serving(*http.Request) *rpc.Exchange

	// Watch starts the pings of a silent client.
	Watch()
	// Heard tells that the client has sent something.
	Heard()
	// Busy reports whether a handler runs that does not wait for the client.
	Busy() bool
	// HoldNotices keeps notices back until ResumeNotices.
	HoldNotices()
	ResumeNotices()

	// Because sets the reason for the end of the session, unless there is one.
	Because(reason error)
	// Why returns the reason for the end of the session, nil if the client has ended it.
	Why() error
	// Leave ends the requests of the session because of reason.
	Leave(reason error)
	// Close waits for handlers, whose contexts have ended, and returns how many ignore that.
	Close() (left int)

	// The methods below are for sessions in a store.

	// Share makes the session one that other processes know: the handler sends its notices. If passing, the session goes
	// on in others when this connection ends. others are nil for a session that lives in this process alone.
	Share(others Others, passing bool)
	// SetPassing changes passing.
	SetPassing(bool)
	// SetAway tells whether another process sends what belongs to no request.
	SetAway(bool)
	// State returns what the store keeps of the session.
	State() State
	// SetState makes the session what it was when State was called, except for what was agreed, which never changes.
	SetState(*State)
	// Restore opens a session of another process with its state. The server's hosts may refuse it.
	Restore(ctx context.Context, st *State) error
	// Watched returns the URIs of the resources that the client watches, sorted.
	Watched() []string
	// Rewatch tells the server what the client has begun or ceased to watch in another process. before is what Watched
	// was.
	Rewatch(ctx context.Context, before []string)
	// Announce sends the notices that the client wants.
	Announce(some []Notice)
	// AnnounceAll sends each notice that the client may want.
	AnnounceAll()
	// Log sends a log message, if the client wants it.
	Log(level mcp.LoggingLevel, frame []byte)
	// Complete tells the client, if it was asked for an elicitation, that the elicitation is done.
	Complete(elicitation string)
}

// Others are the other processes that know a session.
type Others interface {
	// Amend changes the state of the session in all processes. Amend may call change again, after changes of others. An
	// error means that the change is known in this process only.
	Amend(ctx context.Context, change func()) error
	rpc.Elsewhere
}

// Notice is a notification that something has changed.
type Notice struct {
	Method string `json:"method"`
	URI    string `json:"uri,omitzero"` // of the resource; empty for a list
}

// State is the part of a session that outlives a process.
type State struct {
	Version      mcp.Version            `json:"version"`
	Client       mcp.Implementation     `json:"client"`
	Capabilities mcp.ClientCapabilities `json:"capabilities"`
	Declared     mcp.ServerCapabilities `json:"declared"`
	Confirmed    bool                   `json:"confirmed,omitzero"`
	Level        mcp.LoggingLevel       `json:"level,omitzero"`   // of log messages, if the client has set one
	Watched      []string               `json:"watched,omitzero"` // URIs of resources
}
