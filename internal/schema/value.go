package schema

import (
	"fmt"
	"io"
	"math"
)

// A decoded value is nil, a bool, an int64, a uint64 (above int64), a float64
// or one of the three types below. They have the kinds that the library looks
// at, and print themselves short: the library formats a value into an error at
// every keyword that fails, also in branches whose error it then drops.
type (
	object map[string]any
	array  []any
	text   string
)

func (o object) Format(f fmt.State, _ rune) { io.WriteString(f, show(o)) }
func (a array) Format(f fmt.State, _ rune)  { io.WriteString(f, show(a)) }
func (t text) Format(f fmt.State, _ rune)   { io.WriteString(f, show(t)) }

// typeOf returns the JSON Schema type of v; numbers without a fraction are
// integers.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case text:
		return "string"
	case array:
		return "array"
	case object:
		return "object"
	case float64:
		if v != math.Trunc(v) {
			return "number"
		}
	}
	return "integer"
}

// float returns the number v as the nearest float64.
func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// size counts the values in v, itself included.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case array:
		for _, v := range v {
			n += size(v)
		}
	case object:
		for _, v := range v {
			n += size(v)
		}
	}
	return n
}
