package traceview

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An attribute is a key and a value as text.
type attribute struct{ Key, Value string }

// attributesOf returns as many attributes as the budget allows, by key, with error.type first, and the number of the
// others.
func attributesOf(m map[string]any, b *budget) (list []attribute, leftOut int) {
	if b.of(len(m), maxAttributes) == 0 {
		return nil, len(m)
	}
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if (a == "error.type") != (b == "error.type") {
			if a == "error.type" {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	leftOut = len(keys) - b.of(len(keys), maxAttributes)
	for _, k := range keys[:len(keys)-leftOut] {
		list = append(list, attribute{b.text(cut(titleText, k)), b.text(valueText(m[k]))})
	}
	return list, leftOut
}

// valueText returns the value of an attribute as text, for people and for searching.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	}
	raw, err := json.Marshal(jsonValue(v))
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// jsonValue returns a value that JSON can represent: numbers that are not finite become text.
func jsonValue(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = jsonValue(e)
		}
		return list
	case map[string]any:
		return jsonMap(v)
	}
	return v
}

func jsonMap(m map[string]any) map[string]any {
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = jsonValue(v)
	}
	return c
}

// A number is encoded as a JSON number, or as text if it is not finite.
type number float64

func (n number) MarshalJSON() ([]byte, error) { return json.Marshal(jsonValue(float64(n))) }
