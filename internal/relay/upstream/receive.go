package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/serving"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// hooks implements the hooks of the client's core for a relay.
type hooks struct{ c *Server }

// introduction returns the introduction that the peer in front has sent.
func (h hooks) introduction() relay.Introduction {
	i := h.c.client.Introduce()
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.c.latest = bytes.Clone(i.Params)
	return i
}

// introduced reports the outcome of an introduction to the peer in front.
func (h hooks) introduced(result json.RawMessage, err error) error {
	h.c.mu.Lock()
	h.c.introduced = true
	h.c.mu.Unlock()
	return h.c.client.Introduced(result, err)
}

func (h hooks) Negotiated() {}

func (h hooks) Authorized() {}

// Missed notifies the peer in front of the changes that a legacy session may have missed.
func (h hooks) Missed(cause string) {
	s := h.c.core.Present()
	if s == conn.NoSession || s.Era.Subscribes() {
		return
	}
	f := listsOf(s)
	f.ResourceSubscriptions = h.c.restored.uris()
	h.c.missed(s.Ctx, cause, nil, f)
}

// Began restores the state of the lost session. It also notifies the peer in front of changes that the peer may have
// missed.
func (h hooks) Began(s *conn.Session) {
	h.c.mu.Lock()
	h.c.sessions = true
	h.c.mu.Unlock()
	if s.First {
		return
	}
	h.c.core.During(s, func() { h.c.restore(s) })
	if !s.Era.Subscribes() {
		h.c.missed(s.Ctx, names.GapSession, nil, listsOf(s))
	}
}

// Ended removes the client from the list of running clients, and notifies the peer in front.
func (h hooks) Ended() {
	c := h.c
	running.Clients.Remove(c.number)
	c.core.Spawn(func() {
		_, _, left := c.restored.all(nil)
		for _, q := range left {
			if c.restored.closes(q) {
				q.answer(nil, conn.ErrShutdown)
			}
		}
		c.mu.Lock()
		introduced := c.introduced
		c.mu.Unlock()
		if !introduced {
			_ = c.client.Introduced(nil, cmp.Or(c.core.GaveUp(), conn.ErrShutdown)) // an error cannot end the client again
		}
		c.client.Receiver.Gone(c)
	})
}

// AskForLife sends a legacy server a ping, and a modern server, which has no ping, server/discover.
func (h hooks) AskForLife(s *conn.Session) bool {
	c := h.c
	return c.core.During(s, func() { // the goroutine ends when the ping is sent, or with the session
		q := c.newRequest(s.Ctx, mcp.MethodPing, func(json.RawMessage, error) {})
		q.Own, q.Timeout = true, 2*c.core.Settings.KeepAlive // the keep-alive ends the session sooner
		if s.Era.Subscribes() {
			c.mu.Lock()
			q.Method, q.params = mcp.MethodDiscover, readParams(c.latest)
			c.mu.Unlock()
		}
		q.Start(q.ctx, q)
	})
}

// Notified passes on a notification of the server. It handles a cancellation itself, because the id in the cancellation
// is valid only on this connection.
func (h hooks) Notified(r *conn.Reader, m *jsonrpc.Message) {
	c := h.c
	if m.Method == mcp.NotificationCancelled {
		c.cancelled(r, m)
		return
	}
	if m.Method == mcp.NotificationProgress || r.OwnStream() {
		c.heard.Add(1)
	}
	params, _ := m.Params() // unreadable params belong to no request
	in := c.incoming(r, m, &params, instrument.Incoming{Notification: true})
	q := c.origin(r, m, &params)
	ctx, op := c.core.Telemetry.StartHandler(during(r, q), in)
	defer op.End(instrument.Result{})
	message := passed(r, m)
	switch {
	case q == nil:
	case m.Method == mcp.NotificationProgress:
		message.Params = q.withToken(message.Params)
	case params.SubscriptionID != nil && q.id != nil:
		if m.Method == mcp.NotificationSubscriptionsAcknowledged && c.restored.acknowledge(q) {
			c.missedBy(ctx, q, message.Params)
			return
		}
		message.Params = withSubscription(message.Params, q.id)
	}
	c.client.Receiver.ReceiveNotification(ctx, message, c)
}

// during returns the context for messages of the server that belong to q, a request of the peer in front. q is nil if
// the request is unknown. The context has the values of the request, and ends with the connection.
func during(r *conn.Reader, q *request) context.Context {
	if q == nil {
		return r.Link.Ctx
	}
	return within.Values(r.Link.Ctx, q.ctx)
}

