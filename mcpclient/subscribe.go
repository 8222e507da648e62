package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// SubscribeResource asks the server to report changes of a resource to [HandleResourceUpdated]. It returns when the
// server has agreed. If the server does not support subscriptions, or not for this resource, the error wraps
// [ErrUnsupported] or is the server's own error. With Options.NoListening, the error names that option. After an error,
// nothing has changed.
//
// The subscription lasts until [Client.UnsubscribeResource] or the end of the client. After a lost connection, the
// client renews the subscription in the new session and calls the handlers, because it may have missed a change. If the
// server does not answer, the client tries again after Backoff.Min to Backoff.Max of [Options]. If the server refuses,
// the client emits the record mcp_client.subscription.lost. A legacy server gives a reason for the refusal, and the
// client tries again in the next session. A modern server gives no reason, and the client asks it again after
// Backoff.Min to Backoff.Max. A second subscription to the same resource has no effect, and one unsubscription ends the
// subscription.
//
// With a modern server, the client changes its subscription by opening a new one. It reads the old subscription for
// another 5 s, so handlers may get a change twice. If there are more than 4 replacements in that time, the client ends
// the oldest subscription early, which counts as a gap.
//
// For a legacy server, the client sends resources/subscribe. For a modern server, one subscriptions/listen covers all
// handlers and subscriptions, so of the options only the timeout and WaitForReady apply. (specification 2025-11-25,
// server/resources, "Subscriptions"; 2026-07-28, basic/patterns/subscriptions)
func (c *Client) SubscribeResource(ctx context.Context, uri string, options ...CallOption) error {
	p := &mcp.SubscribeParams{URI: uri}
	options = append(options[:len(options):len(options)], ifSent) // a modern server gets another method
	return c.operate(ctx, mcp.MethodSubscribe, p, options, func(ctx context.Context, options []CallOption) error {
		return c.subscribe(ctx, p, options)
	})
}

func (c *Client) subscribe(ctx context.Context, p *mcp.SubscribeParams, options []CallOption) error {
	s, options, err := c.agreed(ctx, mcp.MethodSubscribe, options)
	if err != nil {
		return err
	}
	if err := c.subscriptions.unavailable(s); err != nil {
		return err
	}
	limited, cancel := c.cfg.within(ctx, options)
	defer cancel()
	if limited.Err() != nil {
		return errorOf(conn.Outlived(limited, mcp.MethodSubscribe, true))
	}
	w, ok := c.subscriptions.watches.enter(limited, p.URI)
	if !ok {
		return errorOf(conn.Outlived(limited, mcp.MethodSubscribe, true))
	}
	defer c.subscriptions.watches.leave(w)
	if s.Era.Subscribes() {
		return c.subscriptions.listenTo(limited, s, w)
	}
	if err := c.Call(limited, mcp.MethodSubscribe, p, nil, options...); err != nil {
		return err
	}
	c.subscriptions.watches.want(w, true)
	return nil
}

// UnsubscribeResource ends the subscription of [Client.SubscribeResource]. Even if UnsubscribeResource fails, and even
// if ctx has already ended, later sessions do not subscribe to the resource, unless a concurrent SubscribeResource for
// the same resource succeeds. An error means that a legacy server may report changes until the session ends. If the
// client is not ready, there is no server to notify; this is not an error.
func (c *Client) UnsubscribeResource(ctx context.Context, uri string, options ...CallOption) error {
	p := &mcp.UnsubscribeParams{URI: uri}
	options = append(options[:len(options):len(options)], ifSent) // a client that is not ready sends nothing
	return c.operate(ctx, mcp.MethodUnsubscribe, p, options, func(ctx context.Context, options []CallOption) error {
		return c.unsubscribe(ctx, p, options)
	})
}

func (c *Client) unsubscribe(ctx context.Context, p *mcp.UnsubscribeParams, options []CallOption) error {
	uri := p.URI
	options = c.cfg.timed(options, time.Now())
	limited, cancel := c.cfg.within(ctx, options)
	defer cancel()
	w, ok := c.subscriptions.watches.enter(limited, uri)
	if !ok { // another caller or a new session is subscribing
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
	return c.Call(limited, mcp.MethodUnsubscribe, p, nil, options...)
}

// listenTo adds a resource to the subscription in session s, and waits until the server has agreed.
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
		return <-word // the answer has just arrived
	}
	return err
}

