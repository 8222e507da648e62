package bridge

import (
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
)

// maxDepth bounds the depth of converted values. Deeper lists, maps and other compound values become "…".
const maxDepth = 8

// appendAttr appends an attribute by the rules of [slog.Handler]: it omits a zero attribute and a group without
// attributes, and inlines a group without a name.
func appendAttr(all []attribute.KeyValue, key string, v slog.Value, depth int) []attribute.KeyValue {
	v = v.Resolve()
	if v.Kind() != slog.KindGroup {
		if key == "" && v.Equal(slog.Value{}) {
			return all
		}
		return append(all, attribute.KeyValue{Key: attribute.Key(key), Value: valueOf(v, depth)})
	}
	if key == "" {
		return appendGroup(all, v.Group(), depth)
	}
	if inner := appendGroup(nil, v.Group(), depth-1); len(inner) > 0 {
		all = append(all, attribute.KeyValue{Key: attribute.Key(key), Value: attribute.MapValue(inner...)})
	}
	return all
}

func appendGroup(all []attribute.KeyValue, attrs []slog.Attr, depth int) []attribute.KeyValue {
	for _, a := range attrs {
		all = appendAttr(all, a.Key, a.Value, depth)
	}
	return all
}

// valueOf converts a value that is not a group. Durations and times become nanoseconds.
func valueOf(v slog.Value, depth int) attribute.Value {
	switch v.Kind() {
	case slog.KindString:
		return attribute.StringValue(v.String())
	case slog.KindInt64:
		return attribute.Int64Value(v.Int64())
	case slog.KindFloat64:
		return attribute.Float64Value(v.Float64())
	case slog.KindBool:
		return attribute.BoolValue(v.Bool())
	case slog.KindDuration:
		return attribute.Int64Value(v.Duration().Nanoseconds())
	case slog.KindTime:
		return attribute.Int64Value(v.Time().UnixNano())
	case slog.KindUint64:
		if n := v.Uint64(); n > math.MaxInt64 {
			return attribute.StringValue(strconv.FormatUint(n, 10))
		}
		return attribute.Int64Value(int64(v.Uint64()))
	}
	return anyValue(v.Any(), depth)
}

// anyValue converts lists, maps and the targets of pointers. Other values become text.
func anyValue(v any, depth int) attribute.Value {
	switch v := v.(type) {
	case nil:
		return attribute.Value{}
	case attribute.Value:
		return v
	case error:
		return attribute.StringValue(v.Error())
	case []byte:
		return attribute.ByteSliceValue(v)
	}
	of := reflect.ValueOf(v)
	if depth <= 0 {
		return attribute.StringValue("…") // the value may contain itself
	}
	inner := func(v reflect.Value) attribute.Value { return valueOf(slog.AnyValue(v.Interface()).Resolve(), depth-1) }
	switch of.Kind() {
	case reflect.Slice, reflect.Array:
		items := make([]attribute.Value, of.Len())
		for i := range items {
			items[i] = inner(of.Index(i))
		}
		return attribute.SliceValue(items...)
	case reflect.Map:
		members := make([]attribute.KeyValue, 0, of.Len())
		for iter := of.MapRange(); iter.Next(); {
			members = append(members, attribute.KeyValue{
				Key: attribute.Key(fmt.Sprint(iter.Key().Interface())), Value: inner(iter.Value())})
		}
		return attribute.MapValue(members...)
	case reflect.Pointer:
		if of.IsNil() {
			return attribute.Value{}
		}
		return inner(of.Elem())
	}
	return attribute.StringValue(fmt.Sprintf("%+v", v))
}
