package downstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// front implements [relay.Peer] for the client of one connection or session, or for all modern clients of an HTTP
// handler together.
type front struct {
	conn     *engine.Conn // nil for modern clients over HTTP
	receiver relay.Receiver
	observer rpc.Observer
	turn     lock.Mutex // held while the receiver takes a message of the connection

	unread *quota.Memory // memory of messages for modern clients over HTTP, until the clients have read the messages
}

// maxUnreadNotices bounds the waiting notifications for each request of a modern client over HTTP, in bytes.
const maxUnreadNotices = 1 << 20

// unreadFrames bounds the waiting messages for all modern clients over HTTP together, as a multiple of FrameLimit.
const unreadFrames = 16

// post sends a message of n bytes on the stream of a request. For modern clients over HTTP, post only queues the
// message, and the goroutine of the client's own request sends it. So a client that does not read delays no other
// client. post drops the message and reports false in two cases: the queue of the request would exceed limit bytes (0
// means no limit), or the queues of all requests together would exceed unreadFrames times FrameLimit bytes.
func (f *front) post(by *call, n, limit int, send func()) bool {
	if f.conn != nil {
		send()
		return true
	}
	who := by.x.Client.Account
	if !f.unread.ReservePart(who, n) {
		return false
	}
	queued := by.box.Put(n, limit, func() {
		defer f.unread.Change(who, -n)
		send()
	})
	if !queued {
		f.unread.Change(who, -n)
	}
	return queued
}

// during returns the client's request that ctx belongs to. It returns nil if there is none, or if it has been answered.
func (f *front) during(ctx context.Context) *call {
	if r, ok := ctx.Value(rpc.InfoKey{}).(*call); ok && r.x.front == f && !r.over.Load() {
		return r
	}
	return nil
}

// way selects the stream for a request to the client. It returns the client's own request that has the stream, or nil
// for the stream of the session. If ctx belongs to a request of the client, way returns that request. Otherwise it
// prefers the session's stream. If the client does not read the session's stream, way returns the client's latest
// request, because a client need not read any other stream.
func (f *front) way(ctx context.Context) *call {
	by := f.during(ctx)
	if by != nil || f.conn == nil {
		return by
	}
	if at := f.conn.X.Out.Reach(); at.Asks && at.Read {
		return nil
	}
	return f.latest()
}

// noticeWay is like way, for a notification. It prefers the stream of the session if the client reads that stream or
// can resume it, in two cases: ctx belongs to no request, or the notification reports a change. A change concerns the
// whole session, and the client could miss the report on the stream of a request that it cancels.
func (f *front) noticeWay(ctx context.Context, method string) *call {
	by := f.during(ctx)
	if f.conn == nil || by != nil && (!aboutChange(method) || f.conn.X.Version() == "") {
		return by
	}
	if at := f.conn.X.Out.Reach(); at.Asks && (at.Read || at.Resumable) {
		return nil
	}
	if by != nil {
		return by
	}
	return f.latest()
}

// aboutChange reports whether notifications of this method report a change of a list or a resource.
func aboutChange(method string) bool {
	switch method {
	case mcp.NotificationToolListChanged, mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged,
		mcp.NotificationResourceUpdated:
		return true
	}
	return false
}

// latest returns the latest request whose client reads a stream, or nil.
func (f *front) latest() (by *call) {
	for _, c := range f.conn.Calls.All() {
		if r, ok := c.Handler.(*call); ok && c.Out.Reach().Asks && (by == nil || c.Arrived.After(by.Arrived)) {
			by = r
		}
	}
	return by
}

// Shared implements [relay.Ender].
func (f *front) Shared() bool { return f.conn == nil }

// End implements [relay.Ender].
func (f *front) End(reason error) {
	if f.conn != nil {
		f.conn.Quit(reason)
	}
}

// close reports to the receiver that the client is gone.
func (f *front) close(ctx context.Context) {
	f.observer.Guard(ctx, mcp.MethodInitialize, func() { f.receiver.Gone(f) })
}

