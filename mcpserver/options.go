package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// DefaultFrameLimit is the size in bytes of the largest frame a server accepts unless told otherwise.
const DefaultFrameLimit = 16 << 20

// Options configure a server. A nil *Options, and the zero value of every field, mean the defaults stated here.
type Options struct {
	// Name is the server's name in telemetry (mcp_server.name). Zero means the implementation's name.
	Name string

	// InstanceID tells the server apart from others of its name, in this process and elsewhere: it is
	// mcp_server.instance.id, which spans and log records have beside the name. Metrics do not have it, so that each
	// server does not add series. Empty means 16 random hexadecimal digits; [Server.Inspect] tells which. If you set it,
	// for example to the name of a pod, no two servers of one name may have the same.
	InstanceID string

	// Instructions tell the client's model how to use the server.
	Instructions string

	// Versions pins the protocol revisions the server speaks. Zero means all of [mcp.SupportedVersions]. Without a legacy
	// one, initialize is refused; without a modern one, server/discover and the _meta of modern requests are unknown.
	Versions []mcp.Version

	// Capabilities are declared beyond those of what the server offers: experimental ones and extensions.
	Capabilities mcp.ServerCapabilities

	// MaxConcurrent is how many requests of one connection, or of one session over HTTP, are handled at once. Zero means
	// 64. What modern clients send over HTTP is bounded by [HTTPOptions.MaxRequests] instead.
	MaxConcurrent int

	// MaxQueued is how many more may wait for that. Those beyond are answered with an error, and so is a request that
	// comes while others run or wait, if their frames and its own are larger than four times the FrameLimit together. Zero
	// means 1,024, negative means none.
	MaxQueued int

	// MaxTotal is how many requests are handled at once, over all connections, sessions and HTTP requests of the server:
	// beyond what those bounds allow each of them. A connection or session that has a request handled lets more of them
	// wait, as MaxQueued says; those of the others are answered with an error, over HTTP with the status 503. For two
	// seconds after such a refusal, a connection that holds more than its share of places gets no more of them. Pings,
	// what opens a session, changes of the log level and subscriptions that have been opened do not count, and neither do
	// calls that have become tasks. A handler that waits for an answer of its client keeps its place, unless the client is
	// modern: see RequestTimeout. Zero means no bound.
	MaxTotal int

	// RequestTimeout bounds the handling of each request, by the handler's context. Zero means none.
	RequestTimeout time.Duration

	// DrainTimeout is how long handlers may go on when the client has sent its last message; then their contexts end.
	// Zero means 1 s, negative means that they end at once.
	DrainTimeout time.Duration

	// KeepAlive, if it is not zero, is how long a legacy client may say nothing before it is sent a ping; one that is
	// silent for as long again is given up, and its session closed because of [ErrSessionSilent]: a client that hangs is
	// found within three times KeepAlive. Whatever it sends is a sign of life. Over HTTP, only a client that has opened a
	// stream by GET is sent pings; others have [HTTPOptions.SessionTimeout]. Modern clients cannot be sent requests, and
	// are left alone. Zero means no pings. (specification 2025-11-25, basic/utilities/ping)
	KeepAlive time.Duration

	// Rates bound how often a client may do what costs more than it shows.
	Rates Rates

	// FrameLimit is the size in bytes of the largest frame that [Server.ServeStdio] and [Server.HTTPHandler] accept,
	// exactly this size included. A larger one is skipped and its request, if it can be read, refused. Zero means
	// [DefaultFrameLimit].
	FrameLimit int

	// PageSize is how many entries one page of a list has. Zero means 1,000.
	PageSize int

	// CacheTTL is how long a modern client may keep lists and the answer to server/discover, in whole milliseconds. Zero
	// means not at all.
	CacheTTL time.Duration

	// CacheScope says whom a modern client may share these with. Zero means [mcp.CachePublic] in the answers to a
	// request without a principal, and [mcp.CachePrivate] in those to a request with one (see [HTTPOptions.Principal]):
	// what was shown to one user may not be what another may see. Name a scope if it is the same for all.
	// (specification 2026-07-28, server/utilities/caching, "Security Considerations")
	CacheScope mcp.CacheScope

	// Logging declares that the server sends clients log messages: those of [RequestInfo.Log], [RequestInfo.Logger] and
	// [Server.Log], which do nothing without it. The protocol has deprecated them in 2026-07-28, in favour of telemetry.
	Logging bool

	// LogLevel is the least severe level for a legacy client that has not set one by logging/setLevel; what such a client
	// gets, the protocol leaves to the server. Zero means [mcp.LevelInfo].
	LogLevel mcp.LoggingLevel

	// Middleware goes around the handling of each request, the first one outermost; what is refused before that, for its
	// revision or because the server is busy, never gets there. Each is called once, by [New], with what comes next. It
	// may answer by itself, ask the client as a handler may (see [AskAll]), pass on another context, or look at the result
	// and change the error; the request that it passes on is the one that it got, and is answered as it came whatever has
	// been changed in it. Each round of a modern request is a request, and middleware that requires input by
	// [RequireInput] is called again whatever the client's era is; of a call that becomes a task, it sees that it has.
	// Some requests keep what follows them on the connection from being read, initialize and ping for example, so it
	// should not keep those. A panic is an internal error.
	Middleware []func(next RequestHandler) RequestHandler

	// StateKeys encrypt what is kept by modern clients between the rounds of a request, when a handler asks them something
	// (see [AskAll]): 32 random bytes each. The first one encrypts, all decrypt, so that a key can be replaced by putting
	// another in front of it, and taking it away when StateTTL is over. All processes that serve the same clients need the
	// same keys, and one key is good for four billion rounds. Nil means a random key: a client whose next round comes to
	// another process, or after a restart, has to begin anew.
	StateKeys [][]byte

	// StateTTL is how long a client may take for a round. Zero means 15 min: time for a person to fill in a form, or to
	// sign in somewhere, and not much more.
	StateTTL time.Duration

	// Tasks configure tasks, which the server offers if this is not nil or a tool makes some, see [AddTaskTool].
	Tasks *TaskOptions

	// NameTargets has telemetry name the tools and prompts that handlers of [Server.Implement] are asked for, as many as
	// its limits allow, whether they exist or not. Otherwise those names, which any client may make up, are "_OTHER" in
	// metrics, and not in the names of spans.
	NameTargets bool

	// Telemetry is where spans, metrics and log records go. Nil means [telemetry.New] without options: the global
	// OpenTelemetry providers and no log. [telemetry.Off] observes nothing.
	Telemetry *telemetry.Telemetry
}