// restoredAtOnce is the maximum number of concurrent requests that renew subscriptions when a session with a legacy
// server begins.
const restoredAtOnce = 8

// restore renews the subscriptions to resources in each session after the first. For modern servers, listen renews
// them.
func (subs *subscriptions) restore(s *conn.Session) {
	if s.First {
		return
	}
	no := subs.unavailable(s)
	if no != nil {
		for _, uri := range subs.watches.lose() {
			subs.c.core.Telemetry.SubscriptionLost(uri, no)
		}
	}
	if s.Era.Subscribes() && !subs.c.cfg.NoListening {
		return
	}
	subs.c.missed(names.GapSession, subs.c.dispatcher.wanted(&s.Capabilities))
	if no != nil {
		return
	}
	pause := subs.c.cfg.Backoff.Min
	for left := subs.watches.uris(); ; pause = min(2*pause, subs.c.cfg.Backoff.Max) {
		if left = subs.restoreAll(s, left); len(left) == 0 || !conn.PauseFor(s.Ctx, pause) {
			return
		}
	}
}

// restoreAll renews subscriptions at a legacy server. It returns the URIs that need another attempt.
func (subs *subscriptions) restoreAll(s *conn.Session, uris []string) (again []string) {
	var mu sync.Mutex
	var tries sync.WaitGroup
	slots := make(chan struct{}, restoredAtOnce)
	for _, uri := range uris {
		select {
		case slots <- struct{}{}:
		case <-s.Ctx.Done():
			tries.Wait()
			return nil
		}
		tries.Add(1)
		subs.c.core.InBackground(s.Link, func() { // the goroutine ends with its call
			defer tries.Done()
			defer func() { <-slots }()
			if !subs.restoreOne(s, uri) {
				mu.Lock()
				defer mu.Unlock()
				again = append(again, uri)
			}
		})
	}
	tries.Wait()
	return again
}

// restoreOne renews a subscription at a legacy server. It returns false if another attempt is needed, because the
// server has neither agreed nor refused.
func (subs *subscriptions) restoreOne(s *conn.Session, uri string) (done bool) {
	w, ok := subs.watches.enter(s.Ctx, uri)
	if !ok {
		return true
	}
	defer subs.watches.leave(w)
	if !subs.watches.wanted(w) {
		return true
	}
	err := subs.c.call(s.Ctx, mcp.MethodSubscribe, &mcp.SubscribeParams{URI: uri}, nil, restoring)
	switch {
	case err == nil:
		subs.watches.restored(w)
		subs.c.missed(names.GapSubscription, mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}})
	case s.Ctx.Err() != nil:
	case isRefusal(err):
		subs.c.core.Telemetry.SubscriptionLost(uri, err)
	default:
		return false
	}
	return true
}

// isRefusal reports whether err is an error of the server, or permanent. An internal error does not count, because a
// gateway returns an internal error while one of its servers is away.
func isRefusal(err error) bool {
	said, answered := errors.AsType[*mcp.Error](err)
	answered = answered && said.Code != mcp.CodeInternalError
	e, ok := errors.AsType[*Error](err)
	return answered || transport.Permanent(err) ||
		ok && (e.Kind == KindProtocol || e.Kind == KindInvalid || e.Kind == KindShutdown)
}

// notHonoured returns the error for a resource that is missing in the acknowledgement of a modern server.
func notHonoured(uri string) error {
	e := unsupported(mcp.MethodSubscriptionsListen, fmt.Sprintf("updates of %q", uri))
	e.Unsent = false
	return e
}

// without returns the uris that are not in others, or nil if none is left.
func without(uris, others []string) []string {
	var left []string
	for _, uri := range uris {
		if !slices.Contains(others, uri) {
			left = append(left, uri)
		}
	}
	return left
}
