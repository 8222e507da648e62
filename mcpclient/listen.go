package mcpclient

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// subscribeChanges begins to listen to changes if there is reason to. It is called with mu held.
func (c *Client) subscribeChanges() {
	s := c.session
	if s == nil || s.listening || !s.era.subscribes() {
		return
	}
	if w := c.wishes(s); w.some() {
		s.listening = true
		c.inBackground(s.link, func() { c.listen(s) }) // ends with the session, or with the last listener
	}
}

// wish is what the client wants to hear of in a session.
type wish struct {
	filter  mcp.SubscriptionFilter
	asked   bool            // somebody waits for the server's word on it
	changed <-chan struct{} // closed when it may have become another one
}

// wishes returns the changes that the client has handlers for, or is subscribed to, of those the server tells of.
func (c *Client) wishes(s *session) (w wish) {
	w.filter = c.dispatcher.wanted(&s.capabilities)
	if hasSubscribing(&s.capabilities) {
		w.filter.ResourceSubscriptions, w.asked = c.watches.filter()
	}
	return w
}

// some reports whether it is anything at all.
func (w *wish) some() bool {
	f := &w.filter
	return f.ToolsListChanged || f.PromptsListChanged || f.ResourcesListChanged || len(f.ResourceSubscriptions) > 0
}

// fulfilled reports whether the subscription is about it and nothing else, and nobody wants more.
func (w *wish) fulfilled(by *subscription) bool {
	return by != nil && !w.asked && reflect.DeepEqual(w.filter, by.filter)
}

// listener keeps a subscription open in one session. It belongs to its goroutine.
type listener struct {
	c    *Client
	s    *session
	open *subscription // nil for none

	gap   bool          // changes may have gone unheard
	since time.Time     // it is open
	pause time.Time     // no attempt before, unless somebody waits for it
	delay time.Duration // after the next attempt that fails, or the next subscription that does not last
}

// listen keeps a subscription open, as long as session s lasts, to the changes that the client has handlers for, or is
// subscribed to, and the server tells of. Servers of the legacy era tell of them unasked, but for resources. It is begun
// anew when it ends, and when something else is wanted: then the old one ends when the new one is open, so that no change is
// missed. If the new one fails, because of one bad URI perhaps, the old one goes on.
// (specification 2026-07-28, basic/patterns/subscriptions)
func (c *Client) listen(s *session) {
	l := &listener{c: c, s: s, gap: !s.first, delay: c.cfg.BackoffMin}
	defer func() { c.unsubscribe(s, l.open) }()
	for s.ctx.Err() == nil {
		w, some := c.stillWanted(s)
		switch {
		case !some:
			return
		case w.fulfilled(l.open):
			l.follow(&w)
		case !w.asked && time.Until(l.pause) > 0:
			l.wait(&w)
		case !l.renew(&w):
			return
		}
	}
}

// stillWanted says what to listen to. If that is nothing, the session listens no more.
func (c *Client) stillWanted(s *session) (w wish, some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.dispatcher.change() // before the look, so that no change is missed
	w = c.wishes(s)
	w.changed = changed
	s.listening = w.some()
	return w, s.listening
}

// renew opens a subscription to w in the place of the one that is open, if one is, and reports whether there may be
// another attempt.
func (l *listener) renew(w *wish) bool {
	c, uris := l.c, w.filter.ResourceSubscriptions
	next, agreed, err := c.subscribe(l.s, w.filter)
	if err != nil {
		return l.failed(uris, err)
	}
	over := c.unsubscribe(l.s, l.open)
	l.gap = l.gap || over
	d := c.watches.decide(l.s, uris, agreed.ResourceSubscriptions, l.gap, notHonoured)
	for _, uri := range d.lost {
		c.tel.SubscriptionLost(uri, notHonoured(uri))
	}
	next.filter.ResourceSubscriptions = without(uris, d.refused)
	if over || len(d.restored) > 0 || !l.open.covers(&next.filter) {
		c.cache.clear() // changes have gone unheard so far
	}
	l.open, l.since = next, time.Now()
	missed := mcp.SubscriptionFilter{ResourceSubscriptions: d.restored}
	if l.gap {
		c.schemas.forget()
		missed.ToolsListChanged = w.filter.ToolsListChanged && agreed.ToolsListChanged
		missed.PromptsListChanged = w.filter.PromptsListChanged && agreed.PromptsListChanged
		missed.ResourcesListChanged = w.filter.ResourcesListChanged && agreed.ResourcesListChanged
	}
	l.gap = false
	c.missed(missed)
	return true
}

