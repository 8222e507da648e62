package mcpclient

import (
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/conn"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
)

// relayedRequest is one request of the peer in front, and its content.
type relayedRequest struct {
	conn.Request
	c      *relayed
	params conn.PassedParams // as long as the request is being sent
	answer relay.Answer

	result json.RawMessage // in the frame of the answer
	err    error
}

func (q *relayedRequest) About() instrument.Request { return aboutRelayed(q.Method, &q.params) }

func (q *relayedRequest) Started() {}

func (q *relayedRequest) Encode(s *conn.Session) *conn.Fault {
	if q.Op.Captures() {
		q.Op.Arguments(q.params.Arguments)
	}
	if s.OverHTTP {
		if m, ok := mcp.Lookup(q.Method, s.Version); ok {
			q.Name = q.params.Target(m.Target)
		}
		q.Version = string(q.params.Version())
	}
	q.EncodePassed(&q.params)
	q.params = conn.PassedParams{} // which are not the client's
	return nil
}

// Receive is not called: see Heard.
func (q *relayedRequest) Receive(*conn.Session, *jsonrpc.Message) error { return nil }

func (q *relayedRequest) Ended(err *conn.Fault) instrument.Result { return err.Result() }

func (q *relayedRequest) Harmless() bool { return harmless[q.Method] }

func (q *relayedRequest) GivenUp(*conn.Session) bool { return false }

func (q *relayedRequest) Late() conn.LateAnswer { return nil }

// Heard takes the answer as it came. It is looked at once, and not copied.
func (q *relayedRequest) Heard(s *conn.Session, m *jsonrpc.Message) instrument.Result {
	if m.Kind == jsonrpc.Error {
		e, err := conn.PassedError(m)
		if err != nil {
			return q.unusable(m, err)
		}
		conn.OneLine(s, e.Object)
		q.err = e
		return (&conn.Fault{Kind: conn.KindJSONRPC, Op: q.Method, Server: e.Server}).Result()
	}
	r, err := readRelayedResult(m)
	if err != nil {
		return q.unusable(m, err)
	}
	conn.OneLine(s, r.raw)
	q.result = r.raw
	told := instrument.Result{ResultType: r.kind}
	if q.Method == mcp.MethodCallTool {
		told.ToolError = r.isError
		q.ToolResult(len(r.raw))
	}
	return told
}

// unusable notes that the answer is no JSON.
func (q *relayedRequest) unusable(m *jsonrpc.Message, err error) instrument.Result {
	fault := &conn.Fault{Kind: conn.KindProtocol, Op: q.Method, Cause: q.c.core.Refused(m, err)}
	q.err = errorOf(fault)
	return fault.Result()
}

// Answered passes the answer on.
func (q *relayedRequest) Answered() { q.answer(q.result, q.err) }

// Failed tells the peer in front that there is no answer.
func (q *relayedRequest) Failed(err *conn.Fault) { q.answer(nil, errorOf(err)) }

// relayedResult is a result as it came, and what telemetry tells of it.
type relayedResult struct {
	raw     json.RawMessage
	kind    string // resultType
	isError bool
}

// maxResultType is the longest type of a result that is told, in bytes.
const maxResultType = 64

// readRelayedResult validates the result of m on one walk, and takes it.
func readRelayedResult(m *jsonrpc.Message) (r relayedResult, err error) {
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
