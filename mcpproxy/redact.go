package mcpproxy

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// secrets replaces what is not to be seen in JSON. It is immutable.
type secrets struct {
	keys         [][]byte
	patterns     []*regexp.Regexp
	plain        string         // the replacement
	with, quoted []byte         // plain as the contents of a JSON string, and as one
	inText       []byte         // quoted, as contents likewise
	inError      *regexp.Regexp // a key with : or =, in a text that is not JSON; nil for no keys
}

// part says where in a text the keys count.
type part struct {
	noKeys bool     // nowhere
	below  int      // not the members code, message and data of objects that are this deep; 0 is none
	schema []string // not in the value of the member with this path from the outermost object; * is any name
}

const (
	// maxPasses is how often a string is looked at in which something is replaced. What is replaced may make a match of
	// what stands around it.
	maxPasses = 4
	// maxMatches is how many matches of a pattern are replaced one by one in a string, which takes memory for each.
	maxMatches = 1 << 16
)

// redact returns b, which is valid JSON, with what is to be seen of it, and how much was replaced. It is b itself if
// that is nothing, and else a copy.
func (r *secrets) redact(b json.RawMessage, in part) (redacted json.RawMessage, replaced int) {
	w := rewriter{from: b, limit: redactedLimit(len(b))}
	at := position{path: in.schema}
	schemaEnd := 0
	var s hiding
	for i := 0; ; {
		start := at.nextString(b, i)
		if start == len(b) {
			return w.result(), replaced
		}
		end, escaped, err := jsonscan.String(b, start)
		if err != nil {
			return r.quoted, replaced + 1 // which cannot be
		}
		value := valueOf(b, end)
		keys := !in.noKeys && start >= schemaEnd
		s.begin(b[start+1:end-1], escaped)
		if r.hide(&s, keys) {
			w.hide(start+1, end-1, s.raw, "")
			replaced += s.replaced
			s.begin(b[start+1:end-1], escaped)
		}
		if i = end; value < 0 {
			continue
		}
		name := s.text()
		if at.enter(name) {
			schemaEnd, _ = jsonscan.Value(b, value)
		} else if keys && !in.spares(at.depth, name) && r.hasKey(name) {
			if i, err = jsonscan.Value(b, value); err != nil {
				return r.quoted, replaced + 1
			}
			if !r.isHidden(b[value:i]) {
				w.hide(value, i, r.quoted, `""`)
				replaced++
			}
		}
	}
}

// spares reports whether a member is kept although a key hides it: it is a member that every error needs.
func (in part) spares(depth int, name []byte) bool {
	if depth > in.below {
		return false
	}
	switch string(name) {
	case "code", "message", "data":
		return true
	}
	return false
}

// isHidden reports whether a value is a replacement.
func (r *secrets) isHidden(value []byte) bool {
	return bytes.Equal(value, r.quoted) || string(value) == `""`
}

// redactedLimit is the size up to which replacements in a text of n bytes are no smaller than they should be. Beyond,
// each value grows by one byte at most, so that no text becomes larger than 3 n and 1 KiB.
func redactedLimit(n int) int { return 2*n + 1<<10 }

// valueOf returns where the value of a member begins, if b[end] is behind a string that is its name, and -1 if not.
func valueOf(b []byte, end int) int {
	colon := jsonscan.Space(b, end)
	if colon == len(b) || b[colon] != ':' {
		return -1
	}
	return jsonscan.Space(b, colon+1)
}

// mayBeNested reports whether the contents of a string may be an object or an array, which may begin with an escape.
func mayBeNested(raw []byte) bool {
	i := jsonscan.Space(raw, 0)
	return i < len(raw) && (raw[i] == '{' || raw[i] == '[' || raw[i] == '\\')
}

// valuesIn returns where the values of the keys are in a text, if that is JSON as a whole. A text in it is a text.
func (r *secrets) valuesIn(text []byte) (values [][]int) {
	i := jsonscan.Space(text, 0)
	if i == len(text) || text[i] != '{' && text[i] != '[' || jsonscan.Valid(text) != nil {
		return nil
	}
	var at position
	for {
		start := at.nextString(text, i)
		if start == len(text) || len(values) > maxMatches {
			return values
		}
		end, escaped, _ := jsonscan.String(text, start)
		i = end
		value := valueOf(text, end)
		if value < 0 {
			continue
		}
		name := text[start+1 : end-1]
		if escaped {
			name = jsonscan.Unquote(bytes.Clone(name))
		}
		if r.hasKey(name) {
			if i, _ = jsonscan.Value(text, value); !r.isHidden(text[value:i]) {
				values = append(values, []int{value, i})
			}
		}
	}
}

func (r *secrets) hasKey(name []byte) bool {
	for _, k := range r.keys {
		if bytes.EqualFold(k, name) {
			return true
		}
	}
	return false
}

// hiding is a string in which something is replaced. Its memory is used again.
type hiding struct {
	raw      []byte // the contents
	escaped  bool   // something in it is
	replaced int
	decoded  []byte // what raw means, if known
	known    bool
	memory   []byte
}

func (s *hiding) begin(raw []byte, escaped bool) {
	s.raw, s.escaped, s.replaced, s.known = raw, escaped, 0, false
}

