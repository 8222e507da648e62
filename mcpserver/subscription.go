package mcpserver

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxListening limits the subscriptions that are open at once on one connection.
const maxListening = 1024

// subscription is an open subscriptions/listen: it is acknowledged and has not ended. It needs no goroutine.
// (specification 2026-07-28, basic/patterns/subscriptions)
type subscription struct {
	call    *call
	filter  mcp.SubscriptionFilter // the part of the client's filter that the server granted, without resources
	watched watchlist              // resources that the server granted
	meta    mcp.Meta               // _meta of all messages of the subscription
	notices notices

	mu    sync.Mutex   // held during each send, so that no message follows the result
	over  bool         // guarded by mu
	tasks *tasks.Watch // guarded by mu; nil without tasks
	ended func()       // guarded by mu; reports the end to telemetry; nil before the acknowledgement
}

// listen opens a subscription. The server sends the acknowledgement before all other messages. The subscription ends
// when its context ends or when the server closes the audience. For telemetry, the request ends with the
// acknowledgement, because a span should not last as long as a stream.
func (s *Server) listen(ctx context.Context, c *call) (any, error) {
	var p mcp.SubscriptionsListenParams
	if err := given.Decode(c.params, &p); err != nil {
		return nil, rpc.InvalidParams("params: %w", err)
	}
	meta, err := mcp.Meta(nil).With(mcp.MetaSubscriptionID, c.info.ID)
	if err != nil {
		return nil, err
	}
	sub := &subscription{call: c, meta: meta}
	sub.watched.join(c.x.Client.Watching, c.x.Client.Account)
	stands := false
	defer func() {
		if !stands {
			c.x.unwatchAll(c.Context(), &sub.watched)
			sub.watched.release()
		}
	}()
	granted := s.honour(ctx, sub, p.Notifications)
	if granted.TaskIDs, err = s.tasks.watchable(c.Context(), c, p.Notifications.TaskIDs); err != nil {
		return nil, err
	}
	if !sub.watched.reserve(len(granted.TaskIDs) * tasks.WatchedCost) {
		return nil, rpc.ErrBusy
	}
	sub.filter.TaskIDs = granted.TaskIDs
	c.params, c.arguments, c.info.Meta, c.info.from = nil, nil, nil, engine.Sender{} // release the frame
	sub.notices = notices{group: c.x.Group, send: sub.tell, coalesced: c.x.coalesced, held: true}
	if err := sub.open(granted); err != nil {
		return nil, err
	}
	stands = true
	sub.notices.resume()
	sub.watchTasks(s.tasks.keeper)
	context.AfterFunc(c.Context(), func() { c.x.Group.Start(sub) })
	c.Deferred = true
	return nil, nil
}

// honour returns the part of the client's filter (wishes) that the server grants. It does not grant resources that do
// not exist or that exceed the limit.
func (s *Server) honour(ctx context.Context, sub *subscription,
	wishes mcp.SubscriptionFilter) (granted mcp.SubscriptionFilter) {
	declared := s.capabilities(sub.call.info.Version)
	for _, l := range lists {
		*l.wish(&sub.filter) = *l.wish(&wishes) && l.declared(&declared)
	}
	granted = sub.filter
	if declared.Resources == nil || !declared.Resources.Subscribe {
		return granted
	}
	room := maxWatchedBytes // for all URIs that are checked, granted or not
	for _, uri := range wishes.ResourceSubscriptions[:min(len(wishes.ResourceSubscriptions), maxWatched)] {
		if room -= len(uri); room < 0 || ctx.Err() != nil {
			break
		}
		if !sub.watched.has(uri) && s.resources.watch(ctx, &sub.watched, uri) == nil {
			granted.ResourceSubscriptions = append(granted.ResourceSubscriptions, uri)
		}
	}
	return granted
}

// wants reports whether the client has asked for a notice and the server has granted it.
func (sub *subscription) wants(n notice) bool {
	if n.uri != "" {
		return sub.watched.has(n.uri)
	}
	return *lists[n.method].wish(&sub.filter)
}

