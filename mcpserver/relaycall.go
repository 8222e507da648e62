package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/mailbox"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// relayedCall is a request that a receiver answers.
type relayedCall struct {
	call  *call
	hello *agreement // what initialize says; nil for any other request
	over  atomic.Bool
	box   mailbox.Box // messages for a modern client over HTTP, which shares its receiver with others

	mu    sync.Mutex
	ended func() // guarded by mu; tells telemetry that a subscription is over; nil before it is acknowledged
}

// relayedMethods are those of the protocol, for what telemetry says of their requests.
var relayedMethods = func() map[string]*method {
	known := map[string]*method{}
	for m := range mcp.Methods() {
		if m.Kind != mcp.KindRequest || m.Sender&mcp.FromClient == 0 {
			continue
		}
		as := &method{name: m.Name, rows: rowsOf(m.Name), byURI: m.Target == mcp.TargetResource}
		switch m.Target {
		case mcp.TargetTool:
			as.kind, as.find = instrument.Tool, anyName
		case mcp.TargetPrompt:
			as.kind, as.find = instrument.Prompt, anyName
		}
		if m.Name == mcp.MethodComplete {
			as.kind, as.find = instrument.Prompt, anyName
		}
		known[m.Name] = as
	}
	return known
}()

// anyName takes every name for that of something: the server behind knows. Metrics tell only so many apart.
func anyName(name []byte) (string, bool) { return string(name), true }

var (
	// anyMethod is a method of which the protocol knows nothing.
	anyMethod = new(method)
	// earlyPing is ping before there is a session, which can be answered without one.
	earlyPing = &method{name: mcp.MethodPing, handle: ping, inline: true, own: true}
)

// readRelayed finds out what telemetry is to say of a request, which nothing else depends on.
func (c *call) readRelayed(p *jsonrpc.Params) {
	agreed := c.x.terms.agreed.Load()
	if c.info.Method == mcp.MethodPing && agreed == nil && c.x.headers == nil && !modern(p) {
		c.method = earlyPing
		return
	}
	c.relayed, c.info.Meta = &relayedCall{call: c}, nil
	if c.method = relayedMethods[c.info.Method]; c.method == nil {
		c.method = anyMethod
	}
	switch {
	case c.x.headers != nil:
		c.refused = c.readHeaders(p)
	case c.info.Method == mcp.MethodInitialize:
		c.relayed.hello = c.x.s.greeting(c.params)
	case modern(p):
		c.info.Version, _ = c.x.s.speaks(p.ProtocolVersion)
		c.info.from.info = p.ClientInfo
	case agreed != nil:
		c.info.Version, c.info.from.agreed = agreed.version, agreed
	}
}

// readHeaders finds out what the headers of a modern request over HTTP say, and holds them against its body. A revision
// that is not known here is one for the server behind the receiver.
func (c *call) readHeaders(p *jsonrpc.Params) (err error) {
	h := c.x.headers
	c.info.from.info = p.ClientInfo
	if c.info.Version, _, err = h.terms(c.x.s, c.info.Method, p); wireError(err).Code == mcp.CodeUnsupportedVersion {
		c.info.Version, err = "", h.mirrors(headerMethod, c.info.Method)
	}
	return cmp.Or(err, h.checkName(c, p))
}

// greeting returns what the params of initialize say of the client, as far as that can be read.
func (s *Server) greeting(params json.RawMessage) *agreement {
	p, weight, err := introduction(params)
	if err == nil {
		return &agreement{client: p.ClientInfo, capabilities: p.Capabilities, weight: weight}
	}
	a := new(agreement)
	if info, ok := mcp.Object(params).Lookup("clientInfo"); ok && len(info) <= maxIntroduction {
		a.client.Name, a.client.Version = s.introductions.read(info)
		a.weight = len(info)
	}
	return a
}

// handOn hands the request to the receiver. The frame is not kept.
func (r *relayedCall) handOn() {
	c := r.call
	m := relay.Message{ID: c.info.ID.AppendJSON(nil), Method: c.info.Method, Params: oneLine(c.params)}
	c.params, c.arguments, c.task, c.info.from.info, c.here = nil, nil, nil, nil, true
	if m.Header, c.refused = c.x.headers.params(); c.refused == nil {
		c.refused = c.x.calls.admit(c)
	}
	if c.refused != nil {
		r.conclude(nil, c.refused)
		return
	}
	err := c.x.front.receive(c.ctx, func() {
		usercode.Run(func() { c.x.s.receiver.ReceiveRequest(c.ctx, m, c.x.front, r.answered) },
			func(f *usercode.Failure) {
				c.x.failed(c.ctx, m.Method)(f)
				r.answered(nil, errPanicked)
			})
	})
	if err != nil {
		r.answered(nil, err)
	}
}

// receive lets the receiver take a message. Those of a session come one after the other, also where HTTP requests bring
// them at the same time; the error is the cause of ctx, which ends the wait for that.
func (f *front) receive(ctx context.Context, take func()) error {
	if f.conn != nil {
		if err := f.turn.LockContext(ctx); err != nil {
			return err
		}
		defer f.turn.Unlock()
	}
	take()
	return nil
}

