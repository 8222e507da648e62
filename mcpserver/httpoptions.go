package mcpserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/internal/identity"
)

// HTTPOptions configure an [HTTPHandler]. A nil *HTTPOptions, and the zero value of every field, mean the defaults stated
// here. Bounds of time are off if they are negative.
type HTTPOptions struct {
	// AllowedOrigins are web origins, such as "https://app.example.com", whose pages may call the server besides those of
	// its own host; "*" allows all. Requests without an Origin, which do not come from web pages, need none.
	AllowedOrigins []string

	// AllowedHosts are names, with or without a port, under which clients may address the server through a loopback address
	// besides localhost, 127.0.0.1 and [::1]; "*" allows all. A reverse proxy on the same machine may need this. Requests
	// that arrive on other addresses are not held to it.
	AllowedHosts []string

	// Stateless serves legacy clients without sessions: each POST stands alone, nothing is remembered between them, and
	// GET and DELETE are refused. Modern clients are always served so.
	Stateless bool

	// NoSSE refuses the transport of 2024-11-05, HTTP+SSE, which is otherwise served under the same URL.
	NoSSE bool

	// MaxRequests is how many POSTs are answered at once; more are refused with 503. Each may hold a body of the
	// [Options.FrameLimit]. Zero means 1,024.
	MaxRequests int

	// MaxSessions is how many legacy sessions there may be, those of HTTP+SSE included; more are refused with 503. Zero
	// means 10,000.
	MaxSessions int

	// MaxSubscriptions is how many subscriptions of modern clients may be open; more are refused with 429. Zero means
	// 10,000.
	MaxSubscriptions int

	// SessionTimeout is how long a legacy session lasts in which nothing happens and no stream is open. Zero means 30 min.
	SessionTimeout time.Duration

	// BodyTimeout bounds the reading of a request's body. Zero means 30 s.
	BodyTimeout time.Duration

	// WriteTimeout bounds each write of a response: a client that takes nothing for so long is given up. Zero means 30 s.
	WriteTimeout time.Duration

	// KeepAlive is how often a quiet stream gets a comment, so that nobody on the way closes it. Zero means 15 s.
	KeepAlive time.Duration

	// Retry is how long clients are asked to wait before they open a stream again that broke, as far as the revision lets
	// the server say so. Zero means 1 s.
	Retry time.Duration

	// Events keeps what was sent on the streams of legacy sessions, for clients whose connection broke. Nil means
	// [NewMemoryEventStore] with its defaults.
	Events EventStore

	// NotResumable keeps nothing: what a client misses while its connection is broken is lost.
	NotResumable bool

	// Sessions keeps the sessions of legacy clients where other processes find them too, so that any of them may serve each,
	// and none is lost with a process; package redisstore has such a store. Events must then be a [SharedEventStore], unless
	// NotResumable is set. All processes should offer the same and have the same options; bounds such as MaxSessions hold
	// for each of them. A change in one is told to the clients of all. An [Initializer] hears of a session when it first
	// comes to the process, a [Terminator] when the process has no more to do with it, and a [ResourceSubscriber] of what
	// is watched in between; a [LevelSetter] only in the process that the client has told. Values of a [Session] belong to
	// the process. The handler has to be ended by Shutdown. Nil means that sessions are known in this process only.
	Sessions SessionStore

	// Lease is, with Sessions, how long after its last sign of life a process counts as dead. Then the requests that it was
	// handling are answered with an error to clients that come back for them. Zero means 10 s.
	Lease time.Duration

	// Principal says who is asking, as whatever authenticates requests has noted it in their contexts; empty for nobody.
	// A session belongs to the principal that opened it: to all others it does not exist. Nil means whom bearer.Require has
	// let in, see bearer.Identity; without that, nobody, and then sessions and tasks belong to whoever knows their ids.
	Principal func(*http.Request) string
}

// newHTTPConfig returns the options with every default filled in.
func newHTTPConfig(o *HTTPOptions) (HTTPOptions, error) {
	var c HTTPOptions
	if o != nil {
		c = *o
	}
	for field, n := range map[string]*int{
		"MaxRequests": &c.MaxRequests, "MaxSessions": &c.MaxSessions, "MaxSubscriptions": &c.MaxSubscriptions,
	} {
		if *n < 0 {
			return c, fmt.Errorf("options: %s is negative", field)
		}
	}
	c.MaxRequests = cmp.Or(c.MaxRequests, 1024)
	c.MaxSessions = cmp.Or(c.MaxSessions, 10_000)
	c.MaxSubscriptions = cmp.Or(c.MaxSubscriptions, 10_000)
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 30*time.Minute)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.KeepAlive = cmp.Or(c.KeepAlive, 15*time.Second)
	c.Retry = cmp.Or(c.Retry, time.Second)
	c.Lease = cmp.Or(c.Lease, 10*time.Second)
	switch {
	case c.Lease < time.Millisecond:
		return c, errors.New("options: Lease is negative or below 1 ms")
	case c.NotResumable:
		c.Events = nil
	case c.Sessions != nil:
		if _, ok := c.Events.(SharedEventStore); !ok {
			return c, errors.New("options: Sessions needs Events that are a SharedEventStore, or NotResumable")
		}
	case c.Events == nil:
		c.Events = NewMemoryEventStore(0, 0)
	}
	if c.Principal == nil {
		c.Principal = func(r *http.Request) string { return identity.From(r.Context()) }
	}
	return c, nil
}
