package mcpclient

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// DefaultFrameLimit is the default of [Limits.Frame]: 16 MiB.
const DefaultFrameLimit = 16 << 20

// Options configures a client. A nil *Options, and the zero value of every field, select the defaults stated here.
type Options struct {
	// Name identifies the server in telemetry (mcp_client.name). The default is the transport's name, such as the base
	// name of the command. Use only a few different names, because the name is an attribute of every metric. For many
	// servers, see TelemetryGroup.
	Name string

	// InstanceID distinguishes clients with the same name, in this process and in others. It is the attribute
	// mcp_client.instance.id of spans and log records. Metrics do not have it, so that clients do not add series. Empty
	// means 16 random hexadecimal digits, which [Client.Inspect] returns. If you set it, for example to the name of a pod,
	// it must be unique among the clients with the same name.
	InstanceID string

	// TelemetryGroup names a group of similar servers, if there are many: a tenant, a kind, a cluster. It is the attribute
	// mcp_client.group on all telemetry of the client. The default is empty. Each metric has room for about 2,000 sets of
	// attributes. If a process has more client names than that, metrics record the later names as _OTHER, and distinguish
	// them by group, for the first 32 groups. TelemetryGroup is unrelated to the type [Group]: the members of a Group may
	// have one or several telemetry groups.
	TelemetryGroup string

	// ClientInfo is the identity of the client. The default is the main module's path and version.
	ClientInfo mcp.Implementation

	// Versions pins the protocol revisions that the client may use. The default is [mcp.SupportedVersions]. Without a
	// legacy version, the client never sends initialize. Without a modern version, it never probes.
	Versions []mcp.Version

	// Features are the client's handlers, which work from the first frame on, and the capabilities that they declare.
	Features []Feature

	// Capabilities are declared in addition to the capabilities of Features: experimental capabilities and extensions.
	Capabilities mcp.ClientCapabilities

	// RequestTimeout bounds each call, including the wait for readiness and retries. Zero means 30 s, and a negative value
	// means no limit. [WithTimeout] overrides it for one call.
	RequestTimeout time.Duration

	// Timeouts bounds the time to connect and to close.
	Timeouts Timeouts

	// Backoff sets the delays between attempts to connect, and the number of attempts.
	Backoff Backoff

	// Limits bounds the memory of the client, and the input rounds of a call.
	Limits Limits

	// CallOptions apply to every call of this client. The options of the call itself are applied later and take
	// precedence.
	CallOptions []CallOption

	// KeepAlive, if not zero, is the silence after which the client pings the server. If the server stays silent for the
	// same time again, the client considers the connection lost: calls fail with [ErrConnectionLost], and the client
	// reconnects. So the client detects a hanging server within three times KeepAlive, even without a call. Only messages
	// of the server end the silence: if a server answers nothing while it works on a call, KeepAlive must exceed the
	// server's longest call. Modern revisions have no ping; there the client sends server/discover. In a modern session
	// over HTTP, every request has its own stream, and KeepAlive has no effect. Zero means no pings. (specification
	// 2025-11-25, basic/utilities/ping)
	KeepAlive time.Duration

	// NoListening prevents subscriptions/listen. Set it for a server of 2026-07-28 that stops answering after that
	// request, such as a stdio server built on mcp-go 1.0.0; "mcpotel doctor" detects such servers. The client then gets
	// no notifications of changes, and calls the handlers of changes only when a new session begins. Cached results stay
	// fresh for all of their ttlMs, and SubscribeResource fails. Servers of older revisions send list changes without a
	// request and have resources/subscribe, so the option does not affect them.
	NoListening bool

	// CacheSize bounds the memory of cached results, in bytes. When the cache is full, the least recently used result is
	// evicted. A result larger than a quarter of CacheSize is not cached. Zero means 4 MiB, and a negative value means no
	// cache.
	//
	// The client caches results that a server of 2026-07-28 declares fresh for a time (ttlMs). A result stays cached until
	// this time is over, the server reports a change, or the client negotiates again. Each caller gets a slice of its own,
	// but all callers share the items, such as each [mcp.Tool], and must not modify them. The cache belongs to this client
	// alone, so cacheScope matters only if the client gets a new authorization: then the cache drops all results that are
	// not public. The cache holds only lists and the results of resources/read, and no results of [Client.Call].
	//
	// The cache does not subscribe to changes: a fresh result may be older than a change that the client has not
	// subscribed to. If a client has handlers for changes, the notifications update its cache too. (specification
	// 2026-07-28, server/utilities/caching)
	CacheSize int

	// Middleware wraps all calls of the user and the functions that are built on them: tools, lists, resources. The first
	// middleware is the outermost: it sees a call first and the outcome of the call last. A call passes through the
	// middleware once, even if the call needs several requests (retries, rounds of input) or the cache answers it. But a
	// tool call that is repeated because of stale HTTP headers passes through it again. Notifications, the handshake,
	// subscriptions/listen and the restoration of a session do not pass through it. If middleware panics or ends its
	// goroutine, the panic or the end reaches the caller.
	//
	// Middleware runs inside the CLIENT span of the call, trace.SpanFromContext(ctx). It may set attributes and add events
	// on that span, and start child spans. The span ends with the error that the middleware returns. If middleware denies
	// a call by not calling next, the call counts as failed. Each further request of the call has its own span, which
	// starts after the previous one has ended.
	Middleware []Middleware

	// HandlerMiddleware wraps the handlers of the server's requests, including ping: requests of a legacy server, and
	// requests for input in answers of a modern server. The first function is the outermost. A panic in a function counts
	// as a panic of the handler.
	HandlerMiddleware []func(next RequestHandler) RequestHandler

	// OnTransition, if not nil, is called for every transition, one at a time and in order, without delaying calls. While
	// it runs, up to 256 transitions wait. Beyond that, the oldest are dropped, and a log record reports their number. If
	// OnTransition panics or ends its goroutine, later transitions are not affected.
	OnTransition func(connstate.Transition)

	// Telemetry receives spans, metrics and log records. Nil means [telemetry.New] without options: the global
	// OpenTelemetry providers, and no log. [telemetry.Off] disables telemetry.
	Telemetry *telemetry.Telemetry
}

