package downstream

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
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// call is a request of a client that a receiver answers. It is also the Handler of its [rpc.Call].
type call struct {
	rpc.Call
	x       *exchange
	name    string // the method
	method  *engine.Method
	version mcp.Version       // revision of the answer, empty if it is unknown
	agreed  *engine.Agreement // terms of the client's session; nil for none
	said    json.RawMessage   // clientInfo of a modern client; nil if there is none
	target  string            // name of the tool or prompt
	uri     string            // URI of the resource
	params  json.RawMessage

	header map[string]string // Mcp-Param-… by name; nil for a request without headers

	hello *engine.Agreement // the introduction of the client, for initialize; nil for any other request
	over  atomic.Bool
	box   mailbox.Box // messages queued for a modern client over HTTP; all such clients share one receiver

	mu      sync.Mutex
	stopped func() // guarded by mu; reports the end of a subscription to telemetry; nil before its acknowledgement
}

// methods describes the methods of the protocol for telemetry.
var methods = func() map[string]*engine.Method {
	known := map[string]*engine.Method{}
	for m := range mcp.Methods() {
		if m.Kind != mcp.KindRequest || m.Sender&mcp.FromClient == 0 {
			continue
		}
		as := &engine.Method{Name: m.Name, Rows: engine.RowsOf(m.Name), ByURI: m.Target == mcp.TargetResource}
		switch m.Target {
		case mcp.TargetTool:
			as.Kind, as.Find = instrument.Tool, engine.AnyName
		case mcp.TargetPrompt:
			as.Kind, as.Find = instrument.Prompt, engine.AnyName
		}
		if m.Name == mcp.MethodComplete {
			as.Kind, as.Find = instrument.Prompt, engine.AnyName
		}
		known[m.Name] = as
	}
	return known
}()

var (
	// anyMethod stands for all methods outside the protocol.
	anyMethod = new(engine.Method)
	// earlyPing is a ping before the session opens. The relay answers it itself.
	earlyPing = &engine.Method{Name: mcp.MethodPing}
)

// of makes r the handler of a request of x, and returns the [rpc.Call] of r.
func (r *call) of(x *exchange) *rpc.Call {
	r.x, r.Handler = x, r
	return &r.Call
}

// Begin finds the method and the client for telemetry, and refuses a request whose headers contradict its body.
func (r *call) Begin(method string, raw json.RawMessage, p jsonrpc.Params) {
	r.name, r.params, r.agreed = method, raw, r.x.Terms.Agreed.Load()
	early := r.name == mcp.MethodPing && r.agreed == nil && r.x.Headers == nil && !p.Modern()
	if early {
		r.method, r.Inline = earlyPing, true
	} else {
		r.InOrder, r.Foreign = true, true
		r.identify(&p)
	}
	known := false
	r.target, known = r.method.TargetOf(&p, raw)
	if r.method.ByURI {
		r.uri = rpc.Text(p.URI)
	}
	var in instrument.Incoming
	if r.x.Peer.Tel != nil {
		in = r.x.Incoming(&r.Call, &p, r.method, r.target, r.uri)
		in.Known, in.TargetKnown, in.Params = early, known, raw
		in.ClientName, in.ClientVersion = r.x.Introduced(r.name, engine.Sender{Agreed: r.agreed, Info: r.said}, raw)
	}
	r.Start(&in)
}

// identify determines the method, the revision and the client of the request, as far as they are known.
func (r *call) identify(p *jsonrpc.Params) {
	if r.method = methods[r.name]; r.method == nil {
		r.method = anyMethod
	}
	agreed := r.agreed
	r.agreed = nil
	switch {
	case r.x.Headers != nil:
		r.Refused = r.readHeaders(p)
	case r.name == mcp.MethodInitialize:
		r.hello = greeting(r.x.Home, r.params)
	case p.Modern():
		r.version, _ = r.x.Home.Speaks(p.ProtocolVersion)
		r.said = p.ClientInfo
	case agreed != nil:
		r.version, r.agreed = agreed.Version, agreed
	}
}

