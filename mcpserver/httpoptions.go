package mcpserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// HTTPOptions configure an [HTTPHandler]. A nil *HTTPOptions, and the zero value of every field, mean the defaults
// stated here. Bounds of time are off if they are negative.
type HTTPOptions struct {
	// AllowedOrigins are web origins, such as "https://app.example.com", whose pages may call the server besides those of
	// its own host; "*" allows all. Requests without an Origin, which do not come from web pages, need none.
	AllowedOrigins []string

	// AllowedHosts are the names, with or without a port, under which clients may address the server, whatever address
	// they arrive at; "*" allows all. Names and addresses of the loopback are always allowed to those who arrive there, so
	// a reverse proxy on the same machine that passes the name on has to be provided for here. None means that requests
	// which arrive on other addresses may name any host.
	AllowedHosts []string

	// Stateless serves legacy clients without sessions: each POST stands alone, nothing is remembered between them, and
	// GET and DELETE are refused. Modern clients are always served so.
	Stateless bool

	// NoSSE refuses the transport of 2024-11-05, HTTP+SSE, which is otherwise served under the same URL.
	NoSSE bool

	// MaxRequests is how many POSTs are answered at once; more are refused with 503. One whose body is not there yet does
	// not count; one to a session counts until its handler has returned, whether the client waits or not. One session gets
	// half of them, or four, whatever [Options.MaxConcurrent] and [Options.MaxQueued] say; one Account gets half of them.
	// Zero means 1,024.
	MaxRequests int

	// MaxWaiting is how many handlers may wait at once for what they have asked legacy clients, and requests for the
	// result of a task: they take none of MaxRequests. One more fails with a *mcp.Error, which the client gets with 429 if
	// that is what the handler returns. One Account gets half of them. Zero means 10,000.
	MaxWaiting int

	// MaxSessions is how many legacy sessions there may be, those of HTTP+SSE included. Beyond that, the oldest one ends
	// that was opened and not used since, of the same Account if there is one; if there is none, the next is refused with
	// 503. One Account gets half of them. Zero means 10,000.
	MaxSessions int

	// MaxIntroductionBytes is how many bytes of memory that may take which clients say about themselves in initialize, in
	// all legacy sessions together: clientInfo and capabilities as JSON, and 128 bytes more for each value in them. Beyond
	// that, sessions end or the next is refused as with MaxSessions. One Account gets half of it. One client may say 64
	// KiB with 1,024 values; usual ones take 1 or 2 KiB. Zero means 64 MiB.
	MaxIntroductionBytes int

	// MaxSubscriptions is how many subscriptions of modern clients may be open; more are refused with 429. One Account
	// gets half of them. Zero means 10,000.
	MaxSubscriptions int

	// MaxWatchedBytes is how many bytes of memory that may take which clients watch, in all sessions and subscriptions
	// together: the URIs of resources, with 128 bytes more for each, and 256 bytes for a task. Beyond that,
	// resources/subscribe is refused with an error, a subscription does without the resource, and one to tasks is refused
	// with 429. One Account gets half of it. One session or subscription may have 1,024 URIs, with 256 KiB together. Zero
	// means 64 MiB.
	MaxWatchedBytes int

	// SessionTimeout is how long a legacy session lasts in which nothing happens and no stream is open. Zero means 30 min.
	SessionTimeout time.Duration

	// ConfirmTimeout is the same for a session whose client has not come back since it was opened: clients confirm it at
	// once, by notifications/initialized. A stream of HTTP+SSE on which nothing has been asked ends then, too. Zero means
	// 30 s; negative, or more than SessionTimeout, means that.
	ConfirmTimeout time.Duration

	// BodyTimeout bounds the reading of a request's body. Zero means 30 s.
	//
	// Middleware that replaces the http.ResponseWriter should give its own an Unwrap method, see
	// [http.ResponseController]. Without that, deadlines cannot be set: BodyTimeout and BodyRate hold all the same, at the
	// cost of a goroutine for each body, but net/http may wait for the rest of a refused one for as long as the client
	// keeps the connection, and WriteTimeout does not hold. A warning, mcp_server.http.no_deadlines, says so once.
	BodyTimeout time.Duration

	// BodyRate is how fast a body has to come, in bytes a second: ten times as many are given ten seconds, again and
	// again. A slower one gets 408. Zero means 4,096, negative means that BodyTimeout is the only bound.
	BodyRate int

	// MaxBodies is how many bytes of memory bodies may take together: those that are being read, and those of requests
	// that are being answered. The first 4 KiB of each do not count, and memory is taken as bytes come, in steps, so that
	// no more is taken than 16 times what has come. A body that finds no room waits for it, up to 5 s, and then gets 503;
	// no step takes more than a quarter of what is left, so that small ones find some. One Account gets half of it. Zero
	// means 16 times the [Options.FrameLimit]; five times that is the least.
	MaxBodies int

	// Account says on whose account a request goes: MaxRequests, MaxWaiting, MaxSessions, MaxIntroductionBytes,
	// MaxSubscriptions, MaxWatchedBytes and MaxBodies have shares for each, as much as they leave for all others, and so
	// have MaxRunning, MaxKept and MaxKeptBytes of [TaskOptions]. So one alone gets half of what there is, two a third
	// each. [Rates] are those of an account, too. Requests with an empty account have no share, and take what there is.
	// Nil means the Principal, or else the address that the request comes from, of IPv6 the first 64 bits; loopback
	// addresses and Unix sockets have no account. Behind a reverse proxy, all clients without a principal come from one
	// address, unless this tells them apart.
	Account func(*http.Request) string

	// WriteTimeout bounds each write of a response: a client that takes nothing for so long is given up. Zero means 30 s.
	// See BodyTimeout for middleware without it.
	WriteTimeout time.Duration

	// KeepAlive is how often a quiet stream gets a comment, so that no proxy on the way closes it. Zero means 15 s.
	KeepAlive time.Duration

	// Retry is how long clients are asked to wait before they open a stream again that broke, as far as the revision lets
	// the server say so. Zero means 1 s.
	Retry time.Duration

	// Events keeps what was sent on the streams of legacy sessions, for clients whose connection broke. Nil means
	// [store.NewMemoryEvents] with its defaults.
	Events store.Events

	// NotResumable keeps nothing: what a client misses while its connection is broken is lost.
	NotResumable bool

	// Sessions keeps the sessions of legacy clients where other processes find them too, so that any of them may serve
	// each, and none is lost with a process; package redisstore has such a store. Events must then be a
	// [store.SharedEvents], unless NotResumable is set. All processes should offer the same and have the same options;
	// bounds such as MaxSessions hold for each of them. A change in one is told to the clients of all. An [Initializer]
	// hears of a session when it first comes to the process, a [Terminator] when the process has no more to do with it,
	// and a [ResourceSubscriber] of what is watched in between; a [LevelSetter] only in the process that the client has
	// told. Values of a [Session] belong to the process. The handler has to be ended by Shutdown. Nil means that sessions
	// are known in this process only.
	Sessions store.Sessions

	// Lease is, with Sessions, how long after its last sign of life a process counts as dead. Then the requests that it
	// was handling are answered with an error to clients that come back for them. Zero means 10 s.
	Lease time.Duration

	// Principal says who is asking, as the middleware that authenticates requests has noted it in their contexts; empty
	// if that is unknown. A session belongs to the principal that opened it: to all others it does not exist. Nil means
	// whom bearer.Require has let in, see bearer.Identity. Without a principal, sessions and tasks belong to every
	// client that knows their ids.
	Principal func(*http.Request) string

	// TrustTraceContext lets clients without a principal decide about traces, too. With it, and always for those that have
	// one, the span around a handler is part of the client's trace, sampled if that is, and the client's baggage is in the
	// handler's context, so that a call is one trace from one end to the other. Otherwise the span has a link to the
	// client's and is below the span around the handler, such as one of otelhttp, or without that begins a trace of which
	// the server decides whether it is sampled; and the baggage is not read. A stranger could have everything sampled or
	// nothing, put spans into the traces of others, and pass for whatever tenant the baggage names. That a request comes
	// to the loopback says nothing about who sent it, with a proxy on the same machine or other users; so it makes no
	// difference. Set it where only programs of your own can reach the server. telemetry.WithPublicEndpointFn may distrust
	// more, request by request.
	TrustTraceContext bool
}

