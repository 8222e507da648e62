package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// restoredBytes bounds the size of all params that a relay keeps for restoring a lost session. State beyond this bound
// is not restored.
const restoredBytes = 1 << 20

// restored holds the requests of the peer in front that have an effect for a whole session.
type restored struct {
	mu      sync.Mutex
	level   json.RawMessage            // guarded by mu; the params of the latest logging/setLevel
	watched map[string]json.RawMessage // guarded by mu; the params of each resources/subscribe, by URI
	listens map[int64]*request         // guarded by mu; each subscriptions/listen, by its id
	size    int                        // guarded by mu; bytes of all params
}

// keep stores params, and drops the earlier params others. It returns the stored copy of params, or nil if params would
// exceed the bound. mu is held.
func (r *restored) keep(params, others json.RawMessage) json.RawMessage {
	r.size -= len(others)
	if r.size+len(params) > restoredBytes {
		return nil
	}
	r.size += len(params)
	return bytes.Clone(params)
}

// done records the effect of a successful request.
func (r *restored) done(method string, p params) {
	r.mu.Lock()
	defer r.mu.Unlock()
	uri := p.Target(mcp.TargetResource)
	switch method {
	case mcp.MethodSetLevel:
		r.level = r.keep(p.Raw(), r.level)
	case mcp.MethodSubscribe:
		if r.watched == nil {
			r.watched = map[string]json.RawMessage{}
		}
		kept := r.keep(p.Raw(), r.watched[uri])
		if r.watched[uri] = kept; kept == nil {
			delete(r.watched, uri)
		}
	case mcp.MethodUnsubscribe:
		r.keep(nil, r.watched[uri])
		delete(r.watched, uri)
	}
}

// opens stores a subscriptions/listen request that is about to be sent, unless it would exceed the bound.
func (r *restored) opens(q *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size+len(q.Frame) > restoredBytes {
		return
	}
	if r.listens == nil {
		r.listens = map[int64]*request{}
	}
	r.listens[q.ID], q.noted = q, true
	r.size += len(q.Frame)
}

// closes removes a subscriptions/listen request. If it returns true, the caller continues with the request.
func (r *restored) closes(q *request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listens[q.ID] != q {
		return false
	}
	delete(r.listens, q.ID)
	r.size -= len(q.Frame)
	return true
}

// of returns the subscriptions/listen request whose id the server wrote as raw. It returns nil if there is none.
func (r *restored) of(raw []byte) *request {
	id, _ := jsonrpc.ParseID(raw)
	n, ok := id.Int()
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listens[n]
}

// acknowledge records that the server has acknowledged a subscription. It reports whether the server had already
// acknowledged it in an earlier session.
func (r *restored) acknowledge(q *request) (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.open = true
	return q.reopens
}

// lasts reports whether the server has ever acknowledged the subscription of q.
func (r *restored) lasts(q *request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return q.open || q.reopens
}

// uris returns the resources that the peer in front has subscribed to.
func (r *restored) uris() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.watched))
}

// all returns the state to restore in session s.
func (r *restored) all(s *conn.Session) (level json.RawMessage, watched []json.RawMessage, listens []*request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uri := range slices.Sorted(maps.Keys(r.watched)) {
		watched = append(watched, r.watched[uri])
	}
	for _, id := range slices.Sorted(maps.Keys(r.listens)) {
		if q := r.listens[id]; q.Session != s && (q.open || q.reopens) {
			listens = append(listens, q)
		}
	}
	return r.level, watched, listens
}

// restore restores the state of the lost session, and then allows all requests in s.
func (c *Server) restore(s *conn.Session) {
	level, watched, listens := c.restored.all(s)
	var asked sync.WaitGroup
	if level != nil {
		asked.Add(1)
		c.ask(s, mcp.MethodSetLevel, level, func(error) { asked.Done() })
	}
	for _, params := range watched {
		asked.Add(1)
		c.resubscribe(s, params, 0, asked.Done)
	}
	for _, q := range listens {
		if c.restored.closes(q) {
			q.reopen(0)
		}
	}
	asked.Wait()
	s.Open()
}

// ask sends a request of the relay itself in session s.
func (c *Server) ask(s *conn.Session, method string, params json.RawMessage, answered func(error)) {
	q := c.newRequest(s.Ctx, method, func(_ json.RawMessage, err error) { answered(err) })
	q.Own, q.Timeout, q.params = true, c.core.Settings.InitTimeout, readParams(params)
	q.ReadyBy = time.Now()
	q.Start(q.ctx, q)
}

