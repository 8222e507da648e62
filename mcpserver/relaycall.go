package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
)

// relayedCall is a request that a receiver answers.
type relayedCall struct {
	call  *call
	hello *agreement // what initialize says; nil for any other request
	over  atomic.Bool
}

// relayedMethods are those of the protocol, for what telemetry says of their requests.
var relayedMethods = func() map[string]*method {
	known := map[string]*method{}
	for m := range mcp.Methods() {
		if m.Kind != mcp.KindRequest || m.Sender&mcp.FromClient == 0 {
			continue
		}
		as := &method{name: m.Name, byURI: m.Target == mcp.TargetResource}
		switch m.Target {
		case mcp.TargetTool:
			as.kind, as.find = instrument.Tool, anyName
		case mcp.TargetPrompt:
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
	early := agreed == nil && !modern(p)
	if early && c.info.Method == mcp.MethodPing {
		c.method = earlyPing
		return
	}
	c.relayed, c.info.Meta = &relayedCall{call: c}, nil
	if c.method = relayedMethods[c.info.Method]; c.method == nil {
		c.method = anyMethod
	}
	switch {
	case c.info.Method == mcp.MethodInitialize:
		c.relayed.hello = c.x.s.greeting(c.params)
	case modern(p):
		c.info.Version, _ = c.x.s.speaks(mcp.Version(text(p.ProtocolVersion)))
		c.info.from.info = p.ClientInfo
	case agreed != nil:
		c.info.Version, c.info.from.agreed = agreed.version, agreed
	}
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
	if c.refused = c.x.calls.admit(c); c.refused != nil {
		r.conclude(nil, c.refused)
		return
	}
	usercode.Run(func() { c.x.s.receiver.ReceiveRequest(c.ctx, m, c.x.conn.front, r.answered) },
		func(f *usercode.Failure) {
			c.x.failed(c.ctx, m.Method)(f)
			r.answered(nil, errInternal)
		})
}

// answered is the [relay.Answer] to the request. Of several answers, the first one counts.
func (r *relayedCall) answered(result json.RawMessage, err error) {
	if !r.over.Swap(true) {
		defer r.call.x.calls.release()
		r.conclude(result, err)
	}
}

// giveUp ends the request without an answer, unless there is one.
func (r *relayedCall) giveUp(why error) {
	if !r.over.Swap(true) {
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
			conn.withdraw(within{c.x.life, context.WithoutCancel(c.ctx)}, c.out, c.info.Version, &c.op, nil,
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
	v := verbatim{of: c.method, raw: result}
	if p, ok := c.out.(pipe); ok && len(result) > maxKept {
		_, v.apart = p.conn.(apart)
	}
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
	if err != nil && !ofPeer {
		return appendError(dst, id, wireError(err))
	}
	dst = id.AppendJSON(append(dst, `{"jsonrpc":"2.0","id":`...))
	switch {
	case ofPeer:
		dst = append(append(dst, `,"error":`...), passed.Object...)
	case v.apart:
		return append(dst, `,"result":`...)
	default:
		dst = append(append(dst, `,"result":`...), v.raw...)
	}
	return append(dst, '}')
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
	usercode.Run(func() {
		x.s.receiver.ReceiveNotification(ctx, relay.Message{Method: m.Method, Params: oneLine(m.Middle())}, x.conn.front)
		op.End(instrument.Result{})
	}, x.failed(ctx, m.Method))
}

// oneLine returns raw, valid JSON, without line breaks.
func oneLine(raw []byte) json.RawMessage {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	return jsonscan.AppendOneLine(nil, raw)
}
