package mcpclient

import (
	"reflect"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
)

// subscription is one subscriptions/listen, and the content of this request. It belongs to the listener of its session.
// (specification 2026-07-28, basic/patterns/subscriptions)
type subscription struct {
	request
	filter mcp.SubscriptionFilter
	// the request that opened the latest subscription, if that was lost with an earlier session
	before instrument.Ref
	anew   bool                   // it was
	agreed mcp.SubscriptionFilter // what the server has acknowledged; belongs to the reader of the connection before that
	stream func(error)            // tells the telemetry how it has ended
}

func newSubscription(c *core, filter mcp.SubscriptionFilter) *subscription {
	sub := &subscription{request: newRequest(c), filter: filter}
	sub.content, sub.method, sub.own, sub.opened = sub, mcp.MethodSubscriptionsListen, true, make(chan struct{}, 1)
	return sub
}

func (sub *subscription) about() instrument.Request {
	return instrument.Request{Method: sub.method, Link: sub.before, Reissue: sub.anew}
}

func (sub *subscription) started() {}

func (sub *subscription) encode(s *session) *fault {
	params, err := mcp.AppendParams(nil, &mcp.SubscriptionsListenParams{Notifications: sub.filter})
	if err == nil {
		err = sub.write(jsonrpc.AppendRequest, s, nil, params)
	}
	if err != nil {
		return &fault{Kind: kindInvalid, Op: sub.method, Unsent: true, Cause: err}
	}
	return nil
}

func (sub *subscription) receive(s *session, m *jsonrpc.Message) error {
	kind, err := s.era.resultType(m.Middle())
	switch {
	case err != nil:
		return err
	case kind != mcp.ResultComplete && kind != "":
		return &resultTypeError{kind}
	}
	return decodeResult(m, nil)
}

func (sub *subscription) ended(err *fault) instrument.Result { return err.result() }

func (sub *subscription) harmless() bool { return true }

func (sub *subscription) givenUp(*session) bool { return false }

func (sub *subscription) late() lateAnswer { return nil }

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
	o, _ := sub.leave(sub.session.ctx)
	if over = o.decided(); over {
		sub.over(o)
	} else {
		sub.stream(nil)
	}
	return over
}

// over tells the telemetry how the subscription has ended by itself.
func (sub *subscription) over(o outcome) {
	sub.hangUp(o)
	switch {
	case o.cause != 0:
		sub.stream(sub.failed(o))
	case o.message.Kind == jsonrpc.Error:
		e, _ := decodeError(&o.message) // what could be read is enough
		sub.stream(&fault{Kind: kindJSONRPC, Op: sub.method, Server: e})
	default:
		sub.stream(nil)
	}
}
