package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// DefaultFrameLimit is the default size in bytes of the largest frame that a server accepts.
const DefaultFrameLimit = 16 << 20

// Options configure a server. A nil *Options means the defaults, as does the zero value of each field.
type Options struct {
	// Name is the server's name in telemetry (mcp_server.name). Zero means the implementation's name.
	Name string

	// InstanceID distinguishes servers of the same name, in this process and in others. Spans and log records have it as
	// mcp_server.instance.id. Metrics do not have it, because each server would add series. Empty means 16 random
	// hexadecimal digits, which [Server.Inspect] returns. If you set InstanceID, for example to the name of a pod, it
	// must be unique among the servers of the same name.
	InstanceID string

	// Instructions explain to the client's model how to use the server.
	Instructions string

	// Versions restricts the protocol revisions that the server speaks. Zero means all of [mcp.SupportedVersions].
	// Without a legacy revision, the server refuses initialize. Without a modern revision, the server does not know
	// server/discover and ignores the _meta of modern requests.
	Versions []mcp.Version

	// Capabilities are declared in addition to the capabilities that the server derives from its tools, resources and
	// prompts: experimental capabilities, extensions, and features that the program adds later.
	Capabilities mcp.ServerCapabilities

	// Limits bound the size of frames and the concurrent requests.
	Limits Limits

	// RequestTimeout limits the time for handling a request. After this time, the handler's context ends. Zero means no
	// limit.
	RequestTimeout time.Duration

	// DrainTimeout is the time that handlers have to finish after the client has sent its last message; then their
	// contexts end. Zero means 1 s. A negative value ends the contexts at once.
	DrainTimeout time.Duration

	// KeepAlive is the time of silence after which the server sends a ping to a legacy client. If the client stays silent
	// for as long again, the server closes the session with [ErrSessionSilent]. So within three times KeepAlive, the
	// server detects a client that hangs. Every message of the client is a sign of life. Over HTTP, the server pings only
	// clients that have opened a stream by GET; for other clients see [HTTPTimeouts]. Modern clients get no pings, because
	// a server cannot send them requests. Zero means no pings. (specification 2025-11-25, basic/utilities/ping)
	KeepAlive time.Duration

	// Rates limit how often a client may send expensive requests, and how often handlers may send it notifications.
	Rates Rates

	// PageSize is the maximum number of entries on one page of a list. Zero means 1,000.
	PageSize int

	// Cache sets how modern clients may cache lists and the answer to server/discover.
	Cache Cache

	// Logging enables log messages: the server declares that it sends them, and [RequestInfo.Log], [RequestInfo.Logger]
	// and [Server.Log] send them. Otherwise these methods do nothing. Revision 2026-07-28 deprecates log messages in
	// favour of telemetry.
	Logging bool

	// LogLevel is the least severe level of log messages for a legacy client that has not sent logging/setLevel. The
	// protocol lets the server choose this default. Zero means [mcp.LevelInfo].
	LogLevel mcp.LoggingLevel

	// Middleware wraps the handling of each request; the first function is the outermost. [New] calls each function once,
	// with the next handler. Requests that the server refuses earlier, because of their revision or because the server is
	// busy, do not reach the middleware. Middleware may answer a request itself, ask the client as a handler may (see
	// [RequestInfo.AskAll]), pass on another context, inspect the result, and replace the error. Middleware must pass on
	// the request that it got; the server ignores changes to this request. The server calls the middleware for each round
	// of a modern request. If middleware requires input by [RequestInfo.RequireInput], the server calls the middleware
	// again for clients of both eras. If a call becomes a task, the middleware gets the answer with the task. Middleware
	// should not delay requests such as initialize and ping, because the server reads no further messages of the
	// connection while it handles such a request. A panic is an internal error.
	Middleware []func(next RequestHandler) RequestHandler

	// StateKeys encrypt the state that modern clients keep between the rounds of a request when a handler asks them
	// something (see [RequestInfo.AskAll]). Each key has 32 random bytes. The first key encrypts, and all keys decrypt.
	// To replace a key, insert the new key in front of it, and remove the old key after StateTTL. All processes that
	// serve the same clients need the same keys. One key suffices for four billion rounds. Nil means a random key. Then a
	// client must send the request again from its beginning if its next round reaches another process, or the same
	// process after a restart.
	StateKeys [][]byte

	// StateTTL is the time that a client has for a round. Zero means 15 min, enough for a person to fill in a form or
	// sign in.
	StateTTL time.Duration

	// Tasks configure tasks. The server offers tasks if Tasks is not nil or if the server has a task tool, see
	// [TaskTool].
	Tasks *TaskOptions

	// NameTargets lets telemetry record the names of the tools and prompts that clients request from the handlers of
	// [Server.Implement], even names that do not exist, up to the limits of telemetry. Otherwise metrics record these
	// names as "_OTHER" and span names omit them, because a client may invent any name.
	NameTargets bool

	// Telemetry receives spans, metrics and log records. Nil means [telemetry.New] without options: the global
	// OpenTelemetry providers and no log. [telemetry.Off] observes nothing.
	Telemetry *telemetry.Telemetry
}

