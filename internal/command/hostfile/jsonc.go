package hostfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// plain converts text to JSON of the same length, so that offsets stay valid. Spaces replace the extensions of JSON
// that hosts allow: comments, a comma after the last element, and a byte order mark. plain keeps other syntax errors
// for the decoder.
func plain(text []byte) []byte {
	b := bytes.Clone(text)
	if mark := []byte("\uFEFF"); bytes.HasPrefix(b, mark) {
		blank(b[:len(mark)])
	}
	last := byte('[') // the previous byte outside of whitespace and comments
	comma := 0        // the offset of last, if it is a comma that may be blanked
	for i := 0; i < len(b); i++ {
		end := 0
		switch c := b[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '/':
			if end = endOfComment(b, i); end > 0 {
				blank(b[i:end])
				i = end - 1
				continue
			}
		case '"':
			i = endOfString(b, i)
		case ',':
			comma = i
			if strings.IndexByte("[{,:", last) >= 0 {
				comma = 0
			}
		case ']', '}':
			if last == ',' && comma > 0 {
				b[comma] = ' '
			}
		}
		last = b[min(i, len(b)-1)]
	}
	return b
}

// blank replaces all bytes except line breaks with spaces.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
}

// endOfComment returns the end of the comment that begins at b[i], or 0 if there is no comment.
func endOfComment(b []byte, i int) int {
	rest := b[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if n := bytes.IndexAny(rest, "\r\n"); n >= 0 {
			return i + n
		}
		return len(b)
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return i + 2 + n + 2
		}
	}
	return 0
}

// endOfString returns the offset of the closing quotation mark of the string that begins at b[i].
func endOfString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

// member is a member of a JSON object, or an element of an array.
type member struct {
	name  string // empty for an element
	value json.RawMessage

	// Offsets in the text that was read. For an element, at equals from.
	at, nameEnd int // the name with its quotation marks
	from        int // the value
}

// end returns the offset after the value.
func (m *member) end() int { return m.from + len(m.value) }

// String returns the member as JSON.
func (m *member) String() string { return quote(m.name) + ": " + string(m.value) }

func quote(text string) string {
	raw, _ := jsontext.AppendQuote(nil, text) // replaces invalid UTF-8 with U+FFFD
	return string(raw)
}

// membersOf returns the members of an object in their order.
func membersOf(raw []byte) ([]member, error) { return partsOf(raw, '{') }

// partsOf returns the members of an object or the elements of an array.
func partsOf(raw []byte, kind jsontext.Kind) (all []member, _ error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if d.PeekKind() != kind {
		return nil, errors.New("not a JSON " + map[jsontext.Kind]string{'{': "object", '[': "array"}[kind])
	}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' && d.PeekKind() != ']' {
		var m member
		var read jsontext.Value
		if kind == '{' {
			if read, err = d.ReadValue(); err != nil {
				break
			}
			m.nameEnd = int(d.InputOffset())
			m.at = m.nameEnd - len(read)
			name, _ := jsontext.AppendUnquote(nil, read) // no error: the decoder only returns strings as names
			m.name = string(name)
		}
		if read, err = d.ReadValue(); err == nil {
			m.value = json.RawMessage(read.Clone())
			m.from = int(d.InputOffset()) - len(read)
			if kind == '[' {
				m.at = m.from
			}
			all = append(all, m)
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	if err != nil {
		return all, err
	}
	if _, err = d.ReadToken(); err != io.EOF {
		return all, errors.New("more than one JSON value")
	}
	return all, nil
}

// object encodes a JSON object with these members.
func object(members []member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(m.name) // encoding a string cannot fail
		b = append(append(append(b, name...), ':'), m.value...)
	}
	return append(b, '}')
}

// find returns the index of a member, or -1.
func find(members []member, name string) int {
	return slices.IndexFunc(members, func(m member) bool { return m.name == name })
}
