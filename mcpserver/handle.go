package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// call is a request to the server. It is also the Handler of the rpc.Call in it.
type call struct {
	rpc.Call
	x         *exchange
	info      RequestInfo
	method    *method // nil for an unknown method
	target    string  // name of the tool or prompt: as registered, or as in the request if none is registered
	uri       string  // URI of the resource
	params    json.RawMessage
	arguments json.RawMessage
	task      json.RawMessage // params of a task of 2025-11-25; nil without a task

	asked    toolRequest // argument of a tool's handler
	progress *progress   // nil if the client wants no progress
	rounds   rounds      // rounds in which handlers ask the client

	logLevel mcp.LoggingLevel           // level that a modern client requested; empty for no log messages
	logger   atomic.Pointer[callLogger] // nil before the first log message
}

// of initializes c as the handler of a request of x, and returns the rpc.Call of c.
func (c *call) of(x *exchange) *rpc.Call {
	c.x, c.Handler = x, c
	return &c.Call
}

// Begin determines the revision and the method of the request. If the request is invalid, Begin sets c.Refused.
func (c *call) Begin(method string, raw json.RawMessage, p jsonrpc.Params) {
	c.params, c.arguments, c.task = raw, p.Arguments, p.Task
	c.info = RequestInfo{Method: method, ID: mcp.RequestID(c.ID), Meta: p.Meta, call: c}
	c.info.Version, c.info.from, c.Refused = c.x.revision(method, &p)
	c.method, _ = c.x.s.methods.lookup(method)
	if c.Refused == nil {
		c.Refused = c.check(&p)
	}
	known := false
	if c.method != nil {
		c.Inline = c.method.inline
		c.target, known = c.method.TargetOf(&p, raw)
		if c.method.ByURI {
			c.uri = rpc.Text(p.URI)
		}
		if c.x.Reader != nil && c.method.pace != nil {
			c.Pace = c.method.pace(c.target)
		}
	}
	var in instrument.Incoming
	if c.x.Peer.Tel != nil {
		in = c.x.Incoming(&c.Call, &p, c.method.about(), c.target, c.uri)
		in.TargetKnown, in.Params = known, raw
		in.ClientName, in.ClientVersion = c.x.Introduced(method, c.info.from, raw)
	}
	c.Start(&in)
	c.Op.Arguments(c.arguments)
	c.arrive(&p)
}

// revision returns the revision of a request and a description of its client, from the request or from the session.
// initialize always belongs to the legacy era, regardless of its _meta, unless the HTTP headers name a modern
// revision.
func (x *exchange) revision(method string, p *jsonrpc.Params) (mcp.Version, engine.Sender, error) {
	switch {
	case x.Headers != nil:
		return x.HeaderTerms(method, p)
	case len(x.s.cfg.modern) > 0 && method != mcp.MethodInitialize && p.Modern():
		return x.s.engine.ModernTerms(p)
	}
	return x.legacyTerms(method)
}

// check returns an error if the request cannot be handled in its revision.
func (c *call) check(p *jsonrpc.Params) error {
	if c.method == nil {
		return rpc.Refusal(mcp.CodeMethodNotFound, "unknown method %q", c.info.Method)
	}
	if v := c.info.Version; v != "" && !c.method.In(v) {
		return rpc.Refusal(mcp.CodeMethodNotFound, "unknown method %q in revision %s", c.info.Method, v)
	}
	if c.info.from.Agreed == nil && c.Out.Reach().Batched {
		return rpc.InvalidRequest("revision %s does not allow batches", c.info.Version)
	}
	if !c.x.allows(c.method.rate) {
		return rpc.ErrTooOften
	}
	if err := c.checkHeaders(p); err != nil {
		return err
	}
	if err := c.readLogLevel(p); err != nil {
		return err
	}
	if p.ProgressToken == nil {
		return nil
	}
	token, ok := jsonrpc.ParseID(p.ProgressToken)
	if !ok {
		return rpc.InvalidParams("params._meta.progressToken is neither a string nor an integer")
	}
	c.progress = newProgress(token)
	return nil
}

// Handle calls the handler of the method. Middleware wraps the call, if there is any.
func (c *call) Handle(ctx context.Context) (result any, err error) {
	if limit := c.x.s.cfg.RequestTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: not finished within %v", rpc.ErrTimeLimit, limit))
		defer cancel()
	}
	if !c.method.own {
		if err := c.resume(); err != nil {
			return nil, err
		}
	}
	if c.x.s.middleware != nil {
		result, err = c.throughMiddleware(ctx)
	} else {
		result, err = c.handleRounds(ctx)
	}
	if !c.Deferred { // a deferred call, a subscription, may already have ended in another goroutine
		c.Ended = engine.Interruption(ctx, failed(result, err))
	}
	if err != nil {
		return nil, rpc.CauseOf(ctx, err)
	}
	return result, nil
}

// Close ends the progress notifications and log messages of the request.
func (c *call) Close(error) {
	c.progress.end()
	c.stopLogging()
}

func (c *call) Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error) {
	frame, wrong = c.x.s.appendAnswer(dst, &c.info, result, err)
	return frame, nil, wrong
}

func (c *call) Outcome(result any, err, lost error) instrument.Result {
	if c.info.Method == mcp.MethodInitialize {
		if v := c.x.Version(); v != "" { // v is the revision in the answer
			c.Op.Meet(c.x.Peer.Seen(v))
		}
	}
	if raw, ok := result.(json.RawMessage); ok && err == nil {
		return c.x.Exchange.Outcome(&c.Call, c.method.Outcome(raw), nil, lost)
	}
	return c.x.Exchange.Outcome(&c.Call, outcome(result, err), err, lost)
}

func (c *call) Left(why error) instrument.Result { return engine.WithoutAnswer(why) }

func (c *call) About() (string, mcp.Version) { return c.info.Method, c.info.Version }

func (c *call) Value() any { return &c.info }

// failed reports whether the answer to a request is an error or a tool result with isError.
func failed(result any, err error) bool {
	r, _ := result.(*mcp.CallToolResult)
	return err != nil || r != nil && r.IsError
}

// checkHeaders returns an error if a header that mirrors a part of the params differs from that part.
func (c *call) checkHeaders(p *jsonrpc.Params) error {
	h := c.x.Headers
	if h == nil {
		return nil
	}
	if err := h.CheckName(c.method.Target(c.info.Version), p, c.params); err != nil {
		return err
	}
	if c.method.Name != mcp.MethodCallTool {
		return nil
	}
	name, _ := c.method.Named(p.Name)
	if t, ok := c.x.s.tools.lookup(name); ok && len(t.mirrored) > 0 {
		return h.CheckArguments(t.mirrored, p.Arguments)
	}
	return nil
}
