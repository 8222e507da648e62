package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxShown = 64  // bytes of a value or a name in an error
	maxText  = 512 // bytes of anything else in an error
)

// show renders v for a reader: as JSON if that is at most [maxShown] bytes,
// else a string by its beginning and a container by its size.
func show(v any) string {
	if b, ok := appendShort(nil, v); ok {
		return string(b)
	}
	switch v := v.(type) {
	case text:
		for n := maxShown - len(`""`); ; n /= 2 { // quoting may make it longer
			if b, _ := jsontext.AppendQuote(nil, clip(string(v), n)); len(b) <= maxShown+len("…") {
				return string(b)
			}
		}
	case array:
		return fmt.Sprintf("an array of %d items", len(v))
	default:
		return fmt.Sprintf("an object with %d properties", len(v.(object)))
	}
}

// appendShort appends v as JSON. It stops and reports false when b would get
// longer than [maxShown].
func appendShort(b []byte, v any) ([]byte, bool) {
	ok := true
	switch v := v.(type) {
	case nil:
		b = append(b, "null"...)
	case text:
		if len(v) < maxShown {
			b, _ = jsontext.AppendQuote(b, v)
		} else {
			ok = false
		}
	case array:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendShort(b, item); !ok {
				return b, false
			}
		}
		b = append(b, ']')
	case object:
		if len(v) > maxShown/len(`"":0,`) {
			return b, false
		}
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendShort(b, text(name)); !ok {
				return b, false
			}
			b = append(b, ':')
			if b, ok = appendShort(b, v[name]); !ok {
				return b, false
			}
		}
		b = append(b, '}')
	case float64:
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
	default:
		b = fmt.Append(b, v)
	}
	return b, ok && len(b) <= maxShown
}

// clip cuts s to at most n bytes and a mark, between runes.
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

// token is one step of a JSON Pointer, with its slash.
func token(name string) string { return "/" + pointerEscaper.Replace(name) }
