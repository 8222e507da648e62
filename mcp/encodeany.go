package mcp

import (
	"math"
	"slices"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

const (
	anyLevels  = 16 // deeper values may be cyclic; the library detects cycles
	anyMembers = 16 // names of a map are sorted on the stack up to this number
)

// appendAny appends v exactly as the JSON library would, but faster. It supports the types that decoding into any
// produces, integers, and lists of strings: programs that learn their tools at run time build arguments from these
// types. For other types, appendAny returns false, and the caller uses the library. (A map with one text takes 0.12 µs
// and no allocation. The pooledEncoder takes 0.65 µs and four allocations, which is an eighth of the cost of a tiny
// call when 64 calls run at once.)
func appendAny(dst []byte, v any, level int) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), true
	case string:
		return jsonscan.AppendString(dst, v), true
	case bool:
		return strconv.AppendBool(dst, v), true
	case int:
		return strconv.AppendInt(dst, int64(v), 10), true
	case int64:
		return strconv.AppendInt(dst, v, 10), true
	case float64:
		return appendFloat(dst, v)
	case map[string]any:
		return appendAnyMap(dst, v, level+1)
	case []any:
		return appendAnyList(dst, v, level+1)
	case []string:
		return appendTexts(dst, v), true
	}
	return dst, false
}

// appendFloat appends a number that needs no exponent, as most numbers do. For any other number, it returns false.
func appendFloat(dst []byte, x float64) ([]byte, bool) {
	if size := math.Abs(x); size == 0 || 1e-6 <= size && size < 1e21 {
		return strconv.AppendFloat(dst, x, 'f', -1, 64), true
	}
	return dst, false
}

func appendAnyMap(dst []byte, m map[string]any, level int) ([]byte, bool) {
	if level > anyLevels || len(m) > anyMembers {
		return dst, false
	}
	var sorted [anyMembers]string
	names := sorted[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendString(dst, name), ':')
		var ok bool
		if dst, ok = appendAny(dst, m[name], level); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

func appendAnyList(dst []byte, list []any, level int) ([]byte, bool) {
	if level > anyLevels {
		return dst, false
	}
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = appendAny(dst, v, level); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

func appendTexts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, s)
	}
	return append(dst, ']')
}
