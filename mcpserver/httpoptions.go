package mcpserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// HTTPOptions configure an [HTTPHandler]. A nil *HTTPOptions, and the zero value of every field, mean the defaults
// stated here. A negative duration disables a time limit.
type HTTPOptions struct {
	// AllowedOrigins are web origins, such as "https://app.example.com". Their pages may call the server, in addition to
	// pages of the server's own host; "*" allows all origins. Requests without an Origin header do not come from web pages
	// and are always allowed.
	AllowedOrigins []string

	// AllowedHosts are the host names, with or without a port, that clients may use for the server, on any address; "*"
	// allows all names. Requests that arrive on a loopback address may always use the names and addresses of the loopback,
	// and no others unless they are listed here: list the public name if a reverse proxy on the same machine passes it on.
	// If AllowedHosts is empty, requests that arrive on other addresses may name any host.
	AllowedHosts []string

	// Stateless serves legacy clients without sessions: the server handles each POST independently, keeps no data between
	// requests, and refuses GET and DELETE. Modern clients are always served without sessions.
	Stateless bool

	// NoSSE disables the transport of 2024-11-05, HTTP+SSE, which is otherwise served under the same URL.
	NoSSE bool

	// MaxRequests limits the POSTs that are handled concurrently; the server refuses further POSTs with 503. A POST counts
	// once its body has arrived. A POST to a session counts until its handler returns, even if the client has
	// disconnected. One session gets half of MaxRequests, but at least four, whatever [Options.MaxConcurrent] and
	// [Options.MaxQueued] are. One Account gets half of MaxRequests. Zero means 1,024.
	MaxRequests int

	// MaxWaiting limits the handlers that wait for answers of legacy clients, plus the requests that wait for the result
	// of a task. They do not count against MaxRequests. Beyond the limit, asking the client fails with a *mcp.Error; if
	// the handler returns the error, the client gets it with 429. One Account gets half of MaxWaiting. Zero means 10,000.
	MaxWaiting int

	// MaxSessions limits the legacy sessions, including those of HTTP+SSE. At the limit, the server ends the oldest
	// session that has not been used since it was opened, preferably one of the same Account; if every session has been
	// used, the server refuses the new session with 503. One Account gets half of MaxSessions. Zero means 10,000.
	MaxSessions int

	// MaxIntroductionBytes limits the memory for the clientInfo and capabilities that clients send in initialize, over all
	// legacy sessions: the size of the JSON plus 128 bytes for each value in it. At the limit, the server ends or refuses
	// sessions as with MaxSessions. One Account gets half of it. One client may send 64 KiB with 1,024 values; typical
	// clients need 1 or 2 KiB. Zero means 64 MiB.
	MaxIntroductionBytes int

	// MaxSubscriptions limits the open subscriptions of modern clients; the server refuses further subscriptions with 429.
	// One Account gets half of them. Zero means 10,000.
	MaxSubscriptions int

	// MaxWatchedBytes limits the memory for watched resource URIs and tasks, over all sessions and subscriptions: the
	// length of each URI plus 128 bytes, and 256 bytes for each task. At the limit, resources/subscribe fails, a
	// subscription omits the resource, and a subscription to tasks is refused with 429. One Account gets half of it. One
	// session or subscription may watch 1,024 URIs with a total of 256 KiB. Zero means 64 MiB.
	MaxWatchedBytes int

	// SessionTimeout is the time after which the server ends a legacy session without activity and without an open stream.
	// Zero means 30 min.
	SessionTimeout time.Duration

	// ConfirmTimeout is the same time for a session that its client has not used since it was opened. Clients confirm a
	// session at once, by notifications/initialized. The server also ends an HTTP+SSE stream without any request after
	// this time. Zero means 30 s. A negative ConfirmTimeout, or one above SessionTimeout, means SessionTimeout.
	ConfirmTimeout time.Duration

	// BodyTimeout limits the time for reading the body of a request. Zero means 30 s.
	//
	// A middleware that replaces the http.ResponseWriter should implement Unwrap, see [http.ResponseController]. Without
	// Unwrap, the handler cannot set deadlines. BodyTimeout and BodyRate then still apply, at the cost of one goroutine
	// for each body, but net/http may wait for the rest of a refused body until the client closes the connection, and
	// WriteTimeout does not apply. The handler reports this once by the warning mcp_server.http.no_deadlines.
	BodyTimeout time.Duration

	// BodyRate is the minimum rate of a body in bytes per second. The server measures it over windows of ten seconds: each
	// window must bring ten times BodyRate. A slower body gets 408. Zero means 4,096; negative disables the minimum, so
	// that BodyTimeout is the only limit.
	BodyRate int

	// MaxBodies limits the memory for request bodies in bytes: bodies that are being read, and bodies of requests that are
	// being handled. The first 4 KiB of each body do not count. The server reserves memory in steps as the bytes arrive,
	// at most 16 times the size of the bytes that have arrived. A body that needs more memory than is free waits up to 5 s
	// and then gets 503. A step takes at most a quarter of the free memory, so that small bodies still find room. One
	// Account gets half of MaxBodies. Zero means 16 times the [Options.FrameLimit]; the minimum is five times the
	// FrameLimit.
	MaxBodies int

	// Account returns the account of a request, for fair sharing. MaxRequests, MaxWaiting, MaxSessions,
	// MaxIntroductionBytes, MaxSubscriptions, MaxWatchedBytes and MaxBodies limit each account, as do MaxRunning, MaxKept
	// and MaxKeptBytes of [TaskOptions]: an account gets at most as much as is left for all others. So a single account
	// gets half, and two accounts get a third each. [Rates] also apply per account. A request with an empty account has no
	// share and may use everything that is free.
	//
	// If Account is nil, the account is the Principal, or without one the remote address, for IPv6 its first 64 bits.
	// Loopback addresses and Unix sockets have no account. Behind a reverse proxy, all clients without a principal have
	// the address of the proxy; set Account to distinguish them.
	Account func(*http.Request) string

	// WriteTimeout limits each write of a response: the server disconnects a client that does not read for this long. Zero
	// means 30 s. WriteTimeout needs a ResponseWriter with deadlines, see BodyTimeout.
	WriteTimeout time.Duration

	// KeepAlive is the interval of comments on an idle stream, which keep proxies from closing it. Zero means 15 s.
	KeepAlive time.Duration

	// Retry is the delay before a client reopens a broken stream. The server sends it to clients of revisions that support
	// it. Zero means 1 s.
	Retry time.Duration

	// Events stores the messages on the streams of legacy sessions, so that clients can resume after a lost connection.
	// Nil means [store.NewMemoryEvents] with its defaults.
	Events store.Events

	// NotResumable disables Events: messages that are sent while a client's connection is broken are lost.
	NotResumable bool

	// Sessions stores the sessions of legacy clients where other processes find them, so that any process may serve any
	// session, and no session is lost with a process. Package redisstore has such a store. Nil means that only this
	// process knows its sessions.
	//
	// With Sessions, Events must be a [store.SharedEvents], unless NotResumable is set. All processes should offer the
	// same features and have the same options; limits such as MaxSessions apply to each process. A change in one process
	// is announced to the clients of all processes. In each process, the server calls an [Initializer] when a session
	// first reaches the process, a [Terminator] when the process no longer needs the session, and a [ResourceSubscriber]
	// for the watched resources in between. It calls a [LevelSetter] only in the process that receives the client's
	// request. Values of a [Session] belong to the process. The handler must be stopped with Shutdown.
	Sessions store.Sessions

	// Lease applies with Sessions: a process counts as dead when it has given no sign of life for this time. Other
	// processes then answer the requests that it was handling with an error, when their clients come back for the answers.
	// Zero means 10 s.
	Lease time.Duration

	// Principal returns the user of a request, as the authenticating middleware has stored it in the request's context. An
	// empty principal means that the user is unknown. A session belongs to the principal that opened it and does not exist
	// for any other. Nil means the user that bearer.Require has authenticated, see bearer.Identity. Without principals,
	// every client that knows the id of a session or task may use it.
	Principal func(*http.Request) string

	// TrustTraceContext trusts the trace context of clients without a principal. Clients with a principal are always
	// trusted.
	//
	// For a trusted client, the span around a handler belongs to the client's trace and follows the client's sampling
	// decision, and the handler's context has the client's baggage. So a call is one trace from end to end. For an
	// untrusted client, the span links to the client's span. Its parent is the span around the HTTP handler, such as a
	// span of otelhttp; without one, it starts a new trace, for which the server decides about sampling. The server
	// ignores the baggage of an untrusted client.
	//
	// A stranger who is trusted could force or suppress sampling, add spans to the traces of others, and impersonate any
	// tenant in the baggage. A loopback address is no proof of trust, because the request may come through a proxy or from
	// another user of the machine. Set TrustTraceContext if only your own programs can reach the server.
	// telemetry.WithPublicEndpointFn may distrust individual requests in addition.
	TrustTraceContext bool
}