// Limits bound the size of frames and the concurrent requests of a server. The zero value of every field is its
// default.
type Limits struct {
	// Frame is the size in bytes of the largest frame that [Server.ServeStdio] and [Server.HTTPHandler] accept. The server
	// skips a larger frame and, if it can read the id of the request in it, refuses the request. Zero means
	// [DefaultFrameLimit].
	Frame int

	// Concurrent is the maximum number of requests that the server handles at once for one connection, or for one session
	// over HTTP. Zero means 64. [HTTPLimits.Requests] limits the requests of modern clients over HTTP instead.
	Concurrent int

	// Queued is the maximum number of requests that wait while Concurrent requests run. The server answers further
	// requests with an error. It also refuses a request that arrives while others run or wait, if the frames of all these
	// requests together are larger than four times Frame. Zero means 1,024, negative means none.
	Queued int

	// Total is the maximum number of requests that the server handles at once over all connections, sessions and HTTP
	// requests, in addition to the limit for each of them. When Total requests are running, a connection or session with a
	// running request may queue more requests, up to Queued. The server answers requests on all other connections and
	// sessions with an error, over HTTP with the status 503. For two seconds after such a refusal, a connection that runs
	// more than its share of Total starts no further requests. Pings, requests that open a session, changes of the log
	// level, open subscriptions and calls that have become tasks do not count. A handler that waits for an answer of a
	// legacy client still counts: see [Options.RequestTimeout]. Zero means no limit.
	Total int
}

// Cache sets how modern clients may cache lists and the answer to server/discover.
// (specification 2026-07-28, server/utilities/caching)
type Cache struct {
	// TTL is the time during which a client may use a cached answer, in whole milliseconds. Zero disables caching.
	TTL time.Duration

	// Scope defines with whom a client may share cached answers. Zero means [mcp.CachePublic] in the answers to requests
	// without a principal, and [mcp.CachePrivate] in the answers to requests with a principal (see
	// [HTTPOptions.Principal]), because two users may see different entries. Set a scope if all users see the same.
	// (specification 2026-07-28, server/utilities/caching, "Security Considerations")
	Scope mcp.CacheScope
}

// config is Options after validation, with every default filled in.
type config struct {
	Options
	versions []mcp.Version // newest first
	modern   []mcp.Version // modern revisions, newest first
	legacy   []mcp.Version // legacy revisions, newest first
	sealer   *sealer       // encrypts the state that modern clients keep
	rates    rates.Limits
}

