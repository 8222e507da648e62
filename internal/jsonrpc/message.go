package jsonrpc

import (
	"bytes"
	"errors"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Kind is the kind of a message.
type Kind uint8

const (
	// Request has a method and an id, and requires a response.
	Request Kind = iota + 1
	// Notification has a method and no id.
	Notification
	// Result is a response with a result.
	Result
	// Error is a response with an error. Its id may be missing if the peer does not know which request failed.
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

// Message is a frame with a parsed envelope. One goroutine at a time owns a Message. Pass a Message on, but do not copy
// it: [Message.Consume] removes the bytes only from the Message on which it is called.
type Message struct {
	Kind   Kind
	ID     ID     // zero for a notification, and for an error response without an id
	Method string // empty for a response; does not refer to Frame
	Frame  []byte // argument of Parse; nil after Consume

	size       int  // length of the frame in bytes
	start, end int  // bounds of the middle in Frame
	checked    bool // whether the middle is known to be valid
}

// Broken returns a Message for a response of which only the head arrived. The Message has no middle and is not valid.
func Broken(head []byte) *Message { return &Message{Frame: head, size: len(head)} }

// Size returns the length of the frame in bytes, even after Consume.
func (m *Message) Size() int { return m.size }

// Middle returns the params, the result or the error for reading, from its opening bracket to its closing one. It
// returns nil for a message without params and after Consume. The capacity of the slice is its length, so appending to
// it cannot overwrite the rest of the frame.
//
// Unless Parse had to read the whole frame, these bytes are not validated and may be more than one value; see
// [Message.Consume].
func (m *Message) Middle() []byte {
	if m.Frame == nil || m.start == m.end {
		return nil
	}
	return m.Frame[m.start:m.end:m.end]
}

// Checked reports whether the middle is validated or absent.
func (m *Message) Checked() bool { return m.checked }

// Consume passes the middle to decode, which validates what it reads as one value and returns how many bytes it read.
// decode may overwrite these bytes and keep parts of them. The bytes may then look like other JSON, for example after
// strings are unescaped in place. So Consume works only once: after it, even after an error, Frame and Middle are nil.
// Read from Middle first if you need, for example, the type of a result.
//
// The error is a [*Violation] with the first bytes of the original frame. It wraps the error of decode (see
// [Message.Invalid]) or describes the problem behind the value. If decode stopped before the end of the middle, the
// frame may have an extension member of object type behind the value. Consume then reads the envelope again, without
// the consumed bytes, and requires the same kind and id.
//
// Consume rejects one kind of frame that a full scan would accept: a request with its id behind its params and before
// an extension member that is an object. Parse takes such a frame for a notification. The violation carries the id.
func (m *Message) Consume(decode func(middle []byte) (n int, err error)) error {
	frame, middle := m.Frame, m.Middle()
	var head [headSize]byte
	began := copy(head[:], frame)
	m.Frame = nil
	n, err := decode(middle)
	if err != nil {
		err = m.Invalid(err)
	} else {
		err = m.settle(frame, n)
	}
	if v, ok := err.(*Violation); ok {
		v.Head = bytes.Clone(head[:began])
	}
	return err
}

// headSize is the number of leading bytes of a frame that a Violation keeps. Telemetry distinguishes frames by these
// bytes.
const headSize = 64

// settle records that a decoder read the first n bytes of the middle as one value. frame is the argument of Parse. If n
// is the length of the middle, the frame is valid JSON. Otherwise settle scans the rest; see [Message.Consume].
func (m *Message) settle(frame []byte, n int) error {
	if n == m.end-m.start {
		m.checked = true
		return nil
	}
	whole, err := scan(frame, m.start, n)
	if err != nil {
		return err
	}
	if whole.Kind != m.Kind || whole.ID != m.ID || whole.end != m.start+n {
		return whole.violation(InvalidEnvelope, m.start+n)
	}
	m.end, m.checked = whole.end, true
	return nil
}

// Check validates the middle unless it is validated already. It returns nil if the frame is a valid message, otherwise
// a [*Violation].
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
	return m.settle(m.Frame, end-m.start)
}

// Invalid returns the violation for a middle that its decoder rejected with err. An offset in err counts from the
// beginning of the middle. If err wraps a [*jsonscan.SyntaxError], the reason is invalid JSON or too deep. If err wraps
// a [*Violation], the reason is the reason of that violation. Otherwise the reason is invalid params, result or error,
// depending on the kind of m.
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

// ViolationOf converts err, an error of reading m, to a violation. It returns the violation that err wraps, or else the
// result of [Message.Invalid]. m may be nil if err wraps a violation.
func ViolationOf(m *Message, err error) *Violation {
	if v, ok := errors.AsType[*Violation](err); ok {
		return v
	}
	return m.Invalid(err)
}

// middleReason returns the reason for a middle of the wrong type or shape.
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

// address copies the id, the method and the direction of m into v.
func (m *Message) address(v *Violation) {
	v.ID, v.Method, v.Response = m.ID, m.Method, m.Kind == Result || m.Kind == Error
}
