package mcpclient

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// subscription is one subscriptions/listen request. The listener of its session owns it. (specification 2026-07-28,
// basic/patterns/subscriptions)
type subscription struct {
	conn.Request
	filter mcp.SubscriptionFilter
	// request of the previous subscription, if that was lost with an earlier session
	before instrument.Ref
	anew   bool                   // before is set
	agreed mcp.SubscriptionFilter // filter that the server acknowledged; before that, owned by the connection's reader
	stream func(error)            // reports the end of the subscription to the telemetry
}

func newSubscription(c *conn.Conn, filter mcp.SubscriptionFilter) *subscription {
	sub := &subscription{Request: conn.NewRequest(c), filter: filter}
	sub.Content, sub.Method, sub.Own, sub.Opened = sub, mcp.MethodSubscriptionsListen, true, make(chan struct{}, 1)
	return sub
}

func (sub *subscription) About() instrument.Request {
	return instrument.Request{Method: sub.Method, Link: sub.before, Reissue: sub.anew}
}

func (sub *subscription) Started() {}

func (sub *subscription) Encode(s *conn.Session) *conn.Fault {
	params, err := mcp.AppendParams(nil, &mcp.SubscriptionsListenParams{Notifications: sub.filter})
	if err == nil {
		err = sub.Write(jsonrpc.AppendRequest, s, nil, params)
	}
	if err != nil {
		return &conn.Fault{Kind: conn.KindInvalid, Op: sub.Method, Unsent: true, Cause: err}
	}
	return nil
}

func (sub *subscription) Receive(s *conn.Session, m *jsonrpc.Message) error {
	kind, err := s.Era.ResultType(m.Middle())
	switch {
	case err != nil:
		return err
	case kind != mcp.ResultComplete && kind != "":
		return &conn.ResultTypeError{Kind: kind}
	}
	return conn.DecodeResult(m, nil)
}

func (sub *subscription) Ended(err *conn.Fault) instrument.Result { return err.Result() }

func (sub *subscription) Harmless() bool { return true }

func (sub *subscription) ReceiveError(_ *conn.Session, m *jsonrpc.Message) (*mcp.Error, error) {
	return conn.DecodeError(m)
}

func (sub *subscription) GivenUp(_ *conn.Session, reason string) (string, bool) { return reason, true }

func (sub *subscription) Late() conn.LateAnswer { return nil }

// covers reports whether sub includes everything in f. sub may be nil.
func (sub *subscription) covers(f *mcp.SubscriptionFilter) bool {
	return sub != nil &&
		(sub.filter.ToolsListChanged || !f.ToolsListChanged) &&
		(sub.filter.PromptsListChanged || !f.PromptsListChanged) &&
		(sub.filter.ResourcesListChanged || !f.ResourcesListChanged) &&
		len(without(f.ResourceSubscriptions, sub.filter.ResourceSubscriptions)) == 0
}

// is reports whether the filter of sub equals f. sub may be nil.
func (sub *subscription) is(f *mcp.SubscriptionFilter) bool {
	return sub != nil && reflect.DeepEqual(*f, sub.filter)
}

// close ends the subscription, and reports whether it had already ended by itself. sub may be nil.
func (sub *subscription) close() (over bool) {
	if sub == nil {
		return false
	}
	o, over := sub.Leave(sub.Session.Ctx)
	if over {
		sub.over(o)
	} else {
		sub.stream(nil)
	}
	return over
}

// over reports to the telemetry that the subscription has ended by itself.
func (sub *subscription) over(o conn.Outcome) {
	sub.HangUp(o)
	switch {
	case o.Cause != 0:
		sub.stream(sub.Failed(o))
	case o.Message.Kind == jsonrpc.Error:
		e, _ := conn.DecodeError(&o.Message) // a partly valid error is sufficient
		sub.stream(&conn.Fault{Kind: conn.KindJSONRPC, Op: sub.Method, Server: e})
	default:
		sub.stream(nil)
	}
}

// overlap is the time for which the client still reads a subscription after another one has replaced it. The
// acknowledgement of the new subscription may overtake an update on the old one: over HTTP each subscription has its
// own stream, and a proxy may reorder messages of any two subscriptions.
const overlap = 5 * time.Second

// maxReplaced is the maximum number of replaced subscriptions that a client reads at the same time.
const maxReplaced = 4

// replaced is a subscription that another one has replaced, and that the client still reads.
type replaced struct {
	sub   *subscription
	cut   chan struct{}   // closed to end the subscription before overlap has passed
	heard map[string]bool // changes that a newer subscription reported, by method and URI; guarded by subscriptions.mu
}

// replace reads sub until overlap has passed, after another subscription has replaced it in session s. If sub ends
// early, the client may have missed changes.
func (subs *subscriptions) replace(s *conn.Session, sub *subscription) {
	r := &replaced{sub: sub, cut: make(chan struct{}), heard: map[string]bool{}}
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if !subs.c.core.During(s, func() { subs.readOut(s, r) }) { // the goroutine ends after overlap
		sub.close()
		return
	}
	all := subs.replaced()
	if *all = append(*all, r); len(*all) > maxReplaced {
		close((*all)[0].cut)
		*all = slices.Delete(*all, 0, 1)
	}
}

// readOut waits until a replaced subscription ends, and closes it when overlap has passed.
func (subs *subscriptions) readOut(s *conn.Session, r *replaced) {
	t := time.NewTimer(overlap)
	defer t.Stop()
	var missed bool
	select {
	case <-t.C:
		r.sub.close()
	case <-r.cut:
		missed = !r.sub.close()
	case <-s.Ctx.Done():
		r.sub.close()
	case o := <-r.sub.Outcome:
		r.sub.over(o)
		missed = o.Cause != 0
	}
	subs.mu.Lock()
	all := subs.replaced()
	*all = slices.DeleteFunc(*all, func(other *replaced) bool { return other == r })
	w := subs.wishes(s)
	subs.mu.Unlock()
	if missed && s.Ctx.Err() == nil { // otherwise the next session reports the gap
		subs.c.missed(names.GapReplacement, w.filter)
	}
}

// superseded returns the reason to drop a notification of the subscription with this id: a Drop constant of package
// names, or "" to keep the notification. The client drops a change from a replaced subscription if a newer subscription
// has reported the change since, or if the user no longer wants the resource.
func (subs *subscriptions) superseded(id int64, n *Notification) string {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if subs.latest == nil {
		return ""
	}
	for _, r := range subs.latest.replaced {
		if r.sub.ID > id || !r.brings(n) {
			continue
		}
		change := n.Method + n.uri
		switch {
		case r.sub.ID < id:
			r.heard[strings.Clone(change)] = true
		case r.heard[change]:
			return names.DropCoalesced
		case n.uri != "" && !subs.watches.wants(n.uri):
			return names.DropUnsubscribed
		}
	}
	return ""
}

// brings reports whether r may also report the change in n: a change of any list, or of a resource in the filter of r.
// It returns false for a part of such a resource.
func (r *replaced) brings(n *Notification) bool {
	if n.Method != mcp.NotificationResourceUpdated {
		return onlySubscribed(n.Method)
	}
	_, found := slices.BinarySearch(r.sub.filter.ResourceSubscriptions, n.uri)
	return found
}
