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

// HTTPOptions configure an [HTTPHandler]. A nil *HTTPOptions means the defaults, as does the zero value of each
// field. A negative duration disables a time limit.
type HTTPOptions struct {
	// AllowedOrigins are web origins, such as "https://app.example.com", whose pages may call the server; "*" allows
	// all origins. Pages of the server's own host may always call it. Requests without an Origin header do not come
	// from web pages and are always allowed.
	AllowedOrigins []string

	// AllowedHosts are the host names, with or without a port, under which clients may address the server; "*" allows
	// all names. Requests that arrive on a loopback address may also use the names and addresses of the loopback, but
	// no other name that is missing in the list. If a reverse proxy on the same machine passes the public name on, list
	// that name. If AllowedHosts is empty, requests that arrive on other addresses may name any host.
	AllowedHosts []string

	// Stateless serves legacy clients without sessions: the server handles each POST independently, keeps no data between
	// requests, and refuses GET and DELETE. Modern clients are always served without sessions.
	Stateless bool

	// NoSSE disables the transport of 2024-11-05, HTTP+SSE, which is otherwise served under the same URL.
	NoSSE bool

	// Limits bound the memory and the concurrent work of the handler.
	Limits HTTPLimits

	// Timeouts bound sessions, and the reading and writing of bodies.
	Timeouts HTTPTimeouts

	// Account returns the account of a request, for fair sharing. All Limits except BodyRate limit each account, as do
	// MaxRunning, MaxKept and MaxKeptBytes of [TaskOptions]: an account may not use more than it leaves free for
	// others. So a single account can use half, and two accounts can use a third each. [Rates] also apply per account.
	// A request with an empty account has no share and may use everything that is free.
	//
	// If Account is nil, the account is the Principal. Without a principal, the account is the remote address, and for
	// IPv6 its first 64 bits; loopback addresses and Unix sockets have no account. Behind a reverse proxy, all clients
	// without a principal have the address of the proxy; set Account to distinguish them.
	Account func(*http.Request) string

	// KeepAlive is the interval of comments on an idle stream. The comments keep proxies from closing the stream. Zero
	// means 15 s.
	KeepAlive time.Duration

	// Retry is the delay before a client reopens a broken stream. The server sends it to clients of revisions that support
	// it. Zero means 1 s.
	Retry time.Duration

	// Events stores the messages on the streams of legacy sessions, so that clients can resume after a lost connection.
	// Nil means [store.NewMemoryEvents] with its defaults.
	Events store.Events

	// NotResumable disables Events: the server loses messages that it sends while a client's connection is broken.
	NotResumable bool

	// Sessions stores the sessions of legacy clients where other processes find them, so that any process may serve
	// any session, and the end of a process ends no session. Package redisstore has such a store. Nil means that only
	// this process knows its sessions.
	//
	// With Sessions, Events must be a [store.SharedEvents], unless NotResumable is set. All processes should offer the
	// same features and have the same options; limits such as Limits.Sessions apply to each process. The server announces
	// a change in one process to the clients of all processes. In each process, the server calls an [Initializer] when a
	// session first reaches the process, then a [ResourceSubscriber] for the resources that the session watches, and a
	// [Terminator] when the process no longer needs the session. It calls a [LevelSetter] only in the process that
	// receives the client's request. Values of a [Session] belong to the process. The handler must be stopped with
	// Shutdown.
	Sessions store.Sessions

	// Lease is the time after which a process counts as dead if it has given no sign of life. Other processes then answer
	// the unfinished requests of the dead process with an error, when the clients return for the answers. Lease applies
	// only with Sessions. Zero means 10 s.
	Lease time.Duration

	// Principal returns the user of a request, as the authenticating middleware has stored it in the request's
	// context. An empty principal means that the user is unknown. A session belongs to the principal that opened it;
	// for other principals, it does not exist. Nil means the user that bearer.Require has authenticated, see
	// bearer.Identity. Without principals, every client that knows the id of a session or task may use it.
	Principal func(*http.Request) string

	// TrustTraceContext trusts the trace context of clients without a principal. Clients with a principal are always
	// trusted.
	//
	// For a trusted client, the span around a handler belongs to the client's trace and follows the client's sampling
	// decision, and the handler's context has the client's baggage. So a call is one trace from end to end. For an
	// untrusted client, the span links to the client's span. The span's parent is then the span around the HTTP handler,
	// such as a span of otelhttp; without such a span, the handler's span starts a new trace, and the server decides about
	// sampling. The server ignores the baggage of an untrusted client.
	//
	// A stranger who is trusted could force or suppress sampling, add spans to the traces of others, and impersonate
	// any tenant in the baggage. A loopback address is no proof of trust, because the request may come through a proxy
	// or from another user of the machine. Set TrustTraceContext if only your own programs can reach the server. With
	// telemetry.WithPublicEndpointFn, the server can still distrust individual requests.
	TrustTraceContext bool
}

