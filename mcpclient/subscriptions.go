package mcpclient

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// subscriptions are the changes that a client hears of: of the lists that it has handlers for, and of the resources
// that the user is subscribed to. In a modern session a listener keeps one subscription to all of them open
// (listen.go). A legacy server tells of lists unasked, and is asked for each resource (subscribe.go).
type subscriptions struct {
	c       *Client
	watches watches
	asked   atomic.Uint32 // the lists that have been asked for, a bit for each: [toolsAsked] and so on

	mu        sync.Mutex // is locked before the mutex of [conn.Conn]
	listening uint64     // guarded by mu; the epoch of the session that has a listener, 0 for none
	refused   *refusal   // guarded by mu; by the server of the latest session that did so; nil if none has
	latest    *opening   // guarded by mu; the latest subscription, nil before the first
}

// opening is the request that opened a subscription, the epoch of its session, and the subscriptions before it that the
// client still reads, the oldest first. A client that has not subscribed has no opening, and so takes no memory for it.
type opening struct {
	by       instrument.Ref
	in       uint64
	replaced []*replaced
}

// replaced returns the list of the subscriptions that the client still reads after another one has replaced them. mu is
// held.
func (subs *subscriptions) replaced() *[]*replaced {
	if subs.latest == nil {
		subs.latest = new(opening)
	}
	return &subs.latest.replaced
}

// The lists of which changes are told.
const (
	toolsAsked = 1 << iota
	promptsAsked
	resourcesAsked
)

// asks notes that a list is asked for, if the method does that.
func (subs *subscriptions) asks(method string) {
	switch method {
	case mcp.MethodListTools:
		subs.asked.Or(toolsAsked)
	case mcp.MethodListPrompts:
		subs.asked.Or(promptsAsked)
	case mcp.MethodListResources, mcp.MethodListResourceTemplates:
		subs.asked.Or(resourcesAsked)
	}
}

// refusal is why the server of one session takes no subscriptions.
type refusal struct {
	epoch uint64
	err   *Error
}

// wish is what the client wants to hear of in a session.
type wish struct {
	filter  mcp.SubscriptionFilter
	asked   bool            // a caller waits for the server's word on it
	lost    []string        // resources that the server did not agree on when it was last asked
	changed <-chan struct{} // closed when it may have become another one
}

// some reports whether it is anything at all.
func (w *wish) some() bool {
	f := &w.filter
	return f.ToolsListChanged || f.PromptsListChanged || f.ResourcesListChanged || len(f.ResourceSubscriptions) > 0
}

// fulfilled reports whether the subscription is about it and nothing else, and no caller wants more.
func (w *wish) fulfilled(by *subscription) bool { return !w.asked && by.is(&w.filter) }

// listenIfWanted begins to listen to changes in session s, if it is the present one and there is reason to.
func (subs *subscriptions) listenIfWanted(s *conn.Session) {
	if s == conn.NoSession || !s.Era.Subscribes() || subs.c.cfg.NoListening {
		return
	}
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if w := subs.wishes(s); subs.listening == s.Epoch || !w.some() {
		return
	}
	if subs.c.core.During(s, func() { subs.listen(s) }) { // ends with the session, or with the last wish
		subs.listening = s.Epoch
	}
}

// unavailable returns why no resource can be subscribed to in session s, nil if resources can.
func (subs *subscriptions) unavailable(s *conn.Session) *Error {
	switch {
	case !hasSubscribing(&s.Capabilities):
		return unsupported(mcp.MethodSubscribe, "resources.subscribe")
	case s.Era.Subscribes() && subs.c.cfg.NoListening:
		return &Error{Kind: KindState, Op: mcp.MethodSubscribe, Unsent: true,
			cause: &conn.Refusal{Word: names.ErrorUnsupported, Err: errNotListening}}
	}
	return nil
}

var errNotListening = errors.New("the client does not listen to changes: Options.NoListening is set " +
	`("listen": false in a file of servers)`)

// begin sees to it that the client listens in session s, unless the server has refused.
func (subs *subscriptions) begin(s *conn.Session) *Error {
	subs.listenIfWanted(s)
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if r := subs.refused; r != nil && r.epoch == s.Epoch {
		return r.err
	}
	return nil
}

