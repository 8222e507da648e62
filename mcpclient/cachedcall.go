package mcpclient

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// keeping is the cache state of a call.
type keeping struct {
	key     string // cache key of the result; empty if the result must not be cached
	uri     string // URI of the resource; set only with key
	version uint32 // version of the cache at the time of the request; set only with key
}

// cachedCall makes a call that the cache may answer: a list or resources/read. If the cache has a fresh result, the
// client sends nothing. If two concurrent calls find no result, both ask the server.
func (c *Client) cachedCall(ctx context.Context, method string, params any, result hinted, o ...CallOption) error {
	return c.Call(ctx, method, params, result, append(o[:len(o):len(o)], cacheable)...)
}

// hinted is a pointer to a result type that declares how long the result is fresh.
type hinted interface{ Hint() *mcp.CacheHint }

func cacheable(a *asked) { a.cacheable, a.ifSent = true, true }

// fromCache is the layer that answers a call from the cache. If an error of the server contradicts cached lists,
// fromCache removes them.
func fromCache(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		if hit, err := cl.recall(ctx); hit {
			return err
		}
		cl.c.subscriptions.asks(cl.Method)
		err := next(ctx, cl)
		if err != nil && err.Server != nil {
			cl.c.cache.doubt(cl.Method, err.Server)
		}
		return err
	}
}

// recall fills the result of cl from the cache and reports whether the cache had one. If the answer to cl may be
// cached, recall sets the cache key of cl.
func (cl *call) recall(ctx context.Context) (hit bool, _ *Error) {
	c := cl.c
	if !cl.asked.cacheable || c.cache == nil || cl.again() {
		return false, nil
	}
	s := c.core.Present()
	if s != conn.NoSession && !hintsAtFreshness(s) {
		return false, nil
	}
	if !cl.identify() || cl.asked.refresh || s == conn.NoSession {
		return false, nil
	}
	now := time.Now()
	k := c.cache.find(s, cl.keeping.key, now)
	c.core.Telemetry.CacheLookup(cl.Method, k != nil)
	if k == nil {
		return false, nil
	}
	if cl.asked.received != nil {
		cl.asked.received.Add(int64(len(k.raw)))
	}
	var err error
	c.core.Telemetry.Labelled(ctx, cl.Method, "", func(context.Context) { _, err = mcp.Decode(k.raw, cl.result) })
	if err != nil {
		c.cache.drop(cl.Method)
		return true, &Error{Kind: KindProtocol, Op: cl.Method, cause: err}
	}
	given.DropIcons(cl.result) // the client reported them when the result arrived
	left := k.until.Sub(now).Milliseconds()
	cl.result.(hinted).Hint().TTLMs = &left
	return true, nil
}

// hintsAtFreshness reports whether results of session s can declare how long they are fresh.
func hintsAtFreshness(s *conn.Session) bool { return s.Version.Era() == mcp.Modern }

// identify sets the cache key of cl, which contains everything that the result may depend on. It returns false if the
// result must not be cached.
func (cl *call) identify() bool {
	var err error
	b := append(append(cl.scratch[:0], cl.Method...), 0)
	begin := len(b)
	if b, err = mcp.AppendParams(b, cl.params); err != nil {
		return false // the request cannot be sent either
	}
	for o := jsonscan.ObjectAt(b, begin); o.Next(); {
		switch string(o.Key()) {
		case "uri":
			cl.keeping.uri, _ = jsonrpc.Text(o.Raw())
		case "inputResponses", "requestState": // the result must not be cached
			return false
		}
	}
	cl.scratch = append(append(b, 0), cl.asked.meta...)
	cl.keeping.key = string(cl.scratch)
	return true
}

// beginKeeping records the version of the cache before the request. If the answer must not be cached, it clears the
// cache key. A result that depends on user input must not answer another request.
func (cl *call) beginKeeping(s *conn.Session) {
	switch {
	case cl.keeping.key == "":
	case cl.input.rounds > 0 || !hintsAtFreshness(s):
		cl.keeping.key = ""
	default:
		cl.keeping.version = cl.c.cache.version(s, cl.Method)
	}
}
