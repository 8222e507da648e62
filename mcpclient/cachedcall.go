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

// keeping is what a call knows of the results that are kept.
type keeping struct {
	key     string // under which the result may be kept; empty if it must not be
	uri     string // of the resource that is read, if there is a key
	version uint32 // of the kept results when the request was made, if there is a key
}

// cachedCall is Call for methods whose results may be kept: lists and resources/read. A result that is kept and fresh
// is decoded anew; then nothing is sent. Two calls at once that both find nothing both ask the server.
func (c *Client) cachedCall(ctx context.Context, method string, params any, result hinted, o ...CallOption) error {
	return c.Call(ctx, method, params, result, append(o[:len(o):len(o)], cacheable)...)
}

// hinted is a result that says for how long it is fresh, a pointer to it.
type hinted interface{ Hint() *mcp.CacheHint }

func cacheable(a *asked) { a.cacheable, a.ifSent = true, true }

// fromCache is the layer that answers a call with a result that is kept and fresh, and doubts what is kept when the
// server does.
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

// recall fills result with one that is kept and reports whether there was one. If the answer to cl may be kept, cl has
// a key afterwards.
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
	given.DropIcons(cl.result) // which was told of when it came
	left := k.until.Sub(now).Milliseconds()
	cl.result.(hinted).Hint().TTLMs = &left
	return true, nil
}

// hintsAtFreshness reports whether results in a session say how long they are fresh.
func hintsAtFreshness(s *conn.Session) bool { return s.Version.Era() == mcp.Modern }

// identify gives cl the key under which its result can be kept: all that the result may depend on. It reports false if
// there is none.
func (cl *call) identify() bool {
	var err error
	b := append(append(cl.scratch[:0], cl.Method...), 0)
	begin := len(b)
	if b, err = mcp.AppendParams(b, cl.params); err != nil {
		return false // so the request cannot be sent either
	}
	for o := jsonscan.ObjectAt(b, begin); o.Next(); {
		switch string(o.Key()) {
		case "uri":
			cl.keeping.uri, _ = jsonrpc.Text(o.Raw())
		case "inputResponses", "requestState": // such a result must not be kept
			return false
		}
	}
	cl.scratch = append(append(b, 0), cl.asked.meta...)
	cl.keeping.key = string(cl.scratch)
	return true
}

// beginKeeping notes how old the answer to cl can be at most, or that it is not to be kept: a result that depends on
// input of the user's answers no other request.
func (cl *call) beginKeeping(s *conn.Session) {
	switch {
	case cl.keeping.key == "":
	case cl.input.rounds > 0 || !hintsAtFreshness(s):
		cl.keeping.key = ""
	default:
		cl.keeping.version = cl.c.cache.version(s, cl.Method)
	}
}
