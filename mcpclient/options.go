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

// DefaultFrameLimit is the size in bytes of the largest frame a client accepts unless told otherwise.
const DefaultFrameLimit = 16 << 20

// Options configure a client. A nil *Options, and the zero value of every field, mean the defaults stated here.
type Options struct {
	// Name is the client's name in telemetry (mcp_client.name): which of your servers this is. Zero means the
	// transport's name, such as the base name of the command. Use few names: it is an attribute of every metric. See Group
	// for what becomes of many.
	Name string

	// InstanceID tells the client apart from others of its name, in this process and elsewhere: it is
	// mcp_client.instance.id, which spans and log records have beside the name. Metrics do not have it, so that each
	// client does not add series. Empty means 16 random hexadecimal digits; [Client.Inspect] tells which. If you set it,
	// for example to the name of a pod, no two clients of one name may have the same.
	InstanceID string

	// Group is which of your servers this is like, where there are many: a tenant, a kind, a cluster. It is
	// mcp_client.group on all that the client emits, and empty by default. Metrics have room for about 2,000 sets of
	// attributes each; in a process whose clients have more names than that, the later ones are _OTHER on metrics, and
	// told apart by their groups, of which the first 32 are. It has nothing to do with [Group], whose members may be in
	// one group or in several.
	Group string

	// ClientInfo is how the client introduces itself. Zero means the main module's path and version.
	ClientInfo mcp.Implementation

	// Versions pins the protocol revisions the client may speak. Zero means all of [mcp.SupportedVersions]. Without a
	// legacy one there is no initialize, without a modern one no probe.
	Versions []mcp.Version

	// Features are the handlers the client has from the first frame on, and what they declare.
	Features []Feature

	// Capabilities are declared beyond those of the features: experimental ones and extensions.
	Capabilities mcp.ClientCapabilities

	// RequestTimeout bounds each call, waiting for readiness and send retries included. Zero means 30 s, negative
	// means none. [WithTimeout] overrides it per call.
	RequestTimeout time.Duration

	// InitTimeout bounds opening the transport, and again negotiating, in each attempt to connect. Zero means 10 s. A
	// quarter of it is for the probe that tells a modern server from a legacy one.
	InitTimeout time.Duration

	// StartTimeout takes the place of InitTimeout, if it is longer, in the first attempt to connect, as long as the server
	// is a process that has written nothing to its standard output: it is starting, or being installed. What follows its
	// first line has InitTimeout, and so has every later attempt. Zero means 60 s.
	StartTimeout time.Duration

	// AuthTimeout takes the place of InitTimeout while a message of the handshake waits for an authorization, which may
	// take a person a while; what follows has InitTimeout again. Zero means 5 min. Calls keep to their own timeouts.
	AuthTimeout time.Duration

	// BackoffMin and BackoffMax are the first and the longest delay between attempts, each ±50 %, so that many clients of
	// a server that was gone do not come back at once. The delay doubles until a session has answered a call or has
	// lasted for BackoffMax: a server that dies after each handshake is not started again and again. Zero means 1 s and
	// 30 s. A server that says how long it is busy is waited for, and up to half as long again or half of
	// BackoffMax, 10 min at most.
	BackoffMin, BackoffMax time.Duration

	// CloseTimeout is what a connection gets to close before it is cut: for stdio, from closing the server's input to
	// SIGKILL. Zero means 100 ms. It bounds Stop.
	CloseTimeout time.Duration

	// KeepAlive, if it is not zero, is how long the server may say nothing before it is sent a ping; one that is silent
	// for as long again is lost: calls fail with [ErrConnectionLost], and the client connects anew. So a server that hangs
	// is found within three times KeepAlive, without a call. Each message that it sends is a sign of life, but nothing
	// else is: a server that answers nothing while it works on a call needs a longer KeepAlive than its longest call
	// takes. Modern revisions have no ping; there the client asks for server/discover. In a modern session over HTTP every
	// request is on its own, and KeepAlive does nothing. Zero means no pings. (specification 2025-11-25,
	// basic/utilities/ping)
	KeepAlive time.Duration

	// InitialAttempts is how many attempts to connect may fail before the client was ever ready; then it gives up for
	// good. Zero means three for [Connect] and no limit for [New]; negative means no limit.
	InitialAttempts int

	// FrameLimit is the size in bytes of the largest frame accepted, exactly this size included. Zero means
	// [DefaultFrameLimit].
	//
	// What a frame is decoded into takes 128 MiB of memory at most, or eight times the frame if that is more; otherwise
	// the call fails with an error of kind [KindProtocol]. See docs/bounds.md.
	FrameLimit int

	// SendQueue is how many bytes of messages may wait until the server reads them, over transports that share one stream;
	// a single message may be larger. Then the transport is busy: see [ErrBackpressure] and WaitForRoom. Zero means
	// FrameLimit, and at least 256 KiB. Over HTTP it is [transport.HTTP.MaxInFlight] that bounds what is on its way.
	SendQueue int

	// WaitForRoom, if true, has every call wait for room in a transport that is busy, as the call option [WaitForRoom]
	// does.
	WaitForRoom bool

	// SkipOversize, if true, skips a frame over the limit and fails only its own call. Otherwise such a frame ends the
	// connection, and the client reconnects.
	SkipOversize bool

	// NotificationQueue is how many notifications may wait for their handlers. Zero means 1,024. When it is full,
	// list-changed and updated notifications are coalesced and the oldest progress and log messages dropped, counted.
	NotificationQueue int

	// NotificationBytes is how many bytes the notifications that wait for their handlers may have, as frames. Zero means
	// 16 MiB, or FrameLimit if that is more. What happens when there is no room is the same as with NotificationQueue. A
	// notification that is larger by itself waits if no other does.
	NotificationBytes int

	// MaxInputRounds is how often in all one call is sent, if a modern server answers it by asking for input again and
	// again. Zero means 10.
	MaxInputRounds int

	// NoCache, if true, asks the server for every list and every resource that is read. Otherwise what a server of
	// 2026-07-28 says is fresh for a time (ttlMs) is kept that long, or until the server tells of a change, or the
	// connection is negotiated anew; and until then the same question is answered without the server. Each caller
	// decodes the answer anew. Everything is kept for this client alone, which is one authorization context, so cacheScope
	// makes no difference. Only the lists and resources/read are kept, not what [Client.Call] is asked for.
	//
	// The cache makes no client listen: for as long as it is fresh, a result may be older than a change that the client
	// has not subscribed to. A client that has handlers for changes hears of them, and so does its cache.
	// (specification 2026-07-28, server/utilities/caching)
	NoCache bool

	// NoListening, if true, keeps the client from sending subscriptions/listen. Set it for a server of 2026-07-28 that
	// stops answering after that request, as servers on stdio do that are built on mcp-go 1.0.0; "mcpotel doctor" finds
	// them. The client loses this: it hears of no changes of lists and resources, and calls their handlers only when a new
	// session begins; cached results stay fresh for all of their ttlMs; and SubscribeResource fails. Servers of older
	// revisions send changes of lists unasked and have resources/subscribe, so for them nothing changes.
	NoListening bool

	// CacheSize bounds the results that are kept, in bytes; what has not been used for the longest time makes room. A
	// result larger than a quarter of it is not kept. Zero means 4 MiB.
	CacheSize int

	// Middleware is put around all calls of the user and what is built on them: tools, lists, resources. The first one is
	// outermost: it sees a call first and its outcome last. A call passes once, however many requests it takes (retries,
	// rounds of input), though a tool whose HTTP headers turn out to be stale is called again; and also if the result
	// comes out of the cache. Notifications, the handshake, subscriptions/listen and what the client restores in a new
	// session do not pass. Panics go to the caller, and so does the end of the goroutine.
	//
	// It runs inside the CLIENT span of the call, which is trace.SpanFromContext(ctx): middleware may set attributes on
	// it, add events and start spans below it. The span ends with the error that the middleware returns; a call that
	// middleware denies, by not calling next, is a failed call. A further try or round of the call has a span of its own,
	// and the first one has ended by then.
	Middleware []Middleware

	// HandlerMiddleware is put around the handlers of the server's requests: those that a legacy server sends, and those
	// that a modern one asks for in its answer to a call; ping included. The first one is outermost. A panic is dealt with
	// as one of the handler.
	HandlerMiddleware []func(next RequestHandler) RequestHandler

	// OnTransition, if not nil, hears of every transition, in order, one at a time, off the paths of calls. While it does
	// not return, up to 256 wait; the oldest are left out then, and a log record says how many. What becomes of one call,
	// a panic or the end of its goroutine, changes nothing for the next.
	OnTransition func(connstate.Transition)

	// Telemetry is where spans, metrics and log records go. Nil means [telemetry.New] without options: the global
	// OpenTelemetry providers and no log. [telemetry.Off] observes nothing.
	Telemetry *telemetry.Telemetry
}

