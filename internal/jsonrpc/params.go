package jsonrpc

import "github.com/mcpotel/mcpotel/internal/jsonscan"

// Params are the parts of a request's or notification's params that are needed before the params are decoded. All parts
// are valid raw JSON in the memory of the frame, and the capacity of each part is its length. A part that is missing or
// null is nil. The types of the parts are not checked; read them with [Text] and [ParseID].
type Params struct {
	Meta      []byte // _meta, an object
	Name      []byte // name of the tool or the prompt
	Arguments []byte
	URI       []byte

	Task []byte // parameters of the task that the caller asks for (revision 2025-11-25)

	InputResponses []byte // answers to the server's questions in a retried request (revision 2026-07-28)
	RequestState   []byte // state that the server sent with its questions (revision 2026-07-28)

	ProgressToken []byte // this and all following parts are members of _meta
	Traceparent   []byte
	Tracestate    []byte
	Baggage       []byte

	ProtocolVersion    []byte // in _meta, these names begin with io.modelcontextprotocol/ (revision 2026-07-28)
	ClientInfo         []byte
	ClientCapabilities []byte
	LogLevel           []byte
	SubscriptionID     []byte
}

// Modern reports whether _meta has a member that only modern requests have. One such member is enough, even if others
// are missing. (specification 2026-07-28, basic/versioning, "Backward Compatibility with Initialization-Based
// Versions")
func (p *Params) Modern() bool {
	return p.ProtocolVersion != nil || p.ClientCapabilities != nil || p.ClientInfo != nil || p.LogLevel != nil
}

// Params validates the params of a request or notification in one pass and returns their parts, or the zero Params if
// the message has no params. If Params returns no error, the whole Message has been validated, as by [Message.Check].
// The error is a [*Violation], for example for a duplicate part or a _meta that is not an object.
func (m *Message) Params() (Params, error) {
	var p Params
	if m.start == m.end {
		return p, nil
	}
	n, err := p.read(m.Middle())
	if err != nil {
		return Params{}, m.Invalid(err)
	}
	if err := m.settle(m.Frame, n); err != nil {
		return Params{}, err
	}
	return p, nil
}

// read reads the parts from the object at the beginning of b and returns its length.
func (p *Params) read(b []byte) (n int, err error) {
	var seen jsonscan.Seen
	o := jsonscan.ObjectAt(b, 0)
	for o.Next() {
		switch string(o.Key()) {
		case "_meta":
			if first(&o, &seen, 0) && !o.Null() {
				o.Take(p.readMeta(b, o.At()))
				p.Meta = b[o.At():o.End():o.End()]
			}
		case "name":
			take(&o, &p.Name, &seen, 1)
		case "arguments":
			take(&o, &p.Arguments, &seen, 2)
		case "uri":
			take(&o, &p.URI, &seen, 3)
		case "inputResponses":
			take(&o, &p.InputResponses, &seen, 4)
		case "requestState":
			take(&o, &p.RequestState, &seen, 5)
		case "task":
			take(&o, &p.Task, &seen, 6)
		}
	}
	return o.End(), o.Err()
}

// readMeta reads the parts from the _meta object at b[i].
func (p *Params) readMeta(b []byte, i int) (end int, err error) {
	var seen jsonscan.Seen
	o := jsonscan.ObjectAt(b, i)
	for o.Next() {
		switch string(o.Key()) {
		case "progressToken":
			take(&o, &p.ProgressToken, &seen, 0)
		case "traceparent":
			take(&o, &p.Traceparent, &seen, 1)
		case "tracestate":
			take(&o, &p.Tracestate, &seen, 2)
		case "baggage":
			take(&o, &p.Baggage, &seen, 3)
		case "io.modelcontextprotocol/protocolVersion":
			take(&o, &p.ProtocolVersion, &seen, 4)
		case "io.modelcontextprotocol/clientInfo":
			take(&o, &p.ClientInfo, &seen, 5)
		case "io.modelcontextprotocol/clientCapabilities":
			take(&o, &p.ClientCapabilities, &seen, 6)
		case "io.modelcontextprotocol/logLevel":
			take(&o, &p.LogLevel, &seen, 7)
		case "io.modelcontextprotocol/subscriptionId":
			take(&o, &p.SubscriptionID, &seen, 8)
		}
	}
	return o.End(), o.Err()
}

// take stores the current member of o in part. n is the number of the member in seen.
func take(o *jsonscan.Object, part *[]byte, seen *jsonscan.Seen, n uint) {
	if first(o, seen, n) && !o.Null() {
		*part = o.Raw()
	}
}

// first reports whether the member with the number n is new, and otherwise ends the iteration with a violation.
func first(o *jsonscan.Object, seen *jsonscan.Seen, n uint) bool {
	if seen.Again(n) {
		o.Fail(&Violation{Reason: DuplicateMember, Offset: o.KeyAt()})
		return false
	}
	return true
}
