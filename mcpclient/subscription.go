package mcpclient

import (
	"reflect"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// subscription is one subscriptions/listen request and its content. The listener of its session owns it.
// (specification 2026-07-28, basic/patterns/subscriptions)
type subscription struct {
	conn.Request
	filter mcp.SubscriptionFilter
	// request of the previous subscription, if that was lost with an earlier session
	before instrument.Ref
	anew   bool                   // before is set
	agreed mcp.SubscriptionFilter // acknowledged by the server; until then owned by the reader of the connection
	stream func(error)            // reports the end to the telemetry
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

// close ends the subscription and reports whether it had already ended by itself. sub may be nil.
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

// over reports the end of a subscription that has ended by itself to the telemetry.
func (sub *subscription) over(o conn.Outcome) {
	sub.HangUp(o)
	switch {
	case o.Cause != 0:
		sub.stream(sub.Failed(o))
	case o.Message.Kind == jsonrpc.Error:
		e, _ := conn.DecodeError(&o.Message) // a partly valid error is enough
		sub.stream(&conn.Fault{Kind: conn.KindJSONRPC, Op: sub.Method, Server: e})
	default:
		sub.stream(nil)
	}
}