// Timeouts bounds the time to connect and to close. The zero value of every field selects its default.
type Timeouts struct {
	// Init bounds each attempt to connect: first the opening of the transport, and then separately the negotiation. Zero
	// means 10 s. The probe for a modern server gets a quarter of it.
	Init time.Duration

	// Start replaces Init, if Start is longer, in the first attempt to connect, because the server process may still be
	// starting or being installed. After the server's first line on standard output, and in every later attempt, Init
	// applies. Zero means 60 s.
	Start time.Duration

	// Auth replaces Init while a message of the handshake waits for an authorization, which may involve a person. After
	// that, Init applies again. Zero means 5 min. Calls keep their own timeouts.
	Auth time.Duration

	// Close bounds the closing of a connection. For stdio, it is the time from closing the server's input to SIGKILL. Zero
	// means 100 ms. [Client.Close] takes only slightly longer.
	Close time.Duration
}

// Backoff sets the delays between attempts to connect, and the number of attempts. The zero value of every field
// selects its default.
type Backoff struct {
	// Min and Max are the shortest and the longest delay between attempts. Zero means 1 s for Min and 30 s for Max. Each
	// delay varies by ±50 %, so that the clients of a restarted server do not all reconnect at the same time. The delay
	// doubles until a session has answered a call or has lasted for Max, so a server that dies after each handshake is not
	// restarted continuously. If a busy server states a longer delay, the client waits that long and a random time more:
	// up to half of the delay or half of Max, whichever is less. This wait is at most 10 min.
	Min, Max time.Duration

	// Attempts is the number of attempts to connect after which a client that was never ready gives up for good. Zero
	// means three for [Connect] and no limit for [New]. A negative value means no limit.
	Attempts int
}

// Limits bounds the memory of a client, and the input rounds of a call. The zero value of every field selects its
// default.
type Limits struct {
	// Frame is the maximum size of a received frame, in bytes. Zero means [DefaultFrameLimit].
	//
	// The values decoded from one frame may take at most 128 MiB of memory, or eight times the frame if that is more. If
	// they would take more, the call fails with an error of kind [KindProtocol]. See docs/bounds.md.
	Frame int

	// SkipOversize makes the client skip a frame above the limit and fail only its call. Without it, such a frame ends the
	// connection, and the client reconnects.
	SkipOversize bool

	// SendQueue is the maximum number of bytes that wait for the server to read them, over transports with one shared
	// stream. An empty queue accepts a larger message. When the queue is full, the transport is busy: see
	// [ErrBackpressure] and [WaitForRoom]. Zero means the value of Frame, and at least 256 KiB. Over HTTP,
	// [transport.HTTP.MaxInFlight] is the limit instead.
	SendQueue int

	// Notifications is the maximum number of notifications that wait for their handlers. Zero means 1,024. When the queue
	// is full, list-changed and updated notifications are coalesced, and the oldest progress and log messages are dropped.
	// The client counts both.
	Notifications int

	// NotificationBytes bounds the frames of waiting notifications, in bytes. Zero means 16 MiB, or Frame if Frame is
	// larger. A full queue makes room as described for Notifications. A single notification may be larger.
	NotificationBytes int

	// InputRounds bounds how often the client sends one call if a modern server repeatedly answers it with a request for
	// input. Zero means 10.
	InputRounds int
}