func newConfig(o *Options, name string) (config, error) {
	var c config
	if o != nil {
		c.Options = *o
	}
	c.Name = cmp.Or(c.Name, name)
	c.InstanceID = cmp.Or(c.InstanceID, instrument.NewInstanceID())
	c.Limits.Concurrent = cmp.Or(c.Limits.Concurrent, 64)
	c.Limits.Queued = max(0, cmp.Or(c.Limits.Queued, 1024))
	c.DrainTimeout = max(0, cmp.Or(c.DrainTimeout, time.Second))
	c.Limits.Frame = cmp.Or(c.Limits.Frame, DefaultFrameLimit)
	c.PageSize = cmp.Or(c.PageSize, 1000)
	c.LogLevel = cmp.Or(c.LogLevel, mcp.LevelInfo)
	c.StateTTL = cmp.Or(c.StateTTL, defaultStateTTL)
	if c.Telemetry == nil {
		c.Telemetry = telemetry.New()
	}
	for field, v := range map[string]int64{
		"Limits.Concurrent": int64(c.Limits.Concurrent), "Limits.Total": int64(c.Limits.Total),
		"RequestTimeout": int64(c.RequestTimeout),
		"Limits.Frame":   int64(c.Limits.Frame),
		"PageSize":       int64(c.PageSize), "Cache.TTL": int64(c.Cache.TTL), "KeepAlive": int64(c.KeepAlive),
		"StateTTL": int64(c.StateTTL),
	} {
		if v < 0 {
			return c, fmt.Errorf("options: %s is negative", field)
		}
	}
	if c.Cache.Scope != "" && c.Cache.Scope != mcp.CachePublic && c.Cache.Scope != mcp.CachePrivate {
		return c, fmt.Errorf("options: Cache.Scope %q is neither %q nor %q", c.Cache.Scope, mcp.CachePublic, mcp.CachePrivate)
	}
	if !c.LogLevel.Defined() {
		return c, fmt.Errorf("options: unknown LogLevel %q", c.LogLevel)
	}
	var err error
	if c.rates, err = c.Rates.limits(); err != nil {
		return c, err
	}
	if c.sealer, err = newSealer(c.StateKeys, c.StateTTL); err != nil {
		return c, err
	}
	return c, c.sortVersions()
}

// sortVersions checks the pinned versions and divides them by era.
func (c *config) sortVersions() error {
	supported := mcp.SupportedVersions()
	for _, v := range c.Versions {
		if !slices.Contains(supported, v) {
			return fmt.Errorf("options: unknown protocol version %q", v)
		}
	}
	for _, v := range supported {
		if len(c.Versions) > 0 && !slices.Contains(c.Versions, v) {
			continue
		}
		c.versions = append(c.versions, v)
		if v.Era() == mcp.Modern {
			c.modern = append(c.modern, v)
		} else {
			c.legacy = append(c.legacy, v)
		}
	}
	return nil
}

// forEngine returns the options for the engine of s.
func (c *config) forEngine(s *Server) *engine.Options {
	return &engine.Options{
		Name: c.Name, InstanceID: c.InstanceID, MaxConcurrent: c.Limits.Concurrent, MaxQueued: c.Limits.Queued,
		MaxTotal: c.Limits.Total, DrainTimeout: c.DrainTimeout, KeepAlive: c.KeepAlive, FrameLimit: c.Limits.Frame,
		Telemetry: c.Telemetry, Versions: c.versions, Modern: c.modern, Legacy: c.legacy, Rates: c.rates,
		Usage:  func(yield rpc.YieldUsage) { s.tasks.keeper.Usage(yield) },
		Enlist: func(number uint64) { running.Enlist(&running.Servers, number, s) },
	}
}

// cacheHint returns the cache hint for the results that a modern client may cache. An empty principal means no
// principal.
// (specification 2026-07-28, server/utilities/caching)
func (c *config) cacheHint(principal string) mcp.CacheHint {
	scope := c.Cache.Scope
	switch {
	case scope != "":
	case principal != "":
		scope = mcp.CachePrivate
	default:
		scope = mcp.CachePublic
	}
	return mcp.CacheHint{TTLMs: new(c.Cache.TTL.Milliseconds()), CacheScope: scope}
}