// Notify implements [relay.Peer].
func (f *front) Notify(ctx context.Context, m relay.Message) error {
	r := instrument.Request{Method: m.Method, Foreign: true}
	if m.Method == mcp.NotificationResourceUpdated {
		uri, _ := mcp.Object(m.Params).Lookup("uri")
		r.URI = rpc.Text(uri)
	}
	by := f.noticeWay(ctx, m.Method)
	switch {
	case by == nil && f.conn != nil:
		return f.send(ctx, f.conn.X, f.conn.X.Out, f.conn.X.Version(), r, m)
	case by == nil:
		f.observer.Tel.NotificationDropped(m.Method, names.DropNoStream)
		return nil
	case f.conn != nil:
		return f.send(ctx, &by.x.Exchange, by.Out, by.version, r, m)
	}
	m.Params = bytes.Clone(m.Params)
	if !f.post(by, len(m.Params), maxUnreadNotices, func() { _ = f.send(ctx, &by.x.Exchange, by.Out, by.version, r, m) }) {
		f.observer.Tel.NotificationDropped(m.Method, names.DropQueueFull)
	}
	return nil
}

// send sends a notification of x through the sink out.
func (f *front) send(ctx context.Context, x *engine.Exchange, out rpc.Sink, v mcp.Version, r instrument.Request,
	m relay.Message) error {
	ctx, cancel := joint(ctx, x.Life)
	defer cancel()
	buf := rpc.GetBuffer()
	frame := appendMessage((*buf)[:0], jsonrpc.ID{}, m)
	defer rpc.PutBuffer(buf, frame)
	if m.Method == mcp.NotificationSubscriptionsAcknowledged {
		defer f.acknowledge(f.during(ctx), m.Params)
	}
	return x.Peer.SendFrame(ctx, out, v, r, func(*instrument.Op) ([]byte, error) { return frame, nil })
}

// acknowledge marks a subscription as acknowledged. by is the request of the subscription. If by is nil, the params of
// the notification name that request.
func (f *front) acknowledge(by *call, params json.RawMessage) {
	if by == nil && f.conn != nil {
		meta, _ := mcp.Object(params).Lookup("_meta")
		raw, _ := mcp.Object(meta).Lookup(mcp.MetaSubscriptionID)
		id, _ := jsonrpc.ParseID(raw)
		if c := f.conn.Calls.Find(id); c != nil {
			by, _ = c.Handler.(*call)
		}
	}
	if by != nil && by.name == mcp.MethodSubscriptionsListen {
		by.acknowledged()
	}
}

// appendMessage appends m unchanged. It adds the id unless the id is zero.
func appendMessage(dst []byte, id jsonrpc.ID, m relay.Message) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if !id.IsZero() {
		dst = id.AppendJSON(append(dst, `,"id":`...))
	}
	dst = jsonscan.AppendString(append(dst, `,"method":`...), m.Method)
	if m.Params != nil {
		dst = append(append(dst, `,"params":`...), m.Params...)
	}
	return append(dst, '}')
}

// errNoWay means that no stream can carry a request to the client.
var errNoWay = errors.New("the client has opened no stream for requests of the server")

// Request implements [relay.Peer].
func (f *front) Request(ctx context.Context, m relay.Message, answer relay.Answer) {
	c := f.conn
	if c == nil {
		answer(nil, errNoWay)
		return
	}
	q := &ask{conn: c, method: m.Method, answer: answer, sent: make(chan struct{})}
	q.ctx, q.op = c.X.Peer.Tel.StartRequest(ctx, instrument.Request{Method: m.Method, Foreign: true, Beside: true})
	err := q.find(f.way(ctx))
	if err == nil {
		q.id, err = c.X.Asks.Enter(q, maxRelayed)
	}
	if err != nil {
		q.conclude(nil, err)
		return
	}
	q.op.Admit(c.X.Peer.Seen(c.X.Version()), q.id)
	q.stop = context.AfterFunc(ctx, func() { c.X.Group.Start(withdrawing{q}) })
	err = q.send(m)
	unanswered := err != nil && c.X.Asks.End(q.id)
	close(q.sent)
	if unanswered {
		q.conclude(nil, err)
	}
}

// find selects the stream for q. It is the stream on which the client waits for the answer to the request by, or else
// the stream of the session.
func (q *ask) find(by *call) (err error) {
	if by != nil && by.Out.Reach().Asks {
		back, ok := by.x.WaitForClient()
		if !ok {
			return rpc.ErrBusy
		}
		q.out, q.back = by.Out, back
		return nil
	}
	if at := q.conn.X.Out.Reach(); !at.Asks || !at.Read {
		return errNoWay
	}
	q.out = q.conn.X.Out
	return nil
}

