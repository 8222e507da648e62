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
	if _, _, some := c.dispatcher.wanted(s.capabilities); some {
		s.listening = true
		c.goroutines.Go(func() { c.listen(s) }) // ends with the session, or when nobody listens any more
	}
}

// listen keeps a subscription open, as long as session s lasts, to the changes that the client has handlers for and the
// server tells of. Servers of the legacy era tell of them unasked. It is begun anew when it ends, and when other handlers
// are there: then the old one ends when the new one is open, so that no change is missed.
// (specification 2026-07-28, basic/patterns/subscriptions)
func (c *Client) listen(s *session) {
	var open *subscription
	defer func() { c.unsubscribe(s, open) }()
	gap := false
	for delay := c.cfg.BackoffMin; s.ctx.Err() == nil; {
		filter, changed, some := c.stillWanted(s)
		if !some {
			return
		}
		next, end := c.subscribe(s, filter)
		if next != nil && open == nil {
			c.cache.clear() // changes have gone unheard so far
		}
		c.unsubscribe(s, open)
		if open = next; open != nil {
			if gap {
				c.schemas.forget() // a change may have gone unheard
			}
			if end = c.follow(s, open, changed); end == subscriptionReplaced {
				gap = false
				continue
			}
			open = nil
		}
		switch end {
		case subscriptionRefused:
			return
		case subscriptionEnded:
			delay = c.cfg.BackoffMin
		}
		if !pauseFor(s.ctx, delay) {
			return
		}
		delay, gap = min(2*delay, c.cfg.BackoffMax), true
	}
}

// stillWanted says what to listen to. If that is nothing, the session listens no more.
func (c *Client) stillWanted(s *session) (filter mcp.SubscriptionFilter, changed <-chan struct{}, some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	filter, changed, some = c.dispatcher.wanted(s.capabilities)
	s.listening = some
	return filter, changed, some
}

// subscription is one that the server has acknowledged.
type subscription struct {
	call   *call
	filter mcp.SubscriptionFilter
	ended  func(error) // tells the telemetry
}

// How a subscription ended.
type subscriptionEnd uint8

const (
	subscriptionFailed   subscriptionEnd = iota // before the server acknowledged it
	subscriptionEnded                           // after that
	subscriptionReplaced                        // not yet, but other changes are wanted
	subscriptionRefused                         // the server has none, or not for us
)

// subscribe opens a subscription. Its operation ends with the acknowledgment: no span lasts as long as the stream.
func (c *Client) subscribe(s *session, filter mcp.SubscriptionFilter) (*subscription, subscriptionEnd) {
	cl := c.newCall(mcp.MethodSubscriptionsListen, &mcp.SubscriptionsListenParams{Notifications: filter})
	cl.acknowledged = make(chan struct{}, 1)
	ctx, op := c.tel.StartRequest(s.ctx, cl.telemetry())
	cl.ref, cl.corr = op.Ref(), op.Corr()
	if !c.takeIn(s, cl) {
		op.End(telemetry.Result{ErrorType: telemetry.ErrorConnectionLost})
		c.free(cl)
		return nil, subscriptionFailed
	}
	op.Admit(s.peer, cl.id)
	err := c.acknowledgement(ctx, s, cl, &op)
	op.End(resultOf(err, nil))
	if err == nil {
		return &subscription{cl, filter, c.tel.StreamOpened(telemetry.StreamListen)}, subscriptionEnded
	}
	c.free(cl)
	if err.Server != nil && err.Server.Code == mcp.CodeMethodNotFound || transport.Permanent(err) {
		return nil, subscriptionRefused
	}
	return nil, subscriptionFailed
}

// follow waits for the end of a subscription, or until other changes are wanted.
func (c *Client) follow(s *session, sub *subscription, changed <-chan struct{}) subscriptionEnd {
	for {
		select {
		case o := <-sub.call.outcome:
			switch {
			case o.cause != 0:
				sub.ended(sub.call.failed(o))
			case o.message.Kind == jsonrpc.Error:
				e, _ := decodeError(&o.message) // what could be read is enough
				sub.ended(&Error{Kind: KindJSONRPC, Op: sub.call.method, Server: e})
			default:
				sub.ended(nil)
			}
			c.free(sub.call)
			return subscriptionEnded
		case <-changed:
			var now mcp.SubscriptionFilter
			if now, changed, _ = c.dispatcher.wanted(s.capabilities); !reflect.DeepEqual(now, sub.filter) {
				return subscriptionReplaced
			}
		}
	}
}

// unsubscribe ends a subscription, if there is one.
func (c *Client) unsubscribe(s *session, sub *subscription) {
	if sub == nil {
		return
	}
	_, _ = c.leave(s.ctx, s, sub.call)
	sub.ended(nil)
	c.free(sub.call)
}

// acknowledgement sends the request for a subscription and waits until the server acknowledges it. After an error the call
// is no longer in flight.
func (c *Client) acknowledgement(ctx context.Context, s *session, cl *call, op *telemetry.Op) *Error {
	if err := cl.encode(s, op); err != nil {
		panic("mcpclient: a subscription cannot be encoded: " + err.Error())
	}
	o, err := c.send(ctx, s, cl, op)
	if err != nil {
		return err
	}
	limit := time.NewTimer(c.cfg.InitTimeout)
	defer limit.Stop()
	for !o.decided() {
		select {
		case <-cl.acknowledged:
			return nil
		case why := <-cl.putOff:
			if o, err = c.settled(cl, cl.backpressure(why)); err != nil {
				return err
			}
		case <-limit.C:
			_, _ = c.leave(ctx, s, cl)
			return cl.failed(outcome{cause: inflight.Timeout})
		case o = <-cl.outcome:
		}
	}
	if o.cause != 0 {
		return cl.failed(o)
	}
	op.Received(len(o.message.Frame))
	if err := c.decode(s, cl, op, &o.message, nil); err != nil {
		return err
	}
	return &Error{Kind: KindProtocol, Op: cl.method, cause: errors.New("the subscription ended before it was acknowledged")}
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
	if cl, ok := c.calls.Find(id); ok && cl.acknowledged != nil {
		select {
		case cl.acknowledged <- struct{}{}:
		default: // it has been told
		}
	}
}

// takeIn takes a call of the client's own into flight, if s is still the session. It has no deadline.
func (c *Client) takeIn(s *session, cl *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s {
		return false
	}
	c.lastID++
	cl.id = c.lastID
	c.calls.Add(cl.id, time.Time{}, cl)
	return true
}
