package mcpclient

import (
	"context"
	"reflect"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// keeping is the cache state of a call.
type keeping struct {
	key     string // cache key of the result; empty if the result must not be cached
	uri     string // URI of the resource; set only with key
	version uint32 // version of the cache at the time of the request; set only with key
	frame   int    // bytes of the answer's frame
}

// cachedCall makes a call that the cache may answer: a list or resources/read. If the cache has a fresh result, the
// client sends nothing, and all callers share the items of the result. If two concurrent calls find no result, both ask
// the server.
func (c *Client) cachedCall(ctx context.Context, method string, params any, result hinted, o ...CallOption) error {
	return c.Call(ctx, method, params, result, append(o[:len(o):len(o)], cacheable)...)
}

// hinted is a pointer to a result type that declares how long the result is fresh.
type hinted interface{ Hint() *mcp.CacheHint }

func cacheable(a *asked) { a.cacheable, a.ifSent = true, true }

// fromCache is the layer that answers a call from the cache, and caches results. If an error of the server contradicts
// cached lists, fromCache removes these lists.
func fromCache(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		if cl.recall() {
			return nil
		}
		cl.c.subscriptions.asks(cl.Method)
		err := next(ctx, cl)
		switch {
		case err == nil:
			if r, ok := cl.result.(*mcp.ListToolsResult); ok {
				cl.c.tools.check(r)
			}
			cl.keep()
		case err.Server != nil:
			cl.c.cache.doubt(cl.Method, err.Server)
		}
		return err
	}
}

// recall sets the result of cl from the cache and reports whether the cache had one. If the answer to cl may be cached,
// recall sets the cache key of cl.
func (cl *call) recall() bool {
	c := cl.c
	if !cl.asked.cacheable || c.cache == nil || cl.again() {
		return false
	}
	s := c.core.Present()
	if s != conn.NoSession && !hintsAtFreshness(s) {
		return false
	}
	if !cl.identify() || cl.asked.refresh || s == conn.NoSession {
		return false
	}
	now := time.Now()
	k := c.cache.find(s, cl.keeping.key, now)
	c.core.Telemetry.CacheLookup(cl.Method, k != nil)
	if k == nil {
		return false
	}
	if cl.asked.received != nil {
		cl.asked.received.Add(int64(k.frame))
	}
	if cl.asked.found != nil {
		*cl.asked.found = true
	}
	reflect.ValueOf(cl.result).Elem().Set(reflect.ValueOf(shared(k.result)).Elem())
	left := k.until.Sub(now).Milliseconds()
	cl.result.(hinted).Hint().TTLMs = &left
	return true
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

// beginKeeping records the version of the cache before the request. It clears the cache key if the answer must not be
// cached: a result that depends on user input must not answer another request.
func (cl *call) beginKeeping(s *conn.Session) {
	switch {
	case cl.keeping.key == "":
	case cl.input.rounds > 0 || !hintsAtFreshness(s):
		cl.keeping.key = ""
	default:
		cl.keeping.version = cl.c.cache.version(s, cl.Method)
	}
}