// distrusts reports whether a client has no say in traces.
func (o *HTTPOptions) distrusts(principal string) bool {
	return principal == "" && !o.TrustTraceContext
}

// bodyFrames is how many frames of the limit bodies may take together by default.
const bodyFrames = 16

// newHTTPConfig returns the options with every default filled in, for a server with this limit of frames.
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

// forWeb returns the options of the handler of package web.
func (o *HTTPOptions) forWeb(s *Server) *web.Options {
	return &web.Options{
		Legacy: s.cfg.legacy, Modern: s.cfg.modern, FrameLimit: s.cfg.FrameLimit, NullID: s.cfg.nullID(), Total: s.total,
		MaxLogBytes: maxLogMessage,

		AllowedOrigins: o.AllowedOrigins, AllowedHosts: o.AllowedHosts, Stateless: o.Stateless, NoSSE: o.NoSSE,

		MaxRequests: o.MaxRequests, MaxWaiting: o.MaxWaiting, MaxSessions: o.MaxSessions,
		MaxIntroductionBytes: o.MaxIntroductionBytes, MaxBodies: o.MaxBodies,

		SessionTimeout: o.SessionTimeout, ConfirmTimeout: o.ConfirmTimeout, BodyTimeout: o.BodyTimeout,
		BodyRate: o.BodyRate, WriteTimeout: o.WriteTimeout, KeepAlive: o.KeepAlive, Retry: o.Retry, Lease: o.Lease,

		Account: o.Account, Principal: o.Principal, Events: o.Events, Sessions: o.Sessions,
	}
}
