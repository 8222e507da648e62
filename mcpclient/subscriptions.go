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

// subscriptions holds the changes that the server reports to the client: changes of lists that have handlers, and of
// resources that the user is subscribed to. In a modern session, a listener keeps one subscription for all of them open
// (listen.go). A legacy server reports changes of lists without a subscription, and needs one request for each resource
// (subscribe.go).
type subscriptions struct {
	c       *Client
	watches watches
	asked   atomic.Uint32 // lists that the client has requested, one bit each: [toolsAsked] and so on

	mu        sync.Mutex // locked before the mutex of [conn.Conn]
	listening uint64     // epoch of the session with a listener; 0 for none; guarded by mu
	refused   *refusal   // latest refusal by a server; nil for none; guarded by mu
	latest    *opening   // the latest subscription; nil before the first; guarded by mu
}

// opening is the state of the latest subscription: the request that opened it, the epoch of its session, and the
// replaced subscriptions that the client still reads, the oldest first. A client that has never subscribed has no
// opening, which saves memory.
type opening struct {
	by       instrument.Ref
	in       uint64
	replaced []*replaced
}

// replaced returns the list of replaced subscriptions that the client still reads. The caller holds mu.
func (subs *subscriptions) replaced() *[]*replaced {
	if subs.latest == nil {
		subs.latest = new(opening)
	}
	return &subs.latest.replaced
}

// Bits for the lists with change notifications.
const (
	toolsAsked = 1 << iota
	promptsAsked
	resourcesAsked
)

// asks records that the client requests a list, if method requests one.
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

// refusal is the error of a server that accepts no subscriptions in one session.
type refusal struct {
	epoch uint64
	err   *Error
}

// wish is the set of changes that the server should report in a session.
type wish struct {
	filter  mcp.SubscriptionFilter
	asked   bool            // a caller waits for the server's answer
	lost    []string        // resources on which the server did not agree last time
	changed <-chan struct{} // closed when the wish may have changed
}

// some reports whether the wish contains any change.
func (w *wish) some() bool {
	f := &w.filter
	return f.ToolsListChanged || f.PromptsListChanged || f.ResourcesListChanged || len(f.ResourceSubscriptions) > 0
}

// fulfilled reports whether the subscription covers exactly the wish, and no caller waits for an answer.
func (w *wish) fulfilled(by *subscription) bool { return !w.asked && by.is(&w.filter) }

// listenIfWanted starts to listen for changes in session s, if the client wants any and does not listen yet.
func (subs *subscriptions) listenIfWanted(s *conn.Session) {
	if s == conn.NoSession || !s.Era.Subscribes() || subs.c.cfg.NoListening {
		return
	}
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if w := subs.wishes(s); subs.listening == s.Epoch || !w.some() {
		return
	}
	if subs.c.core.During(s, func() { subs.listen(s) }) { // the goroutine ends with the session, or when the wish is empty
		subs.listening = s.Epoch
	}
}

// unavailable returns an error if the client cannot subscribe to resources in session s.
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

var errNotListening = errors.New("the client does not listen for changes: Options.NoListening is set " +
	`("listen": false in the configuration file)`)

// begin ensures that the client listens in session s. If the server has refused, begin returns its error.
func (subs *subscriptions) begin(s *conn.Session) *Error {
	subs.listenIfWanted(s)
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if r := subs.refused; r != nil && r.epoch == s.Epoch {
		return r.err
	}
	return nil
}

// refusedBy records that the server of session s accepts no subscriptions.
func (subs *subscriptions) refusedBy(s *conn.Session, err *Error) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	subs.refused = &refusal{s.Epoch, err}
}

// wishes returns the changes that the client has handlers for or is subscribed to, and that the server can report.
func (subs *subscriptions) wishes(s *conn.Session) (w wish) {
	w.filter = subs.c.dispatcher.wanted(&s.Capabilities)
	if hasSubscribing(&s.Capabilities) {
		w.filter.ResourceSubscriptions, w.asked, w.lost = subs.watches.filter()
	}
	return w
}

// stillWanted returns the present wish. If it is empty, stillWanted records that the session no longer listens.
func (subs *subscriptions) stillWanted(s *conn.Session) (w wish, some bool) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	changed := subs.c.dispatcher.change() // read before the wish, so that no change is missed
	w = subs.wishes(s)
	w.changed = changed
	if !w.some() && subs.listening == s.Epoch {
		subs.listening = 0
	}
	return w, w.some()
}

// subscribe opens a subscription and waits until the server has agreed to at least a part of it.
func (subs *subscriptions) subscribe(s *conn.Session, filter mcp.SubscriptionFilter) (*subscription, *Error) {
	sub := newSubscription(&subs.c.core, filter)
	sub.before, sub.anew = subs.last(s)
	if err := sub.OpenIn(s, subs.c.cfg.Timeouts.Init); err != nil {
		return nil, errorOf(err)
	}
	subs.mu.Lock()
	subs.latest = &opening{sub.Ref, s.Epoch, *subs.replaced()}
	subs.mu.Unlock()
	sub.stream = subs.c.core.Telemetry.StreamOpened(names.StreamListen)
	return sub, nil
}

// last returns the request of the latest subscription, if that subscription was lost with an earlier session.
func (subs *subscriptions) last(s *conn.Session) (ref instrument.Ref, lost bool) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if subs.latest == nil || subs.latest.in == s.Epoch {
		return instrument.Ref{}, false
	}
	return subs.latest.by, true
}

// acknowledged records the acknowledgement of a subscription.
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

// unwanted returns the reason why a notification of a modern server must not reach a handler: a Drop constant of
// package names, or "" to pass the notification on. A notification that names a subscription, or whose method needs a
// subscription, must belong to an open subscription of this client. On a shared stream, a client distinguishes its
// subscriptions by their IDs. (specification 2026-07-28, basic/patterns/subscriptions)
func (subs *subscriptions) unwanted(n *Notification) string {
	switch n.Method {
	case mcp.NotificationProgress, mcp.NotificationMessage: // these belong to a request, not to a subscription
		return ""
	case mcp.NotificationCancelled, mcp.NotificationSubscriptionsAcknowledged: // these identify their request themselves
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

// onlySubscribed reports whether a modern server sends notifications of this method to subscribers only.
func onlySubscribed(method string) bool {
	switch method {
	case mcp.NotificationToolListChanged, mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged,
		mcp.NotificationResourceUpdated:
		return true
	}
	return false
}
