package jsonrpc

import (
	"bytes"
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

// Message is a frame whose envelope has been read. It is owned by one goroutine at a time, and moved rather than
// copied: [Message.Consume] takes the bytes from the Message it is called on.
type Message struct {
	Kind   Kind
	ID     ID     // zero for a notification, and for an error response without an id
	Method string // empty for a response; has memory of its own
	Frame  []byte // what Parse was given; nil once it has been consumed

	size       int  // of the frame
	start, end int  // the middle in Frame
	checked    bool // the middle is valid
}

// Broken returns a Message for a response of which nothing but the head is there. It has no middle and is not valid.
func Broken(head []byte) *Message { return &Message{Frame: head, size: len(head)} }

// Size returns the length of the frame in bytes, also when it has been consumed.
func (m *Message) Size() int { return m.size }

// Middle returns the params, the result or the error, from its opening bracket to its closing one, to be read; nil for
// a message without params and for one that has been consumed. The capacity is cut, so that appending to it cannot
// overwrite what follows in the frame.
//
// Unless Parse had to look at the whole frame, these bytes have not been validated, and they may be more than one
// value; see [Message.Consume].
func (m *Message) Middle() []byte {
	if m.Frame == nil || m.start == m.end {
		return nil
	}
	return m.Frame[m.start:m.end:m.end]
}

// Checked reports whether the middle has been validated, or there is none.
func (m *Message) Checked() bool { return m.checked }

// Consume gives the middle to decode, which validates what it reads as one value and returns how many bytes it took.
// decode may overwrite these bytes and keep parts of them: strings that are unescaped in place look like any other JSON
// afterwards. So the bytes are given out once, and Frame and Middle are nil from then on, whatever comes of it. What
// has to be known of the message before, such as the type of a result, is read from Middle before.
//
// The error, a [*Violation] with the beginning of the frame as it came, is that of decode, see [Message.Invalid], or
// says what is wrong behind the value. If decode stopped before the end of the middle, the frame may have an extension
// member of object type behind the value; then the envelope is read again without looking into the consumed bytes, and
// must turn out to be the same message.
//
// So one kind of frame is refused that a scan of the whole would accept: a request whose id stands behind its params
// and in front of an extension member that is an object, for Parse took it for a notification. The violation carries
// the id.
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

// headSize is as much of a frame as telemetry tells frames apart by.
const headSize = 64

// settle is told that n bytes of the middle have been read as one value. frame is what Parse was given. If n is all of
// the middle, the frame is valid JSON. See [Message.Consume] for what else there may be.
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

// Check validates a middle that has not been looked at. It returns nil if the frame is a valid message, a [*Violation]
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
	return m.settle(m.Frame, end-m.start)
}

// Invalid returns the violation for a middle that its decoder refused with err, whose offset, if it has one, counts
// from the beginning of the middle: invalid JSON if err holds a [*jsonscan.SyntaxError], the same reason if it holds a
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

// ViolationOf returns the error of reading m as a violation: as the one that err holds, found while the frame was taken
// apart, or else as [Message.Invalid] makes one of a decoder's error. m may be nil if err holds a violation.
func ViolationOf(m *Message, err error) *Violation {
	if v, ok := errors.AsType[*Violation](err); ok {
		return v
	}
	return m.Invalid(err)
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