// HTTPLimits bound the memory and the concurrent work of an [HTTPHandler]. The zero value of every field is its
// default.
type HTTPLimits struct {
	// Requests limits the POSTs in progress; the server refuses further POSTs with 503. A POST counts as soon as its
	// body has arrived. A POST to a session counts until its handler returns, even if the client has disconnected. One
	// session gets half of Requests, but at least four, regardless of Concurrent and Queued in [Limits]. One
	// [HTTPOptions.Account] gets half of Requests. Zero means 1,024.
	Requests int

	// Waiting limits the handlers that wait for answers of legacy clients, plus the requests that wait for the result
	// of a task. Such handlers and requests do not count against Requests. Beyond the limit, asking the client fails
	// with a *mcp.Error; if the handler returns the error, the client gets it with 429. One Account gets half of
	// Waiting. Zero means 10,000.
	Waiting int

	// Sessions limits the legacy sessions, including those of HTTP+SSE. At the limit, the server makes room for a new
	// session: it ends the oldest session that was never used after it was opened, preferably one of the same Account. If
	// all sessions have been used, the server refuses the new session with 503. One Account gets half of Sessions. Zero
	// means 10,000.
	Sessions int

	// IntroductionBytes limits the memory for the clientInfo and capabilities that clients send in initialize, over
	// all legacy sessions: the size of the JSON plus 128 bytes for each value in it. At the limit, the server ends or
	// refuses sessions as with Sessions. One Account gets half of IntroductionBytes. One client may send 64 KiB with
	// 1,024 values; typical clients need 1 or 2 KiB. Zero means 64 MiB.
	IntroductionBytes int

	// Subscriptions limits the open subscriptions of modern clients; the server refuses further subscriptions with
	// 429. One Account gets half of Subscriptions. Zero means 10,000.
	Subscriptions int

	// WatchedBytes limits the memory for watched resource URIs and tasks, over all sessions and subscriptions. A URI
	// counts its length plus 128 bytes, and a task counts 256 bytes. At the limit, resources/subscribe fails, a new
	// subscription omits the resource, and the server refuses a subscription to tasks with 429. One Account gets half
	// of WatchedBytes. One session or subscription may watch 1,024 URIs with a total of 256 KiB. Zero means 64 MiB.
	WatchedBytes int

	// Bodies limits the memory in bytes for the bodies of requests that the server is reading or handling. The first 4
	// KiB of each body do not count. The server reserves memory in steps as the bytes arrive, at most 16 times the
	// size of the bytes that have arrived. A step takes at most a quarter of the free memory, so that small bodies
	// still find room. A body that needs more memory than is free waits up to 5 s; then the server refuses it with
	// 503. One Account gets half of Bodies. Zero means 16 times [Limits.Frame]; the minimum is five times that limit.
	Bodies int

	// BodyRate is the minimum rate of a body in bytes per second. The server measures the rate over windows of ten
	// seconds: each window must bring ten times BodyRate. The server refuses a slower body with 408. Zero means 4,096.
	// A negative BodyRate disables the minimum; then only [HTTPTimeouts.Body] limits the time.
	BodyRate int
}

// HTTPTimeouts bound sessions, and the reading and writing of bodies. The zero value of every field is its default, and
// a negative value disables the time limit.
type HTTPTimeouts struct {
	// Session is the time after which the server ends a legacy session without activity and without an open stream.
	// Zero means 30 min.
	Session time.Duration

	// Confirm replaces Session as long as a session has not been used since it was opened. Clients confirm a session
	// at once, by notifications/initialized. The server also ends an HTTP+SSE stream without any request after this
	// time. Zero means 30 s. A negative Confirm, or one above Session, means Session.
	Confirm time.Duration

	// Body limits the time for reading the body of a request. Zero means 30 s.
	//
	// A middleware that replaces the http.ResponseWriter should implement Unwrap, see [http.ResponseController].
	// Without Unwrap, the handler cannot set deadlines, and reports this once by the warning
	// mcp_server.http.no_deadlines. Body and [HTTPLimits.BodyRate] then still apply, at the cost of one goroutine for
	// each body. However, Write does not apply, and net/http may wait for the rest of a refused body until the client
	// closes the connection.
	Body time.Duration

	// Write limits each write of a response: the server disconnects a client that does not read for this long. Zero
	// means 30 s. Write needs a ResponseWriter with deadlines, see Body.
	Write time.Duration
}

