package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxShown = 64  // bytes of a value or a name in an error
	maxText  = 512 // bytes of any other text in an error
)

// show formats v for a reader: as JSON if that takes at most [maxShown] bytes, otherwise as the beginning of a string,
// or as the size of an array or object.
func show(v value) string {
	if b, ok := appendShort(nil, v); ok {
		return string(b)
	}
	switch v.kind() {
	case '"':
		return showText(string(v.bytes()))
	case '[':
		return fmt.Sprintf("an array of %d items", v.size())
	default:
		return fmt.Sprintf("an object with %d properties", v.size())
	}
}

// showText formats a string like show.
func showText(s string) string {
	if b := appendQuoted(nil, s[:min(len(s), maxShown)]); len(s) < maxShown && len(b) <= maxShown {
		return string(b)
	}
	for n := maxShown - len(`""`); ; n /= 2 { // quoting may make the text longer
		if b := appendQuoted(nil, clip(s, n)); len(b) <= maxShown+len("…") {
			return string(b)
		}
	}
}

// appendShort appends v as JSON. It stops and reports false when b would get longer than [maxShown].
func appendShort(b []byte, v value) ([]byte, bool) {
	ok := true
	switch v.kind() {
	case absent:
		b = append(b, "null"...)
	case '"':
		if ok = len(v.bytes()) < maxShown; ok {
			b = appendQuoted(b, v.bytes())
		}
	case '[':
		if v.size() > maxShown/len("0,") {
			return b, false
		}
		b = append(b, '[')
		for i, item := range v.items() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendShort(b, item); !ok {
				return b, false
			}
		}
		b = append(b, ']')
	case '{':
		if v.size() > maxShown/len(`"":0,`) {
			return b, false
		}
		b = append(b, '{')
		for i, name := range v.sorted() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendShort(b, name); !ok {
				return b, false
			}
			b = append(b, ':')
			if b, ok = appendShort(b, name.next()); !ok {
				return b, false
			}
		}
		b = append(b, '}')
	case isShort, isWhole, isFraction:
		if f, ok := v.number().(float64); ok {
			b = strconv.AppendFloat(b, f, 'g', -1, 64)
		} else {
			b = fmt.Append(b, v.number())
		}
	default:
		b = append(b, v.bytes()...)
	}
	return b, ok && len(b) <= maxShown
}

// appendQuoted appends a string as JSON.
func appendQuoted[T ~[]byte | ~string](b []byte, s T) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// clip truncates s to at most n bytes, between runes, and appends an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// token returns one step of a JSON Pointer, with its slash.
func token(name string) string { return "/" + pointerEscaper.Replace(name) }