// readHeaders reads the headers of a modern request over HTTP, and compares them with the body. If the relay does not
// support the revision, it compares only the method and the name; the server behind the receiver decides about the
// revision.
func (r *call) readHeaders(p *jsonrpc.Params) (err error) {
	h := r.x.Headers
	r.said = p.ClientInfo
	if r.version, _, err = r.x.HeaderTerms(r.name, p); rpc.WireError(err).Code == mcp.CodeUnsupportedVersion {
		r.version, err = "", h.CheckMethod(r.name)
	}
	if err = cmp.Or(err, h.CheckName(r.method.Target(r.version), p, r.params)); err == nil {
		r.header, err = h.Params()
	}
	return err
}

// greeting returns the client that the params of initialize describe. It ignores members that it cannot read.
func greeting(s *engine.Server, params json.RawMessage) *engine.Agreement {
	p, weight, err := introduction.Decode(params)
	if err == nil {
		return &engine.Agreement{Client: p.ClientInfo, Capabilities: p.Capabilities, Weight: weight}
	}
	a := new(engine.Agreement)
	if info, ok := mcp.Object(params).Lookup("clientInfo"); ok && len(info) <= introduction.MaxBytes {
		a.Client.Name, a.Client.Version = s.Introductions.Read(info)
		a.Weight = len(info)
	}
	return a
}

// Handle passes the request to the receiver. It drops its references to the frame.
func (r *call) Handle(ctx context.Context) (any, error) {
	if r.Inline {
		return verbatim{of: r.method, raw: json.RawMessage("{}")}, nil
	}
	m := relay.Message{ID: r.ID.AppendJSON(nil), Method: r.name, Params: oneLine(r.params), Header: r.header}
	r.params, r.said, r.header = nil, nil, nil
	r.Deferred = true
	r.x.Peer.Tel.Relays(ctx)
	err := r.x.front.receive(ctx, func() {
		usercode.Run(func() { r.x.front.receiver.ReceiveRequest(ctx, m, r.x.front, r.answered) },
			func(f *usercode.Failure) {
				r.x.Peer.Failed(ctx, m.Method)(f)
				r.answered(nil, rpc.ErrPanicked)
			})
	})
	if err != nil {
		r.answered(nil, err)
	}
	return nil, nil
}

// receive calls take, which passes a message to the receiver. The messages of a session are passed one at a time, even
// if HTTP requests carry them concurrently. If ctx ends during the wait, the error is the cause of ctx.
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

// acknowledged reports that the client has received the acknowledgement of its subscription. The operation ends here,
// as in any server, so that no span lasts as long as a stream.
func (r *call) acknowledged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped == nil && !r.over.Load() {
		r.Op.Sending()
		r.Op.End(instrument.Result{})
		r.stopped = r.x.Peer.Tel.StreamOpened(names.StreamListen)
	}
}

// close ends the request. It reports false if the request has already ended.
func (r *call) close() bool {
	if r.over.Swap(true) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		r.stopped()
	}
	return true
}

// answered implements [relay.Answer] for the request. It ignores every answer after the first.
func (r *call) answered(result json.RawMessage, err error) {
	if !r.close() {
		return
	}
	conclude := func() { r.finish(result, err) }
	size := len(result)
	if passed, ok := errors.AsType[*relay.Error](err); ok {
		size = len(passed.Object)
	}
	if !r.x.front.post(r, size, 0, conclude) {
		result, err = nil, relay.ErrUnread
		r.box.Put(0, 0, conclude)
	}
}

// abort ends the request without an answer, unless it has been answered.
func (r *call) abort(why error) {
	if r.close() {
		r.GiveUp(why, nil)
	}
}

// finish answers the request. If the server behind the receiver has cancelled the request, finish gives up the request
// instead.
func (r *call) finish(result json.RawMessage, err error) {
	if none, ok := errors.AsType[*relay.Cancelled](err); ok {
		r.GiveUp(err, func() {
			if r.x.Conn != nil {
				r.x.Withdraw(within.Values(r.x.Life, r.Context()), r.Out, r.version, &r.Op, nil,
					mcp.CancelledParams{RequestID: mcp.RequestID(r.ID), Reason: none.Reason})
			}
		})
		return
	}
	if _, coded := errors.AsType[*mcp.Error](err); err != nil && !coded {
		err = rpc.Fail(&mcp.Error{Code: mcp.CodeInternalError, Message: err.Error()}, err)
	}
	r.Ended = engine.Interruption(r.Context(), err != nil)
	r.Conclude(verbatim{of: r.method, raw: result, apart: len(result) > rpc.MaxKept}, err)
}

