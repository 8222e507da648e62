package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// call is a request to the server. It implements the handler of its rpc.Call.
type call struct {
	rpc.Call
	x         *exchange
	info      RequestInfo
	method    *method // nil for an unknown method
	target    string  // name of the tool or prompt: the registered name, or the name in the request
	uri       string  // URI of the resource
	params    json.RawMessage
	arguments json.RawMessage
	task      json.RawMessage // params of a task of 2025-11-25; nil without a task

	asked    toolRequest // request that the handler of a tool gets
	progress *progress   // nil if the client wants no progress
	rounds   rounds      // rounds in which handlers ask the client

	logLevel mcp.LoggingLevel           // level that a modern client requested; empty for no log messages
	logger   atomic.Pointer[callLogger] // nil before the first log message
}

// of makes c the handler of a request of x, and returns the rpc.Call of c.
func (c *call) of(x *exchange) *rpc.Call {
	c.x, c.Handler = x, c
	return &c.Call
}

// Begin determines the revision and the method of the request. If the request is invalid, Begin sets c.Refused.
func (c *call) Begin(method string, raw json.RawMessage, p jsonrpc.Params) {
	c.params, c.arguments, c.task = raw, p.Arguments, p.Task
	c.info = RequestInfo{Method: method, ID: c.ID, Meta: p.Meta, call: c}
	c.info.Version, c.info.from, c.Refused = c.x.revision(method, &p)
	c.method, _ = c.x.s.methods.lookup(method)
	if c.Refused == nil {
		c.Refused = c.check(&p)
	}
	known := false
	if c.method != nil {
		c.Inline = c.method.inline
		c.target, known = c.method.targetOf(&p, raw)
		if c.method.byURI {
			c.uri = rpc.Text(p.URI)
		}
		if c.x.Reader != nil && c.method.pace != nil {
			c.Pace = c.method.pace(c.target)
		}
	}
	var in instrument.Incoming
	if c.x.Peer.Tel != nil {
		in = c.x.incoming(&c.Call, &p, c.method, c.target, c.uri)
		in.TargetKnown = known
		in.ClientName, in.ClientVersion = c.x.introduced(method, c.info.from, raw)
	}
	c.Start(&in)
	c.Op.Arguments(c.arguments)
	c.arrive(&p)
}

// revision returns the revision of a request, and the client as the request or the session describes it. initialize
// always belongs to the legacy era, whatever its _meta contains, unless the HTTP headers name a modern revision.
func (x *exchange) revision(method string, p *jsonrpc.Params) (mcp.Version, client, error) {
	switch {
	case x.headers != nil:
		return x.headerTerms(method, p)
	case len(x.s.cfg.modern) > 0 && method != mcp.MethodInitialize && p.Modern():
		return x.s.modernTerms(p)
	}
	return x.legacyTerms(method)
}

// check returns an error if the request cannot be handled in its revision.
func (c *call) check(p *jsonrpc.Params) error {
	if c.method == nil {
		return refusal(mcp.CodeMethodNotFound, "unknown method %q", c.info.Method)
	}
	if v := c.info.Version; v != "" && !c.method.in(v) {
		return refusal(mcp.CodeMethodNotFound, "unknown method %q in revision %s", c.info.Method, v)
	}
	if c.info.from.agreed == nil && c.Out.Reach().Batched {
		return invalidRequest("revision %s has no batches", c.info.Version)
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
		return invalidParams("params._meta.progressToken is no string and no integer")
	}
	c.progress = newProgress(token)
	return nil
}

// incoming describes a request for telemetry. m is its method, nil if the method is unknown.
func (x *exchange) incoming(c *rpc.Call, p *jsonrpc.Params, m *method, target, uri string) instrument.Incoming {
	name, v := c.Handler.About()
	in := instrument.Incoming{
		Method: name, Target: target, Known: m != nil, URI: uri, Size: c.Size,
		Peer: x.Peer.Seen(v), Untrusted: x.Peer.Untrusted,
	}
	in.ID, _ = c.ID.Text()
	in.IntID, in.HasIntID = c.ID.Int()
	if m != nil {
		in.TargetKind = m.kind
	}
	x.tellHTTP(&in)
	rpc.DescribeTrace(&in, p)
	return in
}

// introduced returns the client's name and version, empty if they are unknown.
func (x *exchange) introduced(method string, from client, params json.RawMessage) (name, version string) {
	switch {
	case from.agreed != nil:
		return from.agreed.client.Name, from.agreed.client.Version
	case method == mcp.MethodInitialize:
		from.info, _ = mcp.Object(params).Lookup("clientInfo")
	}
	return x.s.introductions.Read(from.info)
}

// tellHTTP adds the remote address and the headers of the HTTP request, if there is one.
func (x *exchange) tellHTTP(in *instrument.Incoming) {
	if r := x.httpRequest; r != nil {
		in.RemoteAddr, in.Header = r.RemoteAddr, r.Header
	}
}

// targetOf returns the name of the tool or prompt in a request, and reports whether the name is registered.
func (m *method) targetOf(p *jsonrpc.Params, params json.RawMessage) (name string, known bool) {
	if m.find == nil {
		return "", false
	}
	raw := p.Name
	if m.name == mcp.MethodComplete {
		raw = jsonrpc.CompletedPrompt(params)
	}
	return m.named(raw)
}

// named returns the name in raw, a JSON value, and reports whether it is registered. The name is empty if raw is not a
// string.
func (m *method) named(raw []byte) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	if end, escaped, err := jsonscan.String(raw, 0); err == nil && !escaped && end == len(raw) {
		if name, ok := m.find(raw[1 : end-1]); ok {
			return name, true
		}
	}
	name, _ := jsonrpc.Text(raw)
	if registered, ok := m.find([]byte(name)); ok {
		return registered, true
	}
	return name, false
}

// Handle calls the handler of the method through the middleware, if there is any.
func (c *call) Handle(ctx context.Context) (result any, err error) {
	if limit := c.x.s.cfg.RequestTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w within %v", errTimeLimit, limit))
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
	c.Ended = interruption(ctx, result, err)
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
	if raw, ok := result.(json.RawMessage); ok && err == nil {
		result = verbatim{of: c.method, raw: raw}
	}
	if c.info.Method == mcp.MethodInitialize {
		if v := c.x.Version(); v != "" { // the version in the answer
			c.Op.Meet(c.x.Peer.Seen(v))
		}
	}
	return c.x.outcomeOf(&c.Call, result, err, lost)
}

func (c *call) Left(why error) instrument.Result { return outcomeWithout(why) }

func (c *call) About() (string, mcp.Version) { return c.info.Method, c.info.Version }

func (c *call) Value() any { return &c.info }

// outcomeOf describes the end of a request for telemetry, and counts a refused request.
func (x *exchange) outcomeOf(c *rpc.Call, result any, err, lost error) instrument.Result {
	if c.Refused != nil {
		x.countRefusal(c.Refused)
	}
	end := outcome(result, err)
	end.Told = err == rpc.ErrPanicked
	switch {
	case c.Ended != nil:
		end = interrupted(end, c.Ended)
	case err != nil:
		end = interrupted(end, err)
	case lost != nil:
		end = instrument.Result{ErrorType: names.ErrorConnectionLost, Err: lost}
	}
	return end
}

// outcomeWithout describes the end of a request that gets no answer because of why.
func outcomeWithout(why error) instrument.Result {
	return interrupted(instrument.Result{ErrorType: names.ErrorCancelled, Err: why, CallerLeft: true}, why)
}