// bodyFrames is the default of Limits.Bodies in units of the frame limit.
const bodyFrames = 16

// newHTTPConfig returns the options with every default filled in, for a server with the given frame limit.
func newHTTPConfig(o *HTTPOptions, frameLimit int) (HTTPOptions, error) {
	var c HTTPOptions
	if o != nil {
		c = *o
	}
	for field, n := range map[string]*int{
		"Limits.Requests": &c.Limits.Requests, "Limits.Sessions": &c.Limits.Sessions,
		"Limits.Subscriptions": &c.Limits.Subscriptions,
		"Limits.Bodies":        &c.Limits.Bodies, "Limits.WatchedBytes": &c.Limits.WatchedBytes,
		"Limits.Waiting":           &c.Limits.Waiting,
		"Limits.IntroductionBytes": &c.Limits.IntroductionBytes,
	} {
		if *n < 0 {
			return c, fmt.Errorf("options: %s is negative", field)
		}
	}
	if err := web.CheckHosts(c.AllowedHosts); err != nil {
		return c, err
	}
	c.Limits.Requests = cmp.Or(c.Limits.Requests, 1024)
	c.Limits.Sessions = cmp.Or(c.Limits.Sessions, 10_000)
	c.Limits.Subscriptions = cmp.Or(c.Limits.Subscriptions, 10_000)
	c.Limits.Waiting = cmp.Or(c.Limits.Waiting, 10_000)
	c.Limits.IntroductionBytes = cmp.Or(c.Limits.IntroductionBytes, 64<<20)
	c.Limits.WatchedBytes = cmp.Or(c.Limits.WatchedBytes, 64<<20)
	c.Timeouts.Session = cmp.Or(c.Timeouts.Session, 30*time.Minute)
	if c.Timeouts.Confirm = cmp.Or(c.Timeouts.Confirm, 30*time.Second); c.Timeouts.Confirm < 0 {
		c.Timeouts.Confirm = c.Timeouts.Session
	}
	if c.Timeouts.Session > 0 {
		c.Timeouts.Confirm = min(c.Timeouts.Confirm, c.Timeouts.Session)
	}
	c.Timeouts.Body = cmp.Or(c.Timeouts.Body, 30*time.Second)
	c.Limits.BodyRate = cmp.Or(c.Limits.BodyRate, 4096)
	c.Limits.Bodies = cmp.Or(c.Limits.Bodies, bodyFrames*frameLimit)
	c.Timeouts.Write = cmp.Or(c.Timeouts.Write, 30*time.Second)
	c.KeepAlive = cmp.Or(c.KeepAlive, 15*time.Second)
	c.Retry = cmp.Or(c.Retry, time.Second)
	c.Lease = cmp.Or(c.Lease, 10*time.Second)
	switch {
	case c.Limits.Bodies < 5*frameLimit:
		return c, errors.New("options: Limits.Bodies is below five times the frame limit")
	case c.Lease < time.Millisecond:
		return c, errors.New("options: Lease is below 1 ms")
	case c.NotResumable:
		c.Events = nil
	case c.Sessions != nil:
		if _, ok := c.Events.(store.SharedEvents); !ok {
			return c, errors.New("options: Sessions needs NotResumable, or Events of the type store.SharedEvents")
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
		MaxSubscriptions: o.Limits.Subscriptions, MaxWatchedBytes: o.Limits.WatchedBytes,
		TrustTraceContext: o.TrustTraceContext,
		Options: web.Options{
			MaxLogBytes: maxLogMessage,

			AllowedOrigins: o.AllowedOrigins, AllowedHosts: o.AllowedHosts, Stateless: o.Stateless, NoSSE: o.NoSSE,

			MaxRequests: o.Limits.Requests, MaxWaiting: o.Limits.Waiting, MaxSessions: o.Limits.Sessions,
			MaxIntroductionBytes: o.Limits.IntroductionBytes, MaxBodies: o.Limits.Bodies,

			SessionTimeout: o.Timeouts.Session, ConfirmTimeout: o.Timeouts.Confirm, BodyTimeout: o.Timeouts.Body,
			BodyRate: o.Limits.BodyRate, WriteTimeout: o.Timeouts.Write, KeepAlive: o.KeepAlive, Retry: o.Retry,
			Lease: o.Lease,

			Account: o.Account, Principal: o.Principal, Events: o.Events, Sessions: o.Sessions,
		},
	}
}