// refusedBy notes that the server of session s takes no subscriptions.
func (subs *subscriptions) refusedBy(s *conn.Session, err *Error) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	subs.refused = &refusal{s.Epoch, err}
}

// wishes returns the changes that the client has handlers for, or is subscribed to, of those the server tells of.
func (subs *subscriptions) wishes(s *conn.Session) (w wish) {
	w.filter = subs.c.dispatcher.wanted(&s.Capabilities)
	if hasSubscribing(&s.Capabilities) {
		w.filter.ResourceSubscriptions, w.asked, w.lost = subs.watches.filter()
	}
	return w
}

// stillWanted says what to listen to. If that is nothing, the session listens no more.
func (subs *subscriptions) stillWanted(s *conn.Session) (w wish, some bool) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	changed := subs.c.dispatcher.change() // before the look, so that no change is missed
	w = subs.wishes(s)
	w.changed = changed
	if !w.some() && subs.listening == s.Epoch {
		subs.listening = 0
	}
	return w, w.some()
}

// subscribe opens a subscription, of which the server has agreed on a part at least.
func (subs *subscriptions) subscribe(s *conn.Session, filter mcp.SubscriptionFilter) (*subscription, *Error) {
	sub := newSubscription(&subs.c.core, filter)
	sub.before, sub.anew = subs.last(s)
	if err := sub.OpenIn(s, subs.c.cfg.InitTimeout); err != nil {
		return nil, errorOf(err)
	}
	subs.mu.Lock()
	subs.latest = &opening{sub.Ref, s.Epoch, *subs.replaced()}
	subs.mu.Unlock()
	sub.stream = subs.c.core.Telemetry.StreamOpened(names.StreamListen)
	return sub, nil
}

// last names the request that has opened the latest subscription, if that was lost with an earlier session.
func (subs *subscriptions) last(s *conn.Session) (ref instrument.Ref, lost bool) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if subs.latest == nil || subs.latest.in == s.Epoch {
		return instrument.Ref{}, false
	}
	return subs.latest.by, true
}

// acknowledged tells the subscription that the server sends what it asks for.
func (subs *subscriptions) acknowledged(n *Notification) {
	var p mcp.SubscriptionsAcknowledgedParams
	var request mcp.RequestID
	if n.Decode(&p) != nil {
		return
	}
	if found, err := p.Meta.Decode(mcp.MetaSubscriptionID, &request); !found || err != nil {
		return
	}
	id, _ := request.Int()
	subs.c.core.Acknowledged(id, mcp.MethodSubscriptionsListen, func(by conn.Content) {
		if sub, own := by.(*subscription); own {
			sub.agreed = p.Notifications
		}
	})
}

// unwanted returns why a notification of a modern server reaches no handler, a Drop word of package names, or "". It
// must belong to a subscription of the client if its params or its method say so: on a stream that all share, that is
// how a client tells its subscriptions apart. (specification 2026-07-28, basic/patterns/subscriptions)
func (subs *subscriptions) unwanted(n *Notification) string {
	switch n.Method {
	case mcp.NotificationProgress, mcp.NotificationMessage: // of a request
		return ""
	case mcp.NotificationCancelled, mcp.NotificationSubscriptionsAcknowledged: // look for their request by themselves
		return ""
	}
	var request mcp.RequestID
	found, err := mcp.Meta(n.params.Meta).Decode(mcp.MetaSubscriptionID, &request)
	if !found && !onlySubscribed(n.Method) {
		return ""
	}
	id, ok := request.Int()
	if !found || err != nil || !ok || !subs.c.core.IsOpen(id) {
		return names.DropUnsubscribed
	}
	return subs.superseded(id, n)
}

// onlySubscribed reports whether a modern server sends notifications of a method to those only who have subscribed to
// them.
func onlySubscribed(method string) bool {
	switch method {
	case mcp.NotificationToolListChanged, mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged,
		mcp.NotificationResourceUpdated:
		return true
	}
	return false
}