func (r *call) Close(error) {}

// Encode encodes the answer of the receiver. An answer to initialize also sets the terms of the session.
func (r *call) Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error) {
	v, _ := result.(verbatim)
	if r.hello != nil && err == nil {
		adopt(r.x.Conn, r.hello, v.raw)
	}
	if v.apart && err == nil {
		rest = v.raw
	}
	return v.appendAnswer(dst, r.ID, err), rest, err
}

func (r *call) Outcome(result any, err, lost error) instrument.Result {
	if r.name == mcp.MethodInitialize {
		if v := r.x.Version(); v != "" { // the version is in the answer
			r.Op.Meet(r.x.Peer.Seen(v))
		}
	}
	end := rpc.ResultOf(err)
	if v, ok := result.(verbatim); ok && err == nil {
		end = v.of.Outcome(v.raw)
	}
	return r.x.Exchange.Outcome(&r.Call, end, err, lost)
}

func (r *call) Left(why error) instrument.Result { return engine.WithoutAnswer(why) }

func (r *call) About() (string, mcp.Version) { return r.name, r.version }

func (r *call) Value() any { return r }

// Targets implements [engine.Targeted].
func (r *call) Targets() (target, uri string) { return r.target, r.uri }

// Wait sends the messages of the request to its client, which shares the receiver with other clients.
func (r *call) Wait(over <-chan struct{}) { r.box.Run(over) }

// verbatim is a result in JSON, which the relay sends unchanged.
type verbatim struct {
	of    *engine.Method // method of the request
	raw   json.RawMessage
	apart bool // raw is not copied into the frame, but sent after it
}

// appendAnswer appends the frame of the answer, with err unless err is nil.
func (v verbatim) appendAnswer(dst []byte, id jsonrpc.ID, err error) []byte {
	passed, ofPeer := errors.AsType[*relay.Error](err)
	switch {
	case ofPeer:
		return jsonrpc.AppendAnswer(dst, id, "error", passed.Object)
	case err != nil:
		return rpc.AppendError(dst, id, rpc.WireError(err))
	case v.apart:
		return append(id.AppendJSON(append(dst, `{"jsonrpc":"2.0","id":`...)), `,"result":`...)
	}
	return jsonrpc.AppendAnswer(dst, id, "result", v.raw)
}

// adopt sets the terms of the session: a describes the client, and the answer contains the version.
func adopt(c *engine.Conn, a *engine.Agreement, answer json.RawMessage) {
	raw, _ := mcp.Object(answer).Lookup("protocolVersion")
	if v := mcp.Version(rpc.Text(raw)); slices.Contains(c.Server.Versions, v) {
		a.Version = v
	}
	if !c.Introduce(a.Weight) {
		a = &engine.Agreement{Version: a.Version}
	}
	c.X.Terms.Agreed.Store(a)
}

// Notified passes a notification to the receiver.
func (x *exchange) Notified(m *jsonrpc.Message) error {
	in := x.Describe(m)
	in.Known = false
	ctx, op := x.Peer.Tel.StartHandler(x.Work, in)
	defer op.End(rpc.BrokenOff)
	f := x.front
	err := f.receive(ctx, func() {
		usercode.Run(func() {
			f.receiver.ReceiveNotification(ctx, relay.Message{Method: m.Method, Params: oneLine(m.Middle())}, f)
		}, x.Peer.Failed(ctx, m.Method))
	})
	op.End(instrument.Result{Err: err})
	return nil
}

// oneLine returns raw without line breaks. raw is valid JSON.
func oneLine(raw []byte) json.RawMessage {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	return jsonscan.AppendOneLine(nil, raw)
}
