package jsonrpc

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Kind is what a message is.
type Kind uint8

const (
	// Request has a method and an id, and is to be answered.
	Request Kind = iota + 1
	// Notification has a method and no id.
	Notification
	// Result is a response with a result.
	Result
	// Error is a response with an error; its id may be missing, when the peer could not tell which request failed.
	Error
)

// String returns the word for k in telemetry: request, notification, response or error.
func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Result:
		return "response"
	case Error:
		return "error"
	}
	return "_OTHER"
}

// Message is a frame whose envelope has been read. It is owned by one goroutine at a time.
type Message struct {
	Kind   Kind
	ID     ID     // zero for a notification, and for an error response without an id
	Method string // empty for a response; has memory of its own
	Frame  []byte // what Parse was given

	start, end int  // the middle in Frame
	checked    bool // the middle is valid
}

// Middle returns the params, the result or the error, from its opening bracket to its closing one; nil for a message
// without params. The capacity is cut, so that appending to it cannot overwrite what follows in the frame.
//
// Unless Parse had to look at the whole frame, nobody has validated these bytes, and they may be more than one value; see
// [Message.Settle].
func (m *Message) Middle() []byte {
	if m.start == m.end {
		return nil
	}
	return m.Frame[m.start:m.end:m.end]
}

// Checked reports whether the middle has been validated, or there is none.
func (m *Message) Checked() bool { return m.checked }

// Settle is told that a decoder which validates what it reads has consumed n bytes of the middle as one value. If that is
// all of it, the frame is valid JSON and Settle returns nil. If the decoder stopped before the end, the frame may have an
// extension member of object type behind the value; then the envelope is read again without looking into the consumed
// bytes, which a decoder working in place has overwritten. It must turn out to be the same message; the error, otherwise,
// is a [*Violation].
//
// So one kind of frame is refused that a scan of the whole would accept: a request whose id stands behind its params and
// in front of an extension member that is an object, for Parse took it for a notification. The violation carries the id.
func (m *Message) Settle(n int) error {
	if n == m.end-m.start {
		m.checked = true
		return nil
	}
	whole, err := scan(m.Frame, m.start, n)
	if err != nil {
		return err
	}
	if whole.Kind != m.Kind || whole.ID != m.ID || whole.end != m.start+n {
		return whole.violation(InvalidEnvelope, m.start+n)
	}
	*m = whole
	return nil
}

// Check validates a middle that nobody has looked at. It returns nil if the frame is a valid message, a [*Violation]
// otherwise.
func (m *Message) Check() error {
	if m.checked {
		return nil
	}
	end, err := jsonscan.Value(m.Frame, m.start)
	if err != nil {
		v := located(err, 0)
		m.address(v)
		return v
	}
	return m.Settle(end - m.start)
}

// Invalid returns the violation for a middle that its decoder refused with err, whose offset, if it has one, counts from
// the beginning of the middle: invalid JSON if err holds a [*jsonscan.SyntaxError], the same reason if it holds a
// [*Violation], else invalid params, result or error.
func (m *Message) Invalid(err error) *Violation {
	v := located(err, m.start)
	if inner, ok := errors.AsType[*Violation](err); ok {
		*v = *inner
		v.Offset += m.start
	}
	if v.Reason == 0 {
		v.Reason = m.Kind.middleReason()
	}
	m.address(v)
	return v
}

// middleReason returns the reason for a middle of the wrong shape.
func (k Kind) middleReason() Reason {
	switch k {
	case Result:
		return InvalidResult
	case Error:
		return InvalidError
	}
	return InvalidParams
}

func (m *Message) violation(r Reason, offset int) *Violation {
	v := &Violation{Reason: r, Offset: offset}
	m.address(v)
	return v
}

// address writes on v whom it concerns.
func (m *Message) address(v *Violation) {
	v.ID, v.Method, v.Response = m.ID, m.Method, m.Kind == Result || m.Kind == Error
}
