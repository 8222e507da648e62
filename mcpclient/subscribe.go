package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/conn"
)

// SubscribeResource asks the server to tell when a resource changes, which [HandleResourceUpdated] and
// [Client.OnResourceUpdated] hear of. It returns when the server has agreed. If the server does not agree, for this
// resource or for any, the error has [ErrUnsupported] in its chain, or is the server's own. After an error nothing has
// changed.
//
// The subscription is for the life of the client, until [Client.UnsubscribeResource]: it is made anew in each session,
// after a connection was lost. The handlers are called then, for a change may have gone unheard. If a server does not
// take it up again, the record mcp_client.subscription.lost says so, and the next session tries. To subscribe to a
// resource twice is to subscribe once, and one unsubscribing ends it.
//
// A legacy server is asked by resources/subscribe. For a modern one, what has handlers and what is subscribed to is one
// subscriptions/listen, so of the options only the timeout and WaitForReady mean something there.
// (specification 2025-11-25, server/resources, "Subscriptions"; 2026-07-28, basic/patterns/subscriptions)
func (c *Client) SubscribeResource(ctx context.Context, uri string, options ...CallOption) error {
	s, options, err := c.agreed(ctx, mcp.MethodSubscribe, options)
	if err != nil {
		return err
	}
	if !hasSubscribing(&s.Capabilities) {
		return unsupported(mcp.MethodSubscribe, "resources.subscribe")
	}
	limited, cancel := c.cfg.within(ctx, options)
	defer cancel()
	if limited.Err() != nil {
		return errorOf(conn.Outlived(limited, mcp.MethodSubscribe, true))
	}
	w, ok := c.subscriptions.watches.enter(limited, uri)
	if !ok {
		return errorOf(conn.Outlived(limited, mcp.MethodSubscribe, true))
	}
	defer c.subscriptions.watches.leave(w)
	if s.Era.Subscribes() {
		return c.subscriptions.listenTo(limited, s, w)
	}
	if err := c.Call(limited, mcp.MethodSubscribe, &mcp.SubscribeParams{URI: uri}, nil, options...); err != nil {
		return err
	}
	c.subscriptions.watches.want(w, true)
	return nil
}

// UnsubscribeResource ends what [Client.SubscribeResource] began. Even if it fails, and even if ctx has ended
// before, the resource is not subscribed to in later sessions, unless a SubscribeResource of the same resource is under
// way that succeeds; an error says that a legacy server may go on to tell of it in this one. A client that is not ready
// has no server to tell, which is no error.
func (c *Client) UnsubscribeResource(ctx context.Context, uri string, options ...CallOption) error {
	options = c.cfg.timed(options, time.Now())
	limited, cancel := c.cfg.within(ctx, options)
	defer cancel()
	w, ok := c.subscriptions.watches.enter(limited, uri)
	if !ok { // another caller is about to subscribe, or a new session is
		c.subscriptions.watches.unwant(uri)
		c.dispatcher.wishesChanged()
		return errorOf(conn.Outlived(limited, mcp.MethodUnsubscribe, true))
	}
	defer c.subscriptions.watches.leave(w)
	c.subscriptions.watches.want(w, false)
	c.dispatcher.wishesChanged()
	s := c.core.Present()
	if s == conn.NoSession || s.Era.Subscribes() || !hasSubscribing(&s.Capabilities) {
		return nil
	}
	return c.Call(limited, mcp.MethodUnsubscribe, &mcp.UnsubscribeParams{URI: uri}, nil, options...)
}

// listenTo adds a resource to what the client listens to in session s, and waits until the server has agreed.
func (subs *subscriptions) listenTo(ctx context.Context, s *conn.Session, w *watch) error {
	word := subs.watches.ask(w, s)
	if word == nil {
		return nil
	}
	subs.c.dispatcher.wishesChanged()
	err := subs.begin(s)
	if err == nil {
		select {
		case err := <-word:
			return err
		case <-ctx.Done():
			err = errorOf(conn.Outlived(ctx, mcp.MethodSubscriptionsListen, false))
		case <-s.Ctx.Done():
			err = errorOf(s.Over(mcp.MethodSubscriptionsListen))
		}
	}
	if !subs.watches.withdraw(w) {
		return <-word // it has come meanwhile
	}
	return err
}

// restoredAtOnce is how many resources of a legacy server are subscribed to at once when a session begins.
const restoredAtOnce = 8

// restore subscribes anew, in a session that is not the first, to the resources that were subscribed to. For
// modern servers listen does it.
func (subs *subscriptions) restore(s *conn.Session) {
	if s.First {
		return
	}
	if !hasSubscribing(&s.Capabilities) {
		for _, uri := range subs.watches.lose() {
			subs.c.core.Telemetry.SubscriptionLost(uri, unsupported(mcp.MethodSubscribe, "resources.subscribe"))
		}
	}
	if s.Era.Subscribes() {
		return
	}
	lists := subs.c.dispatcher.wanted(&s.Capabilities)
	subs.c.dispatcher.missed(lists)
	if !hasSubscribing(&s.Capabilities) {
		return
	}
	slots := make(chan struct{}, restoredAtOnce)
	for _, uri := range subs.watches.uris() {
		select {
		case slots <- struct{}{}:
		case <-s.Ctx.Done():
			return
		}
		subs.c.core.InBackground(s.Link, func() { // ends with its call
			defer func() { <-slots }()
			subs.restoreOne(s, uri)
		})
	}
}

// restoreOne subscribes anew to one resource of a legacy server.
func (subs *subscriptions) restoreOne(s *conn.Session, uri string) {
	w, ok := subs.watches.enter(s.Ctx, uri)
	if !ok {
		return
	}
	defer subs.watches.leave(w)
	if !subs.watches.wanted(w) {
		return
	}
	err := subs.c.call(s.Ctx, mcp.MethodSubscribe, &mcp.SubscribeParams{URI: uri}, nil, restoring)
	switch {
	case err == nil:
		subs.c.dispatcher.missed(mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}})
	case s.Ctx.Err() == nil:
		subs.c.core.Telemetry.SubscriptionLost(uri, err)
	}
}

// notHonoured is the error of a resource that a modern server acknowledges no subscription to.
func notHonoured(uri string) error {
	e := unsupported(mcp.MethodSubscriptionsListen, fmt.Sprintf("updates of %q", uri))
	e.Unsent = false
	return e
}

// without returns uris without those in others, nil if none are left.
func without(uris, others []string) []string {
	var left []string
	for _, uri := range uris {
		if !slices.Contains(others, uri) {
			left = append(left, uri)
		}
	}
	return left
}