// bodyFrames is the default of MaxBodies in units of the frame limit.
const bodyFrames = 16

// newHTTPConfig returns the options with every default filled in, for a server with the given frame limit.
func newHTTPConfig(o *HTTPOptions, frameLimit int) (HTTPOptions, error) {
	var c HTTPOptions
	if o != nil {
		c = *o
	}
	for field, n := range map[string]*int{
		"MaxRequests": &c.MaxRequests, "MaxSessions": &c.MaxSessions, "MaxSubscriptions": &c.MaxSubscriptions,
		"MaxBodies": &c.MaxBodies, "MaxWatchedBytes": &c.MaxWatchedBytes, "MaxWaiting": &c.MaxWaiting,
		"MaxIntroductionBytes": &c.MaxIntroductionBytes,
	} {
		if *n < 0 {
			return c, fmt.Errorf("options: %s is negative", field)
		}
	}
	if err := web.CheckHosts(c.AllowedHosts); err != nil {
		return c, err
	}
	c.MaxRequests = cmp.Or(c.MaxRequests, 1024)
	c.MaxSessions = cmp.Or(c.MaxSessions, 10_000)
	c.MaxSubscriptions = cmp.Or(c.MaxSubscriptions, 10_000)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, 10_000)
	c.MaxIntroductionBytes = cmp.Or(c.MaxIntroductionBytes, 64<<20)
	c.MaxWatchedBytes = cmp.Or(c.MaxWatchedBytes, 64<<20)
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 30*time.Minute)
	if c.ConfirmTimeout = cmp.Or(c.ConfirmTimeout, 30*time.Second); c.ConfirmTimeout < 0 {
		c.ConfirmTimeout = c.SessionTimeout
	}
	if c.SessionTimeout > 0 {
		c.ConfirmTimeout = min(c.ConfirmTimeout, c.SessionTimeout)
	}
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 30*time.Second)
	c.BodyRate = cmp.Or(c.BodyRate, 4096)
	c.MaxBodies = cmp.Or(c.MaxBodies, bodyFrames*frameLimit)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.KeepAlive = cmp.Or(c.KeepAlive, 15*time.Second)
	c.Retry = cmp.Or(c.Retry, time.Second)
	c.Lease = cmp.Or(c.Lease, 10*time.Second)
	switch {
	case c.MaxBodies < 5*frameLimit:
		return c, errors.New("options: MaxBodies is below five times the FrameLimit")
	case c.Lease < time.Millisecond:
		return c, errors.New("options: Lease is negative or below 1 ms")
	case c.NotResumable:
		c.Events = nil
	case c.Sessions != nil:
		if _, ok := c.Events.(store.SharedEvents); !ok {
			return c, errors.New("options: Sessions needs Events that are a store.SharedEvents, or NotResumable")
		}
	case c.Events == nil:
		c.Events = store.NewMemoryEvents(0, 0)
	}
	if c.Principal == nil {
		c.Principal = func(r *http.Request) string { return identity.From(r.Context()) }
	}
	return c, nil
}

// forEngine returns the options for the engine.
func (o *HTTPOptions) forEngine() *engine.HTTPOptions {
	return &engine.HTTPOptions{
		MaxSubscriptions: o.MaxSubscriptions, MaxWatchedBytes: o.MaxWatchedBytes,
		TrustTraceContext: o.TrustTraceContext,
		Options: web.Options{
			MaxLogBytes: maxLogMessage,

			AllowedOrigins: o.AllowedOrigins, AllowedHosts: o.AllowedHosts, Stateless: o.Stateless, NoSSE: o.NoSSE,

			MaxRequests: o.MaxRequests, MaxWaiting: o.MaxWaiting, MaxSessions: o.MaxSessions,
			MaxIntroductionBytes: o.MaxIntroductionBytes, MaxBodies: o.MaxBodies,

			SessionTimeout: o.SessionTimeout, ConfirmTimeout: o.ConfirmTimeout, BodyTimeout: o.BodyTimeout,
			BodyRate: o.BodyRate, WriteTimeout: o.WriteTimeout, KeepAlive: o.KeepAlive, Retry: o.Retry,
			Lease: o.Lease,

			Account: o.Account, Principal: o.Principal, Events: o.Events, Sessions: o.Sessions,
		},
	}
}
