package mcpserver

import (
	"context"
	"maps"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// maxListening is how many subscriptions one connection may have at once.
const maxListening = 1024

// subscription is a subscriptions/listen that has been acknowledged and not yet concluded. It needs no goroutine.
// (specification 2026-07-28, basic/patterns/subscriptions)
type subscription struct {
	call    *call
	filter  mcp.SubscriptionFilter // what of the wishes the server can fulfil
	meta    mcp.Meta               // of all that belongs to it
	notices notices

	mu    sync.Mutex // held while something is sent: nothing follows the result
	over  bool       // guarded by mu
	tasks *taskWatch // guarded by mu; nil for no tasks
}

// listen opens a subscription. It is acknowledged before anything else is sent, and concluded when its context ends or the
// server's audience is sent home. Telemetry sees it end with the acknowledgement: no span lasts as long as a stream.
func (s *Server) listen(_ context.Context, c *call) (any, error) {
	var p mcp.SubscriptionsListenParams
	if err := decodeCopy(c.params, &p); err != nil {
		return nil, invalidParams("params: %w", err)
	}
	meta, err := mcp.Meta(nil).With(mcp.MetaSubscriptionID, c.info.ID)
	if err != nil {
		return nil, err
	}
	sub := &subscription{call: c, filter: s.honoured(p.Notifications, c.info.Version), meta: meta}
	if sub.filter.TaskIDs, err = s.tasks.watchable(c.ctx, c, p.Notifications.TaskIDs); err != nil {
		return nil, err
	}
	sub.notices = notices{group: c.x.group, send: sub.tell, held: true}
	if err := c.x.audience.add(sub); err != nil {
		return nil, err
	}
	if err := sub.acknowledge(); err != nil {
		c.x.audience.remove(sub)
		return nil, err
	}
	c.op.End(telemetry.Result{})
	sub.notices.resume()
	s.tasks.serve(sub)
	context.AfterFunc(c.ctx, func() { c.x.group.start(sub) })
	return standing{}, nil
}

// honoured returns the part of a filter that a client of a revision can be promised.
func (s *Server) honoured(f mcp.SubscriptionFilter, v mcp.Version) (some mcp.SubscriptionFilter) {
	declared := s.capabilities(v)
	for _, l := range lists {
		*l.wish(&some) = *l.wish(&f) && l.declared(&declared)
	}
	return some
}

func (sub *subscription) acknowledge() error {
	params, err := mcp.AppendParams(nil, mcp.SubscriptionsAcknowledgedParams{Notifications: sub.filter})
	if err != nil {
		return err
	}
	c := sub.call
	return c.x.notify(c.out, c.info.Version, mcp.NotificationSubscriptionsAcknowledged, sub.meta, params)
}

// tell sends a notification, and ends the subscription if the client does not take it.
func (sub *subscription) tell(method string) {
	c := sub.call
	sub.mu.Lock()
	over := sub.over
	var err error
	if !over {
		err = c.x.notify(c.out, c.info.Version, method, sub.meta, nil)
	}
	sub.mu.Unlock()
	if err != nil {
		c.cancel(err)
	}
}

// run concludes the request, once: with a result, unless the client has cancelled it.
func (sub *subscription) run() {
	if !sub.call.x.audience.remove(sub) {
		return
	}
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.over = true
	sub.tasks.stop()
	sub.call.conclude(&mcp.Result{Meta: sub.meta}, nil)
}

// audience are the subscriptions that are open on a connection, or on all streams of an HTTP handler.
type audience struct {
	limit int

	mu     sync.Mutex
	subs   map[*subscription]struct{} // guarded by mu
	closed bool                       // guarded by mu
}

func newAudience(limit int) *audience {
	return &audience{limit: limit, subs: map[*subscription]struct{}{}}
}

func (a *audience) add(sub *subscription) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return errShuttingDown
	case len(a.subs) >= a.limit:
		return errBusy
	}
	a.subs[sub] = struct{}{}
	return nil
}

// remove reports whether sub was still there.
func (a *audience) remove(sub *subscription) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, there := a.subs[sub]
	delete(a.subs, sub)
	return there
}

func (a *audience) all() map[*subscription]struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.subs)
}

// announce tells those who want to know that a list has changed.
func (a *audience) announce(method string) {
	for sub := range a.all() {
		if *lists[method].wish(&sub.filter) {
			sub.notices.add(method)
		}
	}
}

// close begins to end all subscriptions with a result, and admits no more.
func (a *audience) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for sub := range a.all() {
		sub.call.x.group.start(sub)
	}
}