// failed deals with an attempt that failed.
func (l *listener) failed(uris []string, err *Error) bool {
	c := l.c
	if err.Server != nil && err.Server.Code == mcp.CodeMethodNotFound || transport.Permanent(err) {
		c.mu.Lock()
		l.s.deaf = err
		c.mu.Unlock()
		for _, uri := range c.watches.lose() {
			c.tel.SubscriptionLost(uri, err)
		}
		c.watches.fail(c.watches.uris(), err)
		return false
	}
	c.watches.fail(uris, err)
	l.gap = l.gap || l.open == nil
	l.pauseNow()
	return true
}

// pauseNow lets some time pass before the next attempt, more from one to the next.
func (l *listener) pauseNow() {
	l.pause = time.Now().Add(l.delay)
	l.delay = min(2*l.delay, l.c.cfg.BackoffMax)
}

// wait waits for the time of the next attempt, or until something else is wanted.
func (l *listener) wait(w *wish) {
	t := time.NewTimer(time.Until(l.pause))
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.changed:
	case <-l.s.ctx.Done():
	}
}

// follow waits for the end of the open subscription, or until something else may be wanted.
func (l *listener) follow(w *wish) {
	select {
	case <-w.changed:
		return
	case o := <-l.open.call.outcome:
		l.open.over(o)
		if cancelledUpstream(o) && l.s.overHTTP {
			l.s.conn.Cancel(l.open.call.id, transport.Message{})
		}
	}
	l.c.free(l.open.call)
	if time.Since(l.since) >= l.c.cfg.BackoffMax { // that it was acknowledged proves nothing
		l.delay = l.c.cfg.BackoffMin
	}
	l.open, l.gap = nil, true
	l.pauseNow()
}

// subscription is one that the server has acknowledged.
type subscription struct {
	call   *call
	filter mcp.SubscriptionFilter
	ended  func(error) // tells the telemetry
}

// covers reports whether sub, nil for none, is about all that f is about.
func (sub *subscription) covers(f *mcp.SubscriptionFilter) bool {
	return sub != nil &&
		(sub.filter.ToolsListChanged || !f.ToolsListChanged) &&
		(sub.filter.PromptsListChanged || !f.PromptsListChanged) &&
		(sub.filter.ResourcesListChanged || !f.ResourcesListChanged) &&
		len(without(f.ResourceSubscriptions, sub.filter.ResourceSubscriptions)) == 0
}

// over tells the telemetry how it has ended.
func (sub *subscription) over(o outcome) {
	switch {
	case o.cause != 0:
		sub.ended(sub.call.failed(o))
	case o.message.Kind == jsonrpc.Error:
		e, _ := decodeError(&o.message) // what could be read is enough
		sub.ended(&Error{Kind: KindJSONRPC, Op: sub.call.method, Server: e})
	default:
		sub.ended(nil)
	}
}

