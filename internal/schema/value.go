package schema

import "math"

// A decoded value is nil, a bool, an int64, a uint64 (above int64), a float64
// or one of these.
type (
	object map[string]any
	array  []any
	text   string
)

// typeSet is a set of JSON types.
type typeSet uint8

const (
	isArray typeSet = 1 << iota
	isBoolean
	isInteger
	isNull
	isNumber
	isObject
	isString
)

// typeNames are the types in the order of their bits.
var typeNames = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// typesOf returns the JSON Schema types of v; numbers without a fraction are
// integers too.
func typesOf(v any) typeSet {
	switch v := v.(type) {
	case nil:
		return isNull
	case bool:
		return isBoolean
	case text:
		return isString
	case array:
		return isArray
	case object:
		return isObject
	case float64:
		if v != math.Trunc(v) {
			return isNumber
		}
	}
	return isInteger | isNumber
}

// names lists the types.
func (t typeSet) names() (names []string) {
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
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

// depthOf counts the arrays and objects in each other in v.
func depthOf(v any) (depth int) {
	switch v := v.(type) {
	case array:
		for _, v := range v {
			depth = max(depth, depthOf(v))
		}
	case object:
		for _, v := range v {
			depth = max(depth, depthOf(v))
		}
	default:
		return 0
	}
	return depth + 1
}