// peerOf returns the description of the server for telemetry. It is nil before there is a session.
func peerOf(r *conn.Reader) *instrument.Peer {
	if r.Session == nil {
		return nil
	}
	return r.Session.Peer
}

// cancelled ends a request that the server has cancelled: its own request, or a request of the peer in front.
func (c *Server) cancelled(r *conn.Reader, m *jsonrpc.Message) {
	c.core.Telemetry.Notification(telemetry.DirectionReceived, m.Method)
	var p mcp.CancelledParams
	if _, err := mcp.Decode(m.Middle(), &p); err != nil {
		return
	}
	why := &conn.CancelledByServer{Reason: conn.Excerpt(p.Reason, conn.MaxShown)}
	var cause error // nil if the server gives no reason
	if p.Reason != "" {
		cause = errors.New(p.Reason)
	}
	c.serving.Cancel(serving.ID{Link: r.Link, ID: jsonrpc.ID(p.RequestID)}, why, cause)
	c.core.Cancelled(r.Link, jsonrpc.ID(p.RequestID), why)
}

// incoming describes a message of the server for telemetry.
func (c *Server) incoming(r *conn.Reader, m *jsonrpc.Message, params *jsonrpc.Params,
	in instrument.Incoming) instrument.Incoming {
	_, in.Known = targets()[m.Method]
	in.URI, _ = jsonrpc.Text(params.URI)
	return serving.Incoming(m.Method, params, peerOf(r), m.Size(), in)
}

// passed converts a message of the server for the peer in front.
func passed(r *conn.Reader, m *jsonrpc.Message) relay.Message {
	params := m.Middle()
	oneLine(r.Session, params)
	return relay.Message{Method: m.Method, Params: params}
}

// servedAtOnce bounds the requests of a server that the peer in front handles concurrently. It is high, because the
// size of the frames is also bounded, and agents send many requests at the same time.
const servedAtOnce = 4096

// Serve passes a request of the server to the peer in front.
func (h hooks) Serve(r *conn.Reader, m *jsonrpc.Message, answer conn.Answerer) {
	c := h.c
	c.heard.Add(1)
	a := &answering{c: c, method: m.Method, size: len(m.Frame), answer: answer}
	q, _ := r.Request().(*request)
	ctx, served := c.serving.Begin(during(r, q), serving.ID{Link: r.Link, ID: m.ID})
	a.served = served
	params, _ := m.Params() // unreadable params belong to no trace
	ctx, a.op = c.core.Telemetry.StartHandler(ctx, c.incoming(r, m, &params, instrument.Incoming{ID: m.ID.String()}))
	if !c.serving.Enter(a.size, servedAtOnce, max(defaultFrameLimit, c.core.Settings.FrameLimit)) {
		c.serving.End(served)
		e := &mcp.Error{Code: mcp.CodeInternalError, Message: "too many requests at once"}
		serving.Reply(&a.op, m.Method, conn.ErrorFrame(m.ID, e), e, answer, false)
		return
	}
	c.client.Receiver.ReceiveRequest(ctx, passed(r, m), c, a.give)
}

// answering sends the answer to one request of the server.
type answering struct {
	c      *Server
	served *serving.Request
	op     instrument.Op
	method string
	size   int // size of the request's frame, in bytes
	answer conn.Answerer
}

// give sends the answer of the peer in front, unless the server has cancelled the request.
func (a *answering) give(result json.RawMessage, err error) {
	defer a.c.serving.Leave(a.size)
	if why := a.c.serving.End(a.served); why != nil {
		defer a.op.End(instrument.Result{ErrorType: names.ErrorCancelled, Err: why})
		_ = a.answer(nil, true)
		return
	}
	serving.Reply(&a.op, a.method, answerFrame(a.served.ID(), result, err), err, a.answer, true)
}

// answerFrame returns the frame of an answer of the peer in front.
func answerFrame(id jsonrpc.ID, result json.RawMessage, err error) []byte {
	if e, ok := errors.AsType[*relay.Error](err); ok {
		return jsonrpc.AppendAnswer(nil, id, "error", e.Object)
	}
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		return conn.ErrorFrame(id, e)
	}
	if err != nil {
		return conn.ErrorFrame(id, &mcp.Error{Code: mcp.CodeInternalError, Message: err.Error()})
	}
	return jsonrpc.AppendAnswer(nil, id, "result", result)
}