// resubscribe renews a subscription to a resource of a legacy server in session s, after a pause. It retries until
// there is an answer. It calls tried after the first attempt.
func (c *Server) resubscribe(s *conn.Session, params json.RawMessage, pause time.Duration, tried func()) {
	p := readParams(params)
	uri := p.Target(mcp.TargetResource)
	c.ask(s, mcp.MethodSubscribe, params, func(err error) {
		defer tried()
		switch {
		case err == nil:
			c.missed(s.Ctx, names.GapSubscription, nil, mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}})
		case s.Ctx.Err() != nil:
		case isRefusal(err):
			c.restored.done(mcp.MethodUnsubscribe, p)
			c.core.Telemetry.SubscriptionLost(uri, err)
		default:
			pause = c.backoff(pause)
			c.core.During(s, func() { // the goroutine ends after the pause or with the session
				if conn.PauseFor(s.Ctx, pause) && slices.Contains(c.restored.uris(), uri) {
					c.resubscribe(s, params, pause, func() {})
				}
			})
		}
	})
}

// isRefusal reports whether err is the server's answer, or another error that a retry cannot change.
func isRefusal(err error) bool {
	_, refused := errors.AsType[*relay.Error](err)
	f, ok := errors.AsType[*conn.Fault](err)
	return refused || transport.Permanent(err) ||
		ok && (f.Kind == conn.KindProtocol || f.Kind == conn.KindInvalid || f.Kind == conn.KindShutdown)
}

// backoff returns the next pause.
func (c *Server) backoff(pause time.Duration) time.Duration {
	limit := c.core.Settings
	return min(cmp.Or(2*pause, limit.BackoffMin), limit.BackoffMax)
}

// missed counts a gap in the server's notifications. For each possible change it sends the peer in front a notification
// with the id of the peer's subscription. id is nil if there is no subscription.
func (c *Server) missed(ctx context.Context, cause string, id []byte, f mcp.SubscriptionFilter) {
	c.core.Telemetry.ChangeGap(cause)
	for method, uri := range methods.ChangesOf(&f) {
		var params []byte
		if uri != "" {
			params = methods.UpdateOf(uri)
		}
		if id != nil {
			meta := slices.Concat([]byte(`{"_meta":{"`+mcp.MetaSubscriptionID+`":`), id, []byte(`}`))
			if params == nil {
				params = []byte(`}`)
			} else {
				params[0] = ','
			}
			params = append(meta, params...)
		}
		c.client.Receiver.ReceiveNotification(ctx, relay.Message{Method: method, Params: params}, c)
	}
}

// listsOf returns the lists for which a legacy server reports changes without a subscription.
func listsOf(s *conn.Session) (f mcp.SubscriptionFilter) {
	by := &s.Capabilities
	f.ToolsListChanged, f.PromptsListChanged, f.ResourcesListChanged = by.Tools != nil, by.Prompts != nil,
		by.Resources != nil
	return f
}

// missedBy reports a gap to the peer in front, for a subscription that the server has acknowledged again.
func (c *Server) missedBy(ctx context.Context, q *request, acknowledged []byte) {
	var p mcp.SubscriptionsAcknowledgedParams
	_, _ = mcp.Decode(acknowledged, &p) // best effort
	cause := names.GapSession
	if q.pause > 0 {
		cause = names.GapStream
	}
	c.missed(ctx, cause, q.id, p.Notifications)
}

// lost keeps a lost subscription for the next session, or reopens it after a pause. It returns false if the peer in
// front must be notified of the loss.
func (q *request) lost() bool {
	c := q.c
	if !c.restored.lasts(q) || q.ctx.Err() != nil {
		return false
	}
	context.AfterFunc(q.ctx, func() {
		if c.restored.closes(q) {
			q.answer(nil, errorFor(conn.Outlived(q.ctx, q.Method, false)))
		}
	})
	pause := c.backoff(q.pause)
	// A subscription that has lasted resets the pause. Its acknowledgement alone does not.
	if limit := c.core.Settings; time.Since(q.Begun) >= limit.BackoffMax {
		pause = limit.BackoffMin
	}
	c.core.During(q.Session, func() { // after the end of the session, the next session reopens q
		if conn.PauseFor(q.Session.Ctx, pause) && c.restored.closes(q) {
			q.reopen(pause)
		}
	})
	return true
}

// reopen sends a subscription again, after a pause.
func (q *request) reopen(pause time.Duration) {
	next := q.again()
	next.Own, next.reopens, next.pause = true, true, pause
	next.start()
}

// withSubscription returns object, which is params or a result, with the subscription id that the peer in front has
// chosen.
func withSubscription(object, id []byte) []byte {
	for o := jsonscan.ObjectAt(object, 0); o.Next(); {
		if string(o.Key()) != "_meta" {
			continue
		}
		for in := jsonscan.ObjectAt(object, o.At()); in.Next(); {
			if string(in.Key()) == mcp.MetaSubscriptionID {
				return spliced(object, in.At(), len(in.Raw()), id)
			}
		}
	}
	return object
}

// spliced returns a copy of object in which value replaces the n bytes at i.
func spliced(object []byte, i, n int, value []byte) []byte {
	return slices.Concat(object[:i], value, object[i+n:])
}