// config is a valid Options value with all defaults filled in.
type config struct {
	Options
	core conn.Settings // the part that the core needs

	// Loop detection; nil for none. It is in config and not in Client, to save memory: few clients have it.
	loops *loopWatch
}

func newConfig(o *Options, transportName string, attempts int) (config, error) {
	var c config
	if o != nil {
		c.Options = *o
	}
	c.Name = cmp.Or(c.Name, transportName)
	c.Backoff.Attempts = cmp.Or(c.Backoff.Attempts, attempts)
	if c.ClientInfo.Name == "" {
		c.ClientInfo = mainImplementation()
	}
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 30*time.Second)
	c.Timeouts.Init = cmp.Or(c.Timeouts.Init, 10*time.Second)
	c.Timeouts.Start = cmp.Or(c.Timeouts.Start, time.Minute)
	c.Timeouts.Auth = cmp.Or(c.Timeouts.Auth, 5*time.Minute)
	c.Backoff.Min = cmp.Or(c.Backoff.Min, time.Second)
	c.Backoff.Max = cmp.Or(c.Backoff.Max, max(30*time.Second, c.Backoff.Min))
	c.Timeouts.Close = cmp.Or(c.Timeouts.Close, 100*time.Millisecond)
	c.Limits.Frame = cmp.Or(c.Limits.Frame, DefaultFrameLimit)
	c.Limits.Notifications = cmp.Or(c.Limits.Notifications, 1024)
	c.Limits.NotificationBytes = cmp.Or(c.Limits.NotificationBytes, max(DefaultFrameLimit, c.Limits.Frame))
	c.Limits.InputRounds = cmp.Or(c.Limits.InputRounds, 10)
	c.CacheSize = cmp.Or(c.CacheSize, 4<<20)
	if c.Telemetry == nil {
		c.Telemetry = telemetry.New()
	}
	for name, v := range map[string]int64{
		"Timeouts.Init": int64(c.Timeouts.Init), "Timeouts.Start": int64(c.Timeouts.Start), "KeepAlive": int64(c.KeepAlive),
		"Timeouts.Auth": int64(c.Timeouts.Auth), "Timeouts.Close": int64(c.Timeouts.Close),
		"Backoff.Min": int64(c.Backoff.Min), "Backoff.Max": int64(c.Backoff.Max), "Limits.Frame": int64(c.Limits.Frame),
		"Limits.Notifications": int64(c.Limits.Notifications), "Limits.NotificationBytes": int64(c.Limits.NotificationBytes),
		"Limits.InputRounds": int64(c.Limits.InputRounds), "Limits.SendQueue": int64(c.Limits.SendQueue),
	} {
		if v < 0 {
			return c, fmt.Errorf("options: %s is negative", name)
		}
	}
	c.core = conn.Settings{
		ClientInfo: c.ClientInfo, Capabilities: c.Capabilities,
		RequestTimeout: c.RequestTimeout, InitTimeout: c.Timeouts.Init, StartTimeout: c.Timeouts.Start,
		AuthTimeout: c.Timeouts.Auth, CloseTimeout: c.Timeouts.Close, BackoffMin: c.Backoff.Min, BackoffMax: c.Backoff.Max,
		KeepAlive: c.KeepAlive, InitialAttempts: c.Backoff.Attempts, FrameLimit: c.Limits.Frame,
		SendQueue:    c.Limits.SendQueue,
		SkipOversize: c.Limits.SkipOversize, OnTransition: c.OnTransition,
	}
	if err := c.core.Complete(); err != nil {
		return c, fmt.Errorf("options: %w", err)
	}
	return c, c.sortVersions()
}

// sortVersions validates the pinned versions and divides them into eras.
func (c *config) sortVersions() error {
	allowed := mcp.SupportedVersions()
	for _, v := range c.Versions {
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("options: Versions: unknown protocol version %q; the supported versions are %q", v, allowed)
		}
	}
	for _, v := range allowed {
		switch {
		case len(c.Versions) > 0 && !slices.Contains(c.Versions, v):
		case v.Era() == mcp.Modern:
			c.core.Modern = append(c.core.Modern, v)
		default:
			c.core.Legacy = append(c.core.Legacy, v)
		}
	}
	return nil
}