// config is Options with every default filled in, checked.
type config struct {
	Options
	versions []mcp.Version // newest first
	modern   []mcp.Version // those of the modern era
	legacy   []mcp.Version // the others
	sealer   *sealer       // of what modern clients keep
	rates    rates
}

func newConfig(o *Options, name string) (config, error) {
	var c config
	if o != nil {
		c.Options = *o
	}
	c.Name = cmp.Or(c.Name, name)
	c.InstanceID = cmp.Or(c.InstanceID, instrument.NewInstanceID())
	c.MaxConcurrent = cmp.Or(c.MaxConcurrent, 64)
	c.MaxQueued = max(0, cmp.Or(c.MaxQueued, 1024))
	c.DrainTimeout = max(0, cmp.Or(c.DrainTimeout, time.Second))
	c.FrameLimit = cmp.Or(c.FrameLimit, DefaultFrameLimit)
	c.PageSize = cmp.Or(c.PageSize, 1000)
	c.LogLevel = cmp.Or(c.LogLevel, mcp.LevelInfo)
	c.StateTTL = cmp.Or(c.StateTTL, defaultStateTTL)
	if c.Telemetry == nil {
		c.Telemetry = telemetry.New()
	}
	for field, v := range map[string]int64{
		"MaxConcurrent": int64(c.MaxConcurrent), "MaxTotal": int64(c.MaxTotal), "RequestTimeout": int64(c.RequestTimeout),
		"FrameLimit": int64(c.FrameLimit),
		"PageSize":   int64(c.PageSize), "CacheTTL": int64(c.CacheTTL), "KeepAlive": int64(c.KeepAlive),
		"StateTTL": int64(c.StateTTL),
	} {
		if v < 0 {
			return c, fmt.Errorf("options: %s is negative", field)
		}
	}
	if c.CacheScope != "" && c.CacheScope != mcp.CachePublic && c.CacheScope != mcp.CachePrivate {
		return c, fmt.Errorf("options: CacheScope %q is neither %q nor %q", c.CacheScope, mcp.CachePublic, mcp.CachePrivate)
	}
	if !c.LogLevel.Defined() {
		return c, fmt.Errorf("options: LogLevel %q is none of the protocol's", c.LogLevel)
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

// nullID reports whether an error for what has no id has the id null before a revision is agreed on: as JSON-RPC has
// it, until 2025-06-18. The schemas of later revisions have no null, and leave the id out.
// (specification 2025-11-25, basic/index, "Error Responses")
func (c *config) nullID() bool {
	return len(c.modern) == 0 && !slices.Contains(c.legacy, mcp.Version20251125)
}

// cacheHint is what goes into every result for a principal, empty for none, that a modern client may keep.
// (specification 2026-07-28, server/utilities/caching)
func (c *config) cacheHint(principal string) mcp.CacheHint {
	scope := c.CacheScope
	switch {
	case scope != "":
	case principal != "":
		scope = mcp.CachePrivate
	default:
		scope = mcp.CachePublic
	}
	return mcp.CacheHint{TTLMs: new(c.CacheTTL.Milliseconds()), CacheScope: scope}
}
