package jsonrpc

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// WireError is the error member of a response. (JSON-RPC 2.0, section 5.1)
type WireError struct {
	Code    int64
	Message string
	Data    []byte // raw JSON; nil for none
}

func (e *WireError) Error() string {
	return e.Message + " (" + strconv.FormatInt(e.Code, 10) + ")"
}

// Failure decodes the error of an error response. If Failure returns no error, the whole Message has been validated, as
// by [Message.Check]. The WireError is a copy: it does not refer to the frame. An integer code and a message are
// required; members that the specification does not define are ignored. The error is a [*Violation], returned together
// with the fields that could be read, above all the code.
func (m *Message) Failure() (WireError, error) {
	middle := m.Middle()
	e, n, err := decodeError(middle)
	if err != nil {
		return e, m.Invalid(err)
	}
	return e, m.settle(m.Frame, n)
}

// decodeError decodes the error object at the beginning of b and returns its length.
func decodeError(b []byte) (e WireError, n int, err error) {
	const (
		code = iota
		message
		data
		all = 1<<code | 1<<message
	)
	var seen jsonscan.Seen
	var wrong *Violation
	o := jsonscan.ObjectAt(b, 0)
	for o.Next() {
		var field uint
		switch string(o.Key()) {
		case "code":
			field = code
		case "message":
			field = message
		case "data":
			field = data
		default:
			continue
		}
		raw := o.Raw()
		ok := raw != nil
		switch field {
		case code:
			e.Code, ok = jsonscan.Int(raw)
		case message:
			e.Message, ok = Text(raw)
		case data:
			if string(raw) != "null" {
				e.Data = bytes.Clone(raw)
			}
		}
		if seen.Again(field) {
			wrong = cmp.Or(wrong, &Violation{Reason: DuplicateMember, Offset: o.KeyAt()})
		} else if !ok {
			wrong = cmp.Or(wrong, &Violation{Reason: InvalidError, Offset: o.At()})
		}
	}
	switch {
	case o.Err() != nil:
		return e, 0, o.Err()
	case wrong != nil:
		return e, 0, wrong
	case seen&all != all:
		return e, 0, &Violation{Reason: InvalidError}
	}
	return e, o.End(), nil
}
