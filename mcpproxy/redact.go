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

// secrets replaces secrets in JSON. It is immutable.
type secrets struct {
	keys         [][]byte
	patterns     []*regexp.Regexp
	plain        string         // replacement for a secret
	with, quoted []byte         // plain as JSON: without and with quotation marks
	inText       []byte         // quoted, escaped for JSON inside a JSON string
	inError      *regexp.Regexp // matches a key with : or = in a text that is not JSON; nil without keys
}

// part restricts where in a text keys count.
type part struct {
	noKeys bool     // keys do not count at all
	below  int      // objects up to this depth keep their members code, message and data; 0 means no exception
	schema []string // keys do not count in the value at this path from the outermost object; * stands for any name
}

const (
	// maxPasses bounds how many passes replace the secrets in one string. A further pass is needed because a replacement,
	// together with the text around it, may match again.
	maxPasses = 4
	// maxMatches bounds how many matches of a pattern are replaced one by one in a string, because each takes memory.
	maxMatches = 1 << 16
)

// redact returns b with secrets replaced, and the number of replacements. b must be valid JSON. Without replacements,
// redact returns b itself, otherwise a copy.
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
			return r.quoted, replaced + 1 // impossible, because b is valid
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
		} else if keys && !in.isExempt(at.depth, name) && r.hasKey(name) {
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

// isExempt reports whether a member with the name of a key stays, because every error needs the member.
func (in part) isExempt(depth int, name []byte) bool {
	if depth > in.below {
		return false
	}
	switch string(name) {
	case "code", "message", "data":
		return true
	}
	return false
}

// isHidden reports whether a value already is a replacement.
func (r *secrets) isHidden(value []byte) bool {
	return bytes.Equal(value, r.quoted) || string(value) == `""`
}

// redactedLimit returns the size up to which the replacements in a text of n bytes have their full length. Beyond that
// size, each value grows by at most one byte. So no text exceeds 3 n plus 1 KiB.
func redactedLimit(n int) int { return 2*n + 1<<10 }

// valueOf returns the offset of a member's value if the string that ends at b[end] is the member's name. Otherwise it
// returns -1.
func valueOf(b []byte, end int) int {
	colon := jsonscan.Space(b, end)
	if colon == len(b) || b[colon] != ':' {
		return -1
	}
	return jsonscan.Space(b, colon+1)
}

// mayBeNested reports whether the contents of a string may be an object or an array. They may start with an escape.
func mayBeNested(raw []byte) bool {
	i := jsonscan.Space(raw, 0)
	return i < len(raw) && (raw[i] == '{' || raw[i] == '[' || raw[i] == '\\')
}

// valuesIn returns the positions of the keys' values in a text that is JSON as a whole. It does not parse texts inside
// that JSON. It returns none for any other text.
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

// hiding is a string in which secrets are replaced. It is reused to save memory.
type hiding struct {
	raw      []byte // the contents
	escaped  bool   // raw contains escapes
	replaced int
	decoded  []byte // raw without escapes, if known
	known    bool
	memory   []byte
}

func (s *hiding) begin(raw []byte, escaped bool) {
	s.raw, s.escaped, s.replaced, s.known = raw, escaped, 0, false
}

// text returns raw with all escapes decoded.
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

// hide replaces the matches of the patterns in s and, if keys is set, the values of keys, until nothing matches. It
// reports whether it has replaced anything. It replaces the whole string if there are too many passes or matches, or if
// the string grows to more than three times its size.
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

// replace replaces parts of s, which are given by offsets in its decoded text. It returns false if there are too many
// parts, or if the result would exceed limit bytes.
func (s *hiding) replace(parts [][]int, with []byte, limit int) bool {
	if parts == nil {
		return true
	}
	offset := func(from, bytes int) int { return from + bytes }
	if s.escaped {
		offset = func(from, bytes int) int { return skip(s.raw, from, bytes) }
	}
	raw := make([]byte, 0, len(s.raw)+len(with))
	at, done := 0, 0 // offsets in s.raw, and in its decoded text
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

// skip returns the offset in raw after n bytes of decoded text, starting at raw[i].
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

// unit returns the size of the escape at raw[i], and the size of its decoded text.
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

// hexRune returns the rune of the four hexadecimal digits at the start of b.
func hexRune(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 16) // no error: the digits are valid
	return rune(n)
}

// position is the position in nested JSON.
type position struct {
	depth   int // number of enclosing objects and arrays
	path    []string
	matched int // number of names of the path that match so far
}

// nextString returns the offset of the next string at or after b[i], or len(b) if there is none. b[i] must be outside
// of a string.
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

// enter records the name of a member. It reports whether the path leads to this member.
func (p *position) enter(name []byte) bool {
	p.matched = min(p.matched, p.depth-1)
	if d := p.depth; p.matched == d-1 && d <= len(p.path) && (p.path[d-1] == "*" || p.path[d-1] == string(name)) {
		p.matched = d
		return d == len(p.path)
	}
	return false
}

// rewriter replaces parts of a text. The first replacement copies the text.
type rewriter struct {
	from, to []byte
	done     int // offset in from
	limit    int // size up to which hide uses the full replacements
}

// hide is like replace, but replaces with the argument less if the text would otherwise exceed the limit.
func (w *rewriter) hide(start, end int, with []byte, less string) {
	if len(w.to)+len(w.from)-w.done+len(with)-(end-start) > w.limit {
		with = []byte(less)
	}
	w.replace(start, end, with)
}

// replace replaces from[start:end]. This range must be after all ranges that were replaced before.
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