// open adds the subscription to the audience before it acknowledges the subscription, so that the client misses no
// change. It holds mu during both, so that the result cannot precede the acknowledgement. For telemetry, the request
// ends with the acknowledgement.
func (sub *subscription) open(granted mcp.SubscriptionFilter) error {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if err := sub.call.x.audience.add(sub); err != nil {
		return err
	}
	sub.call.Op.Sending()
	if err := sub.acknowledge(granted); err != nil && sub.call.x.audience.remove(sub) {
		return err
	}
	sub.call.Op.End(instrument.Result{})
	sub.ended = sub.call.x.Peer.Tel.StreamOpened(names.StreamListen)
	return nil
}

func (sub *subscription) acknowledge(granted mcp.SubscriptionFilter) error {
	params, err := mcp.AppendParams(nil, mcp.SubscriptionsAcknowledgedParams{Notifications: granted})
	if err != nil {
		return err
	}
	c := sub.call
	about := instrument.Request{Method: mcp.NotificationSubscriptionsAcknowledged, Parent: c.Op.Ref()}
	return c.x.Peer.Send(c.x.Work, c.Out, c.info.Version, about, sub.meta, params)
}

// tell sends a notice. It ends the subscription if the notice cannot be sent.
func (sub *subscription) tell(n queuedNotice) {
	c := sub.call
	sub.mu.Lock()
	over := sub.over
	var err error
	if !over {
		err = c.x.inform(c.x.Work, c.Out, c.info.Version, n, sub.meta)
	}
	sub.mu.Unlock()
	if err != nil {
		c.Cancel(err)
	}
}

// Run ends the subscription, once. Unless the client has cancelled the request, Run sends notifications/cancelled and
// then the result, because one page of the specification requires the notification, and another page requires the
// result. (specification 2026-07-28, basic/patterns/cancellation; basic/patterns/subscriptions, "Graceful Closure")
func (sub *subscription) Run() {
	if !sub.call.x.audience.remove(sub) {
		return
	}
	sub.mu.Lock()
	sub.over = true
	sub.tasks.Stop()
	sub.revoke()
	sub.call.Conclude(&mcp.Result{Meta: sub.meta}, nil)
	ended := sub.ended
	sub.mu.Unlock()
	if ended != nil {
		ended()
	}
	sub.call.x.unwatchAll(sub.call.Context(), &sub.watched)
	sub.watched.release()
}

// revoke notifies the client that the server ends the subscription. It does nothing if the client has left or has
// cancelled the subscription itself.
func (sub *subscription) revoke() {
	c := sub.call
	if why := context.Cause(c.Context()); why != nil && !errors.Is(why, engine.ErrStopping) {
		return
	}
	params, err := mcp.AppendParams(nil, mcp.CancelledParams{RequestID: c.info.ID, Reason: engine.ErrStopping.Message})
	if err != nil {
		return
	}
	_ = c.x.Peer.Notify(c.x.Life, c.Out, c.info.Version, mcp.NotificationCancelled, sub.meta, params)
}

// audience holds the open subscriptions of a connection, or of all streams of an HTTP handler.
type audience struct {
	mu     sync.Mutex
	places quota.Shares               // guarded by mu
	subs   map[*subscription]struct{} // guarded by mu
	closed bool                       // guarded by mu
}

func newAudience(limit int) *audience {
	return &audience{places: quota.NewShares(limit), subs: map[*subscription]struct{}{}}
}

func (a *audience) add(sub *subscription) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return engine.ErrStopping
	case !a.places.Affords(sub.call.x.Client.Account, 1):
		return rpc.ErrBusy
	}
	a.places.Reserve(sub.call.x.Client.Account, 1)
	a.subs[sub] = struct{}{}
	return nil
}

// remove removes sub. It returns false if the audience does not have sub.
func (a *audience) remove(sub *subscription) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, there := a.subs[sub]
	if there {
		a.places.Release(sub.call.x.Client.Account, 1)
		delete(a.subs, sub)
	}
	return there
}

func (a *audience) all() map[*subscription]struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.subs)
}

// announce queues the notice of each change for the subscriptions that want it.
func (a *audience) announce(some []change) {
	for sub := range a.all() {
		for i := range some {
			if n := &some[i]; sub.wants(n.notice) {
				sub.notices.add(n.notice, n.parent(sub.call.x.Peer.Tel))
			}
		}
	}
}

// close starts to end all subscriptions with a result, and refuses new subscriptions.
func (a *audience) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for sub := range a.all() {
		sub.call.x.Group.Start(sub)
	}
}