// acknowledged says that the client has been told of its subscription. As in any server, what was asked for is done
// with that, and so is the operation: no span lasts as long as a stream.
func (r *relayedCall) acknowledged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil && !r.over.Load() {
		r.call.op.Sending()
		r.call.op.End(instrument.Result{})
		r.ended = r.call.x.tel.StreamOpened(names.StreamListen)
	}
}

// close ends the request, and reports false if it has ended before.
func (r *relayedCall) close() bool {
	if r.over.Swap(true) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		r.ended()
	}
	return true
}

// answered is the [relay.Answer] to the request. Of several answers, the first one counts.
func (r *relayedCall) answered(result json.RawMessage, err error) {
	if !r.close() {
		return
	}
	conclude := func() {
		defer r.call.x.calls.release()
		r.conclude(result, err)
	}
	size := len(result)
	if passed, ok := errors.AsType[*relay.Error](err); ok {
		size = len(passed.Object)
	}
	if !r.call.x.front.post(r.call, size, 0, conclude) {
		result, err = nil, errUnread
		r.box.Put(0, 0, conclude)
	}
}

// giveUp ends the request without an answer, unless there is one.
func (r *relayedCall) giveUp(why error) {
	if r.close() {
		defer r.call.x.calls.release()
		r.call.x.calls.finish(r.call)
		r.call.leave(why)
	}
}

// conclude answers the request, unless the client has cancelled it.
func (r *relayedCall) conclude(result json.RawMessage, err error) {
	c := r.call
	if cancelled := c.x.calls.finish(c); cancelled != nil {
		c.leave(cancelled)
		return
	}
	if none, ok := errors.AsType[*relay.Cancelled](err); ok {
		if conn := c.x.conn; conn != nil {
			conn.withdraw(within.Values(c.x.life, c.ctx), c.out, c.info.Version, &c.op, nil,
				mcp.CancelledParams{RequestID: c.info.ID, Reason: none.Reason})
		}
		c.leave(err)
		return
	}
	if _, coded := errors.AsType[*mcp.Error](err); err != nil && !coded {
		err = &failure{&mcp.Error{Code: mcp.CodeInternalError, Message: err.Error()}, err}
	}
	if r.hello != nil && err == nil {
		c.x.conn.adopt(r.hello, result)
	}
	c.ended = interruption(c.ctx, nil, err)
	v := verbatim{of: c.method, raw: result, apart: len(result) > maxKept}
	buf := takeBuffer()
	c.reply(buf, v.appendAnswer((*buf)[:0], c.info.ID, err), v, err)
}

// verbatim is the result of a request by a method, as a peer wrote it.
type verbatim struct {
	of    *method
	raw   json.RawMessage
	apart bool // it is no part of the frame that leads to it
}

// appendAnswer appends the frame of the answer, with err unless that is nil.
func (v verbatim) appendAnswer(dst []byte, id jsonrpc.ID, err error) []byte {
	passed, ofPeer := errors.AsType[*relay.Error](err)
	switch {
	case ofPeer:
		return jsonrpc.AppendAnswer(dst, id, "error", passed.Object)
	case err != nil:
		return appendError(dst, id, wireError(err))
	case v.apart:
		return append(id.AppendJSON(append(dst, `{"jsonrpc":"2.0","id":`...)), `,"result":`...)
	}
	return jsonrpc.AppendAnswer(dst, id, "result", v.raw)
}

// maxSkimmed is how much of a large result is read for what it says of itself: its beginning, and its last member.
const maxSkimmed = 64 << 10

// outcome returns what telemetry says of the result.
func (v verbatim) outcome() (r instrument.Result) {
	o := jsonscan.ObjectAt(v.raw[:min(len(v.raw), maxSkimmed)], 0)
	for o.Next() {
		switch string(o.Key()) {
		case "isError":
			r.ToolError = v.of.kind == instrument.Tool && string(o.Raw()) == "true"
		case "resultType":
			r.ResultType, _ = jsonrpc.Text(o.Raw())
		}
	}
	if v.of.kind == instrument.Tool && bytes.HasSuffix(v.raw, []byte(`,"isError":true}`)) {
		r.ToolError = true
	}
	return r
}

// adopt makes what the client has said, and what it has been answered, the terms of the session.
func (c *connection) adopt(a *agreement, answer json.RawMessage) {
	raw, _ := mcp.Object(answer).Lookup("protocolVersion")
	if v := mcp.Version(text(raw)); slices.Contains(c.s.cfg.versions, v) {
		a.version = v
	}
	if !c.introduce(a.weight) {
		a = &agreement{version: a.version}
	}
	if c.public.begin(a) {
		c.public.open()
	}
	c.terms.agreed.Store(a)
}

// handOnNotification hands a notification to the receiver.
func (x *exchange) handOnNotification(m *jsonrpc.Message) {
	in := x.arrived(m)
	in.Known = false
	ctx, op := x.tel.StartHandler(x.work, in)
	defer op.End(brokenOff)
	err := x.front.receive(ctx, func() {
		usercode.Run(func() {
			x.s.receiver.ReceiveNotification(ctx, relay.Message{Method: m.Method, Params: oneLine(m.Middle())}, x.front)
		}, x.failed(ctx, m.Method))
	})
	op.End(instrument.Result{Err: err})
}

// oneLine returns raw, valid JSON, without line breaks.
func oneLine(raw []byte) json.RawMessage {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	return jsonscan.AppendOneLine(nil, raw)
}