// ask is a request of the receiver to the client.
type ask struct {
	conn   *engine.Conn
	out    rpc.Sink
	method string
	answer relay.Answer
	id     int64
	ctx    context.Context // context of the operation
	op     instrument.Op
	stop   func() bool   // stops watching ctx; nil for none
	back   func()        // takes back the slot for handlers that the client's request has released; nil for none
	sent   chan struct{} // closed when the request is sent or has failed; the answer may arrive earlier
}

// send sends the request, with the trace context in its _meta if there is one.
func (q *ask) send(m relay.Message) (err error) {
	buf := rpc.GetBuffer()
	frame, id := (*buf)[:0], q.conn.X.Asks.WireID(q.id)
	defer func() { rpc.PutBuffer(buf, frame) }()
	if t := q.op.TraceContext(); t.Traceparent == "" && t.Tracestate == "" && t.Baggage == "" && len(t.Others) == 0 {
		frame = appendMessage(frame, id, m)
	} else if frame, err = jsonrpc.AppendRequest(frame, id, m.Method, rpc.Traced(&q.op, nil), m.Params); err != nil {
		return err
	}
	ctx, cancel := joint(q.ctx, q.conn.X.Work)
	defer cancel()
	q.op.Sending()
	if err = q.out.Ask(ctx, frame); err == nil {
		q.op.Sent(len(frame))
	}
	return err
}

// Give implements [rpc.Waiter]. It passes on an answer in the goroutine that reads, before the client's next message.
func (q *ask) Give(m *jsonrpc.Message) {
	if m == nil {
		q.conn.X.Group.Start(leaving{q})
		return
	}
	<-q.sent
	q.conclude(m, nil)
}

// leaving is the task that ends a request whose client has left.
type leaving struct{ *ask }

func (q leaving) Run() {
	<-q.sent
	q.conclude(nil, relay.ErrLeft)
}

// withdrawing is the task that cancels a request whose context has ended. It does nothing if the answer has arrived.
type withdrawing struct{ *ask }

func (q withdrawing) Run() {
	<-q.sent
	if !q.conn.X.Asks.End(q.id) {
		return
	}
	why := context.Cause(q.ctx)
	q.conn.X.Asks.AddTombstone(q.id,
		rpc.Tombstone{Reason: rpc.Lateness(q.ctx), Since: time.Now(), Ref: q.op.Ref()})
	q.conn.X.Withdraw(within.Values(q.conn.X.Life, q.ctx), q.out, q.conn.X.Version(), &q.op, nil,
		mcp.CancelledParams{RequestID: mcp.RequestID(q.conn.X.Asks.WireID(q.id)), Reason: relay.ReasonOf(q.ctx)})
	q.conclude(nil, why)
}

// conclude passes on the answer m. If m is nil, it passes on err.
func (q *ask) conclude(m *jsonrpc.Message, err error) {
	defer q.op.End(rpc.BrokenOff)
	if q.stop != nil {
		q.stop()
	}
	if q.back != nil {
		q.back()
	}
	if err == rpc.ErrClosed {
		err = relay.ErrLeft
	}
	if m != nil {
		q.op.Received(m.Size())
		if m.Checked() {
			q.passOn(m)
			return
		}
		err = &rpc.Violation{Cause: errors.New(q.method + ": the client's answer is invalid")}
	}
	q.op.End(rpc.EndOf(q.ctx, err))
	q.answer(nil, err)
}

// passOn passes on a valid answer.
func (q *ask) passOn(m *jsonrpc.Message) {
	raw := oneLine(m.Middle())
	if m.Kind == jsonrpc.Result {
		q.op.End(instrument.Result{})
		q.answer(raw, nil)
		return
	}
	e, _ := m.Failure() // best effort
	q.op.End(instrument.Result{Code: e.Code, HasCode: true, Message: e.Message})
	q.answer(nil, &relay.Error{Object: raw, Server: &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data}})
}

// joint returns a context that ends with ctx or with the context end, whichever ends first.
func joint(ctx, end context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(end, func() { cancel(context.Cause(end)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