// subscribe opens a subscription and returns what of the filter the server has agreed on. Its operation ends with the
// acknowledgment: no span lasts as long as the stream.
func (c *Client) subscribe(s *session, filter mcp.SubscriptionFilter) (sub *subscription, agreed mcp.SubscriptionFilter, err *Error) {
	cl := c.newCall(mcp.MethodSubscriptionsListen, &mcp.SubscriptionsListenParams{Notifications: filter})
	cl.acknowledged, cl.own, cl.lasts = make(chan mcp.SubscriptionFilter, 1), true, true
	about := cl.about()
	about.Link, about.Reissue = c.lastSubscription(s)
	about.Beside = true
	ctx := cl.begin(s.ctx, about)
	ended := brokenOff
	defer func() {
		cl.op.End(ended)
		if err != nil {
			c.free(cl)
		}
	}()
	if !cl.takeIn(s) {
		ended = telemetry.Result{ErrorType: telemetry.ErrorConnectionLost}
		return nil, agreed, cl.failed(outcome{cause: inflight.Lost})
	}
	agreed, err = c.acknowledgement(ctx, s, cl)
	if ended = resultOf(err, nil); err != nil {
		return nil, agreed, err
	}
	c.mu.Lock()
	c.subscribed, c.subscribedIn = cl.ref, s.epoch
	c.mu.Unlock()
	return &subscription{cl, filter, c.tel.StreamOpened(telemetry.StreamListen)}, agreed, nil
}

// lastSubscription names the request that has opened the latest subscription, if that was lost with an earlier session.
func (c *Client) lastSubscription(s *session) (ref telemetry.Ref, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subscribedIn == 0 || c.subscribedIn == s.epoch {
		return telemetry.Ref{}, false
	}
	return c.subscribed, true
}

// unsubscribe ends a subscription, if there is one, and reports whether it had ended before by itself.
func (c *Client) unsubscribe(s *session, sub *subscription) (over bool) {
	if sub == nil {
		return false
	}
	o, _ := sub.call.leave(s.ctx)
	if over = o.decided(); over {
		sub.over(o)
	} else {
		sub.ended(nil)
	}
	c.free(sub.call)
	return over
}

// acknowledgement sends the request for a subscription and waits until the server acknowledges it. After an error the call
// is no longer in flight.
func (c *Client) acknowledgement(ctx context.Context, s *session, cl *call) (agreed mcp.SubscriptionFilter, _ *Error) {
	r := &cl.request
	o, err := r.launchAttended(ctx)
	if err != nil {
		return agreed, err
	}
	limit := time.NewTimer(c.cfg.InitTimeout)
	defer limit.Stop()
	for !o.decided() {
		select {
		case agreed = <-cl.acknowledged:
			return agreed, nil
		case why := <-r.putOff:
			if o, err = r.settled(r.backpressure(why)); err != nil {
				return agreed, err
			}
		case <-limit.C:
			_, _ = r.leave(ctx)
			return agreed, r.failed(outcome{cause: inflight.Timeout})
		case o = <-r.outcome:
			select {
			case agreed = <-cl.acknowledged: // before
				r.outcome <- o // for the one that follows it
				return agreed, nil
			default:
			}
		}
	}
	if err := r.answered(o); err != nil {
		return agreed, err
	}
	return agreed, &Error{Kind: KindProtocol, Op: r.method, cause: errors.New("the subscription ended before it was acknowledged")}
}

// acknowledged tells the call that has asked for a subscription that the server sends it.
func (c *Client) acknowledged(n *Notification) {
	var p mcp.SubscriptionsAcknowledgedParams
	var request mcp.RequestID
	if n.Decode(&p) != nil {
		return
	}
	if found, err := p.Meta.Decode(mcp.MetaSubscriptionID, &request); !found || err != nil {
		return
	}
	id, _ := request.Int()
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.calls.Find(id)
	if !ok || r.method != mcp.MethodSubscriptionsListen {
		return
	}
	r.open = true // before the next message is looked at
	if cl := r.content.(*call); cl.acknowledged != nil {
		select {
		case cl.acknowledged <- p.Notifications:
		default: // it has been told
		}
	}
}

// takeIn takes a request of the client's own into flight, if s is still the session. It has no deadline.
func (r *request) takeIn(s *session) bool {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	if r.core.session != s {
		return false
	}
	r.core.lastID++
	r.id, r.begun = r.core.lastID, time.Now()
	r.core.calls.Add(r.id, time.Time{}, r)
	r.session = s
	r.op.Admit(s.peer, r.id)
	return true
}