// text returns what raw means.
func (s *hiding) text() []byte {
	switch {
	case !s.escaped:
		return s.raw
	case !s.known:
		s.memory = append(s.memory[:0], s.raw...)
		s.decoded, s.known = jsonscan.Unquote(s.memory), true
	}
	return s.decoded
}

// hide replaces in s the values of keys, if they count, and what the patterns match, until they match nothing any more.
// It reports whether that was anything. If there is no end to it, or too much of it, or if the string grows by it to
// more than three times what it was, it is replaced as a whole.
func (r *secrets) hide(s *hiding, keys bool) bool {
	keys = keys && len(r.keys) > 0 && mayBeNested(s.raw)
	if !keys && len(r.patterns) == 0 {
		return false
	}
	limit := 3*len(s.raw) + len(r.with)
	for range maxPasses {
		before := s.replaced
		if keys {
			if !s.replace(r.valuesIn(s.text()), r.inText, limit) {
				s.raw = r.with
				return true
			}
		}
		for _, p := range r.patterns {
			if !s.replace(p.FindAllIndex(s.text(), maxMatches+1), r.with, limit) {
				s.raw = r.with
				return true
			}
		}
		if s.replaced == before {
			return s.replaced > 0
		}
	}
	s.raw = r.with
	return true
}

// replace replaces parts of s, by their offsets in what it means, and reports false if they are too many, or make more
// than limit bytes of it.
func (s *hiding) replace(parts [][]int, with []byte, limit int) bool {
	if parts == nil {
		return true
	}
	offset := func(from, bytes int) int { return from + bytes }
	if s.escaped {
		offset = func(from, bytes int) int { return skip(s.raw, from, bytes) }
	}
	raw := make([]byte, 0, len(s.raw)+len(with))
	at, done := 0, 0 // in raw, and in what that means
	for _, p := range parts {
		start := offset(at, p[0]-done)
		raw = append(append(raw, s.raw[at:start]...), with...)
		at, done = offset(start, p[1]-p[0]), p[1]
	}
	s.raw = append(raw, s.raw[at:]...)
	s.escaped = s.escaped || bytes.IndexByte(with, '\\') >= 0
	s.replaced += len(parts)
	s.known = false
	return len(parts) <= maxMatches && len(s.raw) <= limit
}

// skip returns the offset behind what means n bytes from raw[i] on.
func skip(raw []byte, i, n int) int {
	for n > 0 {
		plain := bytes.IndexByte(raw[i:min(i+n, len(raw))], '\\')
		if plain < 0 {
			return i + n
		}
		size, means := unit(raw, i+plain)
		i, n = i+plain+size, n-plain-means
	}
	return i
}

// unit returns the size of the escape at raw[i], and of what it means.
func unit(raw []byte, i int) (size, means int) {
	if raw[i+1] != 'u' {
		return 2, 1
	}
	first := hexRune(raw[i+2:])
	if utf16.IsSurrogate(first) {
		if len(raw) >= i+12 && raw[i+6] == '\\' && raw[i+7] == 'u' &&
			utf16.DecodeRune(first, hexRune(raw[i+8:])) != utf8.RuneError {
			return 12, 4
		}
		first = utf8.RuneError
	}
	return 6, utf8.RuneLen(first)
}

// hexRune returns the rune of which b begins with four hexadecimal digits.
func hexRune(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 16) // they are valid
	return rune(n)
}

// position is where in nested JSON a walk is.
type position struct {
	depth   int // of objects and arrays
	path    []string
	matched int // names of the path that lead here
}

// nextString returns the offset of the next string from b[i] on, which is in none, and len(b) if there is no other.
func (p *position) nextString(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i
		case '{', '[':
			p.depth++
		case '}', ']':
			p.depth--
		}
	}
	return i
}

// enter notes the name of a member, and reports whether the path leads to it.
func (p *position) enter(name []byte) bool {
	p.matched = min(p.matched, p.depth-1)
	if d := p.depth; p.matched == d-1 && d <= len(p.path) && (p.path[d-1] == "*" || p.path[d-1] == string(name)) {
		p.matched = d
		return d == len(p.path)
	}
	return false
}

// rewriter is a text in which parts are replaced. It is copied when there is a first one.
type rewriter struct {
	from, to []byte
	done     int // of from
	limit    int // of the size to which hide lets the text grow
}

// hide is replace with a text that may make the whole too large. Then less takes its place, which does not.
func (w *rewriter) hide(start, end int, with []byte, less string) {
	if len(w.to)+len(w.from)-w.done+len(with)-(end-start) > w.limit {
		with = []byte(less)
	}
	w.replace(start, end, with)
}

// replace replaces from[start:end], which is behind what was replaced before.
func (w *rewriter) replace(start, end int, with []byte) {
	if w.to == nil {
		w.to = make([]byte, 0, len(w.from)+max(0, len(with)-(end-start)))
	}
	w.to = append(append(w.to, w.from[w.done:start]...), with...)
	w.done = end
}

func (w *rewriter) result() []byte {
	if w.to == nil {
		return w.from
	}
	return append(w.to, w.from[w.done:]...)
}
