package mcpclient

import (
	"cmp"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// listener keeps a subscription open in one session. One goroutine owns it.
type listener struct {
	*subscriptions
	s    *conn.Session
	open *subscription // nil while no subscription is open

	// why the client may have missed changes: a Gap constant of package names; empty if the client has missed no change
	gap   string
	since time.Time     // when the subscription was opened
	pause time.Time     // earliest time of the next attempt, unless a caller waits for the outcome
	delay time.Duration // pause after the next failed attempt, or after a subscription that ended soon
}

// listen keeps a subscription open until session s ends. The subscription covers the changes that the client has
// handlers for or is subscribed to, as far as the server reports them. (Legacy servers report changes of lists without
// a subscription.) listen opens a new subscription when the old one ends, and when the filter changes. If the filter
// has changed, the client still reads the old subscription for a while after the new one is open, see [replaced]. If
// the new subscription fails, for example because of one bad URI, the old one stays open. If the acknowledgement of the
// server omits a resource, the listener asks for the resource again later: the acknowledgement gives no reason, and a
// gateway may have lost one of its servers for a moment only. (specification 2026-07-28, basic/patterns/subscriptions)
func (subs *subscriptions) listen(s *conn.Session) {
	l := &listener{subscriptions: subs, s: s, delay: subs.c.cfg.Backoff.Min}
	if !s.First {
		l.gap = names.GapSession
	}
	defer func() { l.open.close() }()
	for s.Ctx.Err() == nil {
		w, some := subs.stillWanted(s)
		switch {
		case !some:
			return
		case w.fulfilled(l.open) && (len(w.lost) == 0 || time.Until(l.pause) > 0):
			l.follow(&w)
		case !w.asked && time.Until(l.pause) > 0:
			l.wait(&w)
		case !l.renew(&w):
			return
		}
	}
}

// renew opens a subscription to w, which replaces the open one, if any. It returns false if no further attempt makes
// sense.
func (l *listener) renew(w *wish) bool {
	c, uris := l.c, w.filter.ResourceSubscriptions
	next, err := l.subscribe(l.s, w.filter)
	if err != nil {
		return l.failed(uris, err)
	}
	agreed := next.agreed
	if w.fulfilled(l.open) && len(without(w.lost, agreed.ResourceSubscriptions)) == len(w.lost) {
		next.close()
		l.pauseNow()
		return true
	}
	if l.open != nil {
		select {
		case o := <-l.open.Outcome:
			l.open.over(o)
			l.over()
		default:
		}
	}
	d := l.watches.decide(l.s, uris, agreed.ResourceSubscriptions, l.gap != "", notHonoured)
	for _, uri := range d.lost {
		c.core.Telemetry.SubscriptionLost(uri, notHonoured(uri))
	}
	next.filter.ResourceSubscriptions = without(uris, d.refused)
	missed := l.unheard(&w.filter, &agreed)
	missed.ResourceSubscriptions = d.restored
	for range methods.ChangesOf(&missed) {
		l.gap = cmp.Or(l.gap, names.GapSubscription)
		break
	}
	switch {
	case l.gap != "":
		if l.s.Ctx.Err() == nil { // otherwise the next session reports the gap
			c.missed(l.gap, missed)
		}
	case !l.open.covers(&next.filter):
		c.cache.clear() // the server may have changed before the subscription began
	}
	if l.open != nil {
		l.replace(l.s, l.open)
	}
	l.open, l.since, l.gap = next, time.Now(), ""
	if len(without(uris, agreed.ResourceSubscriptions)) > 0 {
		l.pauseNow()
	}
	return true
}

// unheard returns the lists that may have changed before the server agreed to report their changes. After a gap, these
// are all lists. Otherwise, they are the lists that the client requested while it had no subscription to their changes.
func (l *listener) unheard(wanted, agreed *mcp.SubscriptionFilter) (f mcp.SubscriptionFilter) {
	var before mcp.SubscriptionFilter
	if l.open != nil {
		before = l.open.filter
	}
	asked := l.asked.Load()
	f.ToolsListChanged = wanted.ToolsListChanged && agreed.ToolsListChanged &&
		(l.gap != "" || !before.ToolsListChanged && asked&toolsAsked != 0)
	f.PromptsListChanged = wanted.PromptsListChanged && agreed.PromptsListChanged &&
		(l.gap != "" || !before.PromptsListChanged && asked&promptsAsked != 0)
	f.ResourcesListChanged = wanted.ResourcesListChanged && agreed.ResourcesListChanged &&
		(l.gap != "" || !before.ResourcesListChanged && asked&resourcesAsked != 0)
	return f
}

// failed handles a failed attempt. It returns false if no further attempt makes sense.
func (l *listener) failed(uris []string, err *Error) bool {
	c := l.c
	if err.Server != nil && err.Server.Code == mcp.CodeMethodNotFound || transport.Permanent(err) {
		l.refusedBy(l.s, err)
		for _, uri := range l.watches.lose() {
			c.core.Telemetry.SubscriptionLost(uri, err)
		}
		l.watches.fail(l.watches.uris(), err)
		return false
	}
	l.watches.fail(uris, err)
	if l.open == nil {
		l.gap = cmp.Or(l.gap, names.GapSubscription)
	}
	l.pauseNow()
	return true
}

// pauseNow sets the pause before the next attempt. Each pause is longer than the previous one.
func (l *listener) pauseNow() {
	l.pause = time.Now().Add(l.delay)
	l.delay = min(2*l.delay, l.c.cfg.Backoff.Max)
}

// wait waits until the time of the next attempt, or until the filter changes.
func (l *listener) wait(w *wish) {
	t := time.NewTimer(time.Until(l.pause))
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.changed:
	case <-l.s.Ctx.Done():
	}
}

// follow waits until the open subscription ends, the filter changes, or the client should ask for lost resources again.
func (l *listener) follow(w *wish) {
	var again <-chan time.Time
	if len(w.lost) > 0 {
		again = time.After(time.Until(l.pause))
	}
	select {
	case <-again:
		return
	case <-w.changed:
		return
	case o := <-l.open.Outcome:
		l.open.over(o)
	}
	l.over()
	l.pauseNow()
}

// over records that the open subscription has ended.
func (l *listener) over() {
	if time.Since(l.since) >= l.c.cfg.Backoff.Max { // a short subscription does not prove that the server works
		l.delay = l.c.cfg.Backoff.Min
	}
	l.open, l.gap = nil, cmp.Or(l.gap, names.GapStream)
}