// config is Options with every default filled in, checked.
type config struct {
	Options
	core conn.Settings // the same, as far as the core has to know it

	// Nil for none. It is here, and not in each Client, because few have it; a config with features is no other client's.
	loops *loopWatch
}

func newConfig(o *Options, transportName string, attempts int) (config, error) {
	var c config
	if o != nil {
		c.Options = *o
	}
	c.Name = cmp.Or(c.Name, transportName)
	c.InitialAttempts = cmp.Or(c.InitialAttempts, attempts)
	if c.ClientInfo.Name == "" {
		c.ClientInfo = mainImplementation()
	}
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 30*time.Second)
	c.InitTimeout = cmp.Or(c.InitTimeout, 10*time.Second)
	c.StartTimeout = cmp.Or(c.StartTimeout, time.Minute)
	c.AuthTimeout = cmp.Or(c.AuthTimeout, 5*time.Minute)
	c.BackoffMin = cmp.Or(c.BackoffMin, time.Second)
	c.BackoffMax = cmp.Or(c.BackoffMax, max(30*time.Second, c.BackoffMin))
	c.CloseTimeout = cmp.Or(c.CloseTimeout, 100*time.Millisecond)
	c.FrameLimit = cmp.Or(c.FrameLimit, DefaultFrameLimit)
	c.NotificationQueue = cmp.Or(c.NotificationQueue, 1024)
	c.NotificationBytes = cmp.Or(c.NotificationBytes, max(DefaultFrameLimit, c.FrameLimit))
	c.MaxInputRounds = cmp.Or(c.MaxInputRounds, 10)
	c.CacheSize = cmp.Or(c.CacheSize, 4<<20)
	if c.Telemetry == nil {
		c.Telemetry = telemetry.New()
	}
	for name, v := range map[string]int64{
		"InitTimeout": int64(c.InitTimeout), "StartTimeout": int64(c.StartTimeout), "KeepAlive": int64(c.KeepAlive),
		"AuthTimeout": int64(c.AuthTimeout), "CloseTimeout": int64(c.CloseTimeout),
		"BackoffMin": int64(c.BackoffMin), "BackoffMax": int64(c.BackoffMax), "FrameLimit": int64(c.FrameLimit),
		"NotificationQueue": int64(c.NotificationQueue), "NotificationBytes": int64(c.NotificationBytes),
		"MaxInputRounds": int64(c.MaxInputRounds), "CacheSize": int64(c.CacheSize), "SendQueue": int64(c.SendQueue),
	} {
		if v < 0 {
			return c, fmt.Errorf("options: %s is negative", name)
		}
	}
	c.core = conn.Settings{
		ClientInfo: c.ClientInfo, Capabilities: c.Capabilities,
		RequestTimeout: c.RequestTimeout, InitTimeout: c.InitTimeout, StartTimeout: c.StartTimeout,
		AuthTimeout: c.AuthTimeout, CloseTimeout: c.CloseTimeout, BackoffMin: c.BackoffMin, BackoffMax: c.BackoffMax,
		KeepAlive: c.KeepAlive, InitialAttempts: c.InitialAttempts, FrameLimit: c.FrameLimit, SendQueue: c.SendQueue,
		SkipOversize: c.SkipOversize, WaitForRoom: c.WaitForRoom, OnTransition: c.OnTransition,
	}
	if err := c.core.Complete(); err != nil {
		return c, fmt.Errorf("options: %w", err)
	}
	return c, c.sortVersions()
}

// sortVersions checks the pinned versions and divides them by era.
func (c *config) sortVersions() error {
	allowed := mcp.SupportedVersions()
	for _, v := range c.Versions {
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("options: Versions: unknown protocol version %q, want some of %q", v, allowed)
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
