package jsonrpc

import (
	"bytes"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// The two-end scan. From the front, the parser reads members up to the first params, result or error that is an object;
// from the back, it reads members up to the closing bracket of that object. For valid JSON, the scan is exact: the end
// of the text is outside of every string, and for a reader that goes backwards, a quote behind an even number of
// backslashes always delimits a string. In invalid JSON, the middle is not a single value, and the decoder of the
// middle detects this. The members at the two ends are validated like everything else.

// parseEnds reads frame from both ends. It reports false for a frame that it cannot fully account for.
func parseEnds(frame []byte) (Message, bool) {
	var e envelope
	at, complete, ok := e.front(frame)
	if !ok {
		return Message{}, false
	}
	if complete {
		if jsonscan.Rest(frame, at) != nil {
			return Message{}, false
		}
	} else if e.end, ok = e.back(frame, at); !ok {
		return Message{}, false
	}
	m, r := e.message(frame, complete)
	if m.Kind == Error && !e.has(id) {
		// The id may be in the middle, before an extension member that is an object; see Message.Consume. A full scan
		// finds it.
		return Message{}, false
	}
	return m, r == 0
}

// usual is the beginning of most frames.
const usual = `{"jsonrpc":"2.0",`

// front reads members from the beginning up to the value of params, result or error, and returns the offset of that
// value. Without such a value, it reads the whole object, reports complete and returns the offset behind the object.
func (e *envelope) front(b []byte) (at int, complete, ok bool) {
	i := jsonscan.Space(b, 0)
	if i == len(b) || b[i] != '{' {
		return 0, false, false
	}
	if len(b) > len(usual) && string(b[:len(usual)]) == usual {
		i = len(usual) - len(`,`)
		e.add(b, version, i-len(`"2.0"`), i)
	}
	for {
		i = jsonscan.Space(b, i+1)
		end, escaped, err := jsonscan.String(b, i)
		if err != nil || escaped {
			return 0, false, false
		}
		m := memberNamed(b[i+1 : end-1])
		if i = jsonscan.Space(b, end); i == len(b) || b[i] != ':' {
			return 0, false, false
		}
		i = jsonscan.Space(b, i+1)
		if m >= params && i < len(b) && b[i] == '{' {
			return i, false, e.add(b, m, i, i) == 0
		}
		end, err = jsonscan.Value(b, i)
		next := jsonscan.Space(b, end)
		if err != nil || next == len(b) || e.add(b, m, i, end) != 0 {
			return 0, false, false
		}
		switch i = next; b[i] {
		case '}':
			return i + 1, true, true
		case ',':
		default:
			return 0, false, false
		}
	}
}

// back reads members backwards from the end to the closing bracket of the object that begins at or behind b[lo]. It
// returns the offset behind that bracket.
func (e *envelope) back(b []byte, lo int) (end int, ok bool) {
	i := trimmed(b, len(b))
	if i <= lo+1 || b[i-1] != '}' {
		return 0, false
	}
	i = trimmed(b, i-1)
	for i > lo+1 && b[i-1] != '}' {
		// b[:i] ends with the value of a member. Find the name, the colon and the comma before the value first.
		value := scalarStart(b, lo, i)
		name := trimmed(b, value)
		if value == i || name <= lo+1 || b[name-1] != ':' {
			return 0, false
		}
		if name = trimmed(b, name-1); name <= lo+1 || b[name-1] != '"' {
			return 0, false
		}
		quote := openingQuote(b, lo, name-1)
		comma := trimmed(b, quote)
		if comma <= lo+1 || b[comma-1] != ',' {
			return 0, false
		}
		after, escaped, err := jsonscan.String(b, quote)
		if err != nil || escaped || after != name {
			return 0, false
		}
		if after, err = jsonscan.Value(b, value); err != nil || after != i {
			return 0, false
		}
		if e.add(b, memberNamed(b[quote+1:name-1]), value, i) != 0 {
			return 0, false
		}
		i = trimmed(b, comma-1)
	}
	return i, i > lo+1
}

// trimmed returns the length of b[:i] without trailing space.
func trimmed(b []byte, i int) int {
	for i > 0 && (b[i-1] == ' ' || b[i-1] == '\n' || b[i-1] == '\t' || b[i-1] == '\r') {
		i--
	}
	return i
}

// scalarStart returns the offset of the string, number or literal at the end of b[lo:i], or i if b[lo:i] ends with
// something else.
func scalarStart(b []byte, lo, i int) int {
	if b[i-1] == '"' {
		return openingQuote(b, lo, i-1)
	}
	for i > lo && isBare(b[i-1]) {
		i--
	}
	return i
}

// isBare reports whether c can be part of a number or a literal.
func isBare(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' < 26 || c == '-' || c == '+' || c == '.'
}

// openingQuote returns the offset of the quote that opens the string with the closing quote b[i]: the nearest quote,
// from b[lo] on, with an even number of backslashes before it. It returns i if there is no such quote.
func openingQuote(b []byte, lo, i int) int {
	for q := i; ; {
		if q = lo + bytes.LastIndexByte(b[lo:q], '"'); q < lo {
			return i
		}
		n := 0
		for q-n > lo && b[q-n-1] == '\\' {
			n++
		}
		if n%2 == 0 {
			return q
		}
	}
}
