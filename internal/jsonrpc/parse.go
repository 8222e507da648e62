package jsonrpc

import (
	"bytes"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// byteOrderMark is the mark that some programs put before UTF-8 text. A parser may ignore it. (RFC 8259, section 8.1)
const byteOrderMark = "\uFEFF"

// Parse reads the envelope of frame, one message without the newline that delimits it. Every error is a [*Violation].
//
// Parse reads ordinary frames, in which only the params, the result or the error is large, from both ends and skips the
// middle; see [Message.Middle] for the consequences. It validates all other frames from the first byte to the last.
// Parse never changes frame, and the Message keeps it. Parse ignores a byte order mark at the beginning.
func Parse(frame []byte) (Message, error) {
	if m, ok := parseEnds(frame); ok {
		return m, nil
	}
	frame = bytes.TrimPrefix(frame, []byte(byteOrderMark))
	return scan(frame, -1, 0)
}

// scan validates the whole frame except for the n bytes from start on, which are already known to be one value.
func scan(frame []byte, start, n int) (Message, error) {
	var e envelope
	var broken Reason
	var offset int
	o := jsonscan.ObjectAt(frame, 0)
	for o.Next() {
		if o.At() == start {
			o.Take(start+n, nil)
		} else if o.Raw() == nil {
			break
		}
		if r := e.add(frame, memberNamed(o.Key()), o.At(), o.End()); r != 0 && broken == 0 {
			broken, offset = r, o.At()
		}
	}
	err := o.Err()
	if err == nil {
		err = jsonscan.Rest(frame, o.End())
	}
	var v *Violation
	switch {
	case err != nil:
		v = notMessage(frame, err)
	case broken != 0:
		v = &Violation{Reason: broken, Offset: offset}
	default:
		m, r := e.message(frame, true)
		if r == 0 {
			return m, nil
		}
		v = &Violation{Reason: r}
	}
	e.address(v)
	return Message{}, v
}

// notMessage returns the violation for a frame that is not one JSON object. err describes the problem.
func notMessage(frame []byte, err error) *Violation {
	v := located(err, 0)
	if first := jsonscan.Space(frame, 0); first < len(frame) && frame[first] == '[' {
		v = &Violation{Reason: BatchFrame, Offset: first}
	}
	if v.Reason == 0 {
		v.Reason = InvalidEnvelope
	}
	return v
}
