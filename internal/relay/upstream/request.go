package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// request is a request of the peer in front.
type request struct {
	conn.Request
	c        *Server
	ctx      context.Context
	params   params // set while the request is being sent
	answer   relay.Answer
	heard    uint64          // value of Server.heard when this request was sent
	before   instrument.Ref  // span of the lost request that this one replaces
	corr     instrument.Corr // correlation id of the lost request that this one replaces
	replaces bool            // this request replaces a lost one
	head     int             // size of the frame before the params
	token    jsonrpc.ID      // token of the server's progress notifications; zero for none
	given    jsonrpc.ID      // progress token that the peer in front has chosen

	// The following fields are for subscriptions/listen.
	id      json.RawMessage // id that the peer in front chose; nil for none, and for other requests
	noted   bool            // the request is reopened when it is lost
	open    bool            // guarded by restored.mu; the server has acknowledged the subscription
	reopens bool            // the server acknowledged the subscription in an earlier session
	pause   time.Duration   // pause before the subscription was reopened

	answered bool         // the server has answered
	result   result       // points into the frame of the answer
	refused  *relay.Error // points into the frame of the answer; nil for none
}

func (q *request) About() instrument.Request {
	r := about(q.Method, &q.params)
	r.Corr, r.Link, r.Reissue = q.corr, q.before, q.replaces
	return r
}

func (q *request) Started() {}

func (q *request) Encode(s *conn.Session) *conn.Fault {
	if q.Op.Captures() {
		q.Op.Arguments(q.params.Arguments)
	}
	if s.OverHTTP {
		if m, ok := mcp.Lookup(q.Method, s.Version); ok {
			q.Name = q.params.Target(m.Target)
		}
		q.Version = string(q.params.Version())
	}
	if s.OwnStreams && q.Method == mcp.MethodCallTool && q.Header == nil {
		q.Header = q.c.tools.header(q.Name, q.params.Arguments)
	}
	q.heard = q.c.heard.Load()
	q.c.wishes.enter(q)
	q.encode()
	q.params = params{} // the memory of the params is valid only until the request is sent
	if q.id != nil {
		q.c.restored.opens(q)
	}
	return nil
}

// Ended describes the end of the request for telemetry. The request counts as ended by a shutdown if it was cancelled
// because the relay stopped or because the peer in front left.
func (q *request) Ended(err *conn.Fault) instrument.Result {
	switch {
	case err == nil && q.Method == mcp.MethodCallTool:
		q.Op.Result(len(q.result.raw))
		return instrument.Result{ResultType: q.result.kind, ToolError: q.result.isError}
	case err == nil:
		return instrument.Result{ResultType: q.result.kind}
	case err.Kind != conn.KindCancelled:
		return err.Result()
	}
	if why := context.Cause(q.ctx); why == relay.ErrStopping || why == relay.ErrLeft {
		err = &conn.Fault{Kind: conn.KindShutdown, Op: err.Op, Unsent: err.Unsent, Cause: err.Cause}
	}
	return err.Result()
}

func (q *request) Harmless() bool { return methods.Harmless(q.Method) }

func (q *request) GivenUp(_ *conn.Session, reason string) (string, bool) {
	if reason == conn.ByCaller {
		reason = relay.ReasonOf(q.ctx)
	}
	return reason, true
}

func (q *request) Late() conn.LateAnswer { return nil }

// Receive stores the result unchanged. It reads the result in one pass, without a copy.
func (q *request) Receive(s *conn.Session, m *jsonrpc.Message) error {
	q.answered = true
	r, err := readResult(m)
	if err != nil {
		return err
	}
	oneLine(s, r.raw)
	q.result = r
	switch q.Method {
	case mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		q.c.restored.done(q.Method, q.sent())
	case mcp.MethodListTools:
		if s.OwnStreams {
			q.c.tools.learn(r.raw)
		}
	}
	return nil
}

// ReceiveError stores an error unchanged.
func (q *request) ReceiveError(s *conn.Session, m *jsonrpc.Message) (*mcp.Error, error) {
	q.answered = true
	if err := m.Check(); err != nil {
		return nil, err
	}
	q.refused = passedError(m)
	oneLine(s, q.refused.Object)
	return q.refused.Server, nil
}

// Completed passes the answer to the peer in front, or reports why there is none.
func (q *request) Completed(err *conn.Fault) {
	if !q.answered {
		q.failed(err)
		return
	}
	q.c.wishes.leave(q, true)
	if q.noted {
		q.c.restored.closes(q)
	}
	switch {
	case q.refused != nil:
		q.answer(nil, q.refused)
	case err != nil:
		q.answer(nil, err)
	case q.id != nil:
		q.answer(withSubscription(q.result.raw, q.id), nil)
	default:
		q.answer(q.result.raw, nil)
	}
}

// failed reports to the peer in front that there is no answer, unless the request can be repeated.
func (q *request) failed(err *conn.Fault) {
	q.c.wishes.leave(q, false)
	switch {
	case q.noted && errors.Is(err, conn.ErrConnectionLost) && q.lost():
	case q.noted && !q.c.restored.closes(q): // the goroutine that removed the request continues with it
	case q.repeatable(err):
		q.repeat()
	default:
		q.answer(nil, errorFor(err))
	}
}

// repeatable reports whether the request may be repeated. The connection must be lost, and either the server has not
// received the request, or the request is idempotent and the server has sent nothing that may belong to it. So a person
// is never asked twice.
func (q *request) repeatable(err *conn.Fault) bool {
	return !q.replaces && !q.Own && q.Frame != nil && errors.Is(err, conn.ErrConnectionLost) && q.ctx.Err() == nil &&
		(err.Unsent || q.Harmless() && q.heard == q.c.heard.Load())
}

// repeat repeats the request.
func (q *request) repeat() {
	next := q.again()
	next.start()
}

// again returns a request that replaces the lost request q.
func (q *request) again() *request {
	next := q.c.newRequest(q.ctx, q.Method, q.answer)
	next.corr, next.before, next.replaces = q.Corr, q.Ref, true
	next.params, next.Header, next.id, next.given = q.sent(), q.Header, q.id, q.given
	return next
}

// errorFor returns the error for the peer in front.
func errorFor(err *conn.Fault) error {
	if why, ok := errors.AsType[*conn.CancelledByServer](err); ok {
		return &relay.Cancelled{Reason: why.Reason}
	}
	return err
}

// result is an unchanged result, with the members that telemetry records.
type result struct {
	raw     json.RawMessage
	kind    string // resultType
	isError bool
}

// maxResultType bounds the recorded type of a result, in bytes.
const maxResultType = 64

// readResult validates the result of m in one pass, and returns it.
func readResult(m *jsonrpc.Message) (r result, err error) {
	err = m.Consume(func(middle []byte) (int, error) {
		o := jsonscan.ObjectAt(middle, 0)
		for o.Next() {
			switch string(o.Key()) {
			case "resultType":
				r.kind, _ = jsonrpc.Text(o.Raw())
				r.kind = conn.Excerpt(r.kind, maxResultType)
			case "isError":
				r.isError = string(o.Raw()) == "true"
			}
		}
		if o.Err() != nil {
			return 0, o.Err()
		}
		r.raw = middle[:o.End():o.End()]
		return o.End(), nil
	})
	return r, err
}
