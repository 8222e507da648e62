package mcpclient

import (
	"reflect"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// subscription is one subscriptions/listen, and the content of this request. It belongs to the listener of its session.
// (specification 2026-07-28, basic/patterns/subscriptions)
type subscription struct {
	conn.Request
	filter mcp.SubscriptionFilter
	// the request that opened the latest subscription, if that was lost with an earlier session
	before instrument.Ref
	anew   bool                   // it was
	agreed mcp.SubscriptionFilter // what the server has acknowledged; belongs to the reader of the connection before that
	stream func(error)            // tells the telemetry how it has ended
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

// covers reports whether sub, nil for none, is about all that f is about.
func (sub *subscription) covers(f *mcp.SubscriptionFilter) bool {
	return sub != nil &&
		(sub.filter.ToolsListChanged || !f.ToolsListChanged) &&
		(sub.filter.PromptsListChanged || !f.PromptsListChanged) &&
		(sub.filter.ResourcesListChanged || !f.ResourcesListChanged) &&
		len(without(f.ResourceSubscriptions, sub.filter.ResourceSubscriptions)) == 0
}

// is reports whether the subscription, nil for none, is about f and nothing else.
func (sub *subscription) is(f *mcp.SubscriptionFilter) bool {
	return sub != nil && reflect.DeepEqual(*f, sub.filter)
}

// close ends the subscription, nil for none, and reports whether it had ended before by itself.
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

// over tells the telemetry how the subscription has ended by itself.
func (sub *subscription) over(o conn.Outcome) {
	sub.HangUp(o)
	switch {
	case o.Cause != 0:
		sub.stream(sub.Failed(o))
	case o.Message.Kind == jsonrpc.Error:
		e, _ := conn.DecodeError(&o.Message) // what could be read is enough
		sub.stream(&conn.Fault{Kind: conn.KindJSONRPC, Op: sub.Method, Server: e})
	default:
		sub.stream(nil)
	}
}
