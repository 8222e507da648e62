package instrument

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"pgregory.net/rapid"
)

func TestContentsAreStructuredLikeJSON(t *testing.T) {
	m := func(kv ...attribute.KeyValue) attribute.Value { return attribute.MapValue(kv...) }
	for text, want := range map[string]attribute.Value{
		`{}`:                       m(),
		` [] `:                     attribute.SliceValue(),
		`{"city":"Oslo","days":3}`: m(attribute.String("city", "Oslo"), attribute.Int("days", 3)),
		`{"a":{"b":[1.5,true,null,"x"]}}`: m(attribute.KeyValue{Key: "a", Value: m(attribute.Slice("b",
			attribute.Float64Value(1.5), attribute.BoolValue(true), attribute.Value{}, attribute.StringValue("x")))}),
		`[9223372036854775807,9223372036854775808,1e400,-0.5]`: attribute.SliceValue(attribute.Int64Value(1<<63-1),
			attribute.StringValue("9223372036854775808"), attribute.StringValue("1e400"), attribute.Float64Value(-0.5)),
		// a text that is neither an object nor an array is unchanged
		`"text"`: attribute.StringValue(`"text"`),
		`hidden`: attribute.StringValue("hidden"),
		`{"a":`:  attribute.StringValue(`{"a":`),
		`{} {}`:  attribute.StringValue(`{} {}`),
		`{1:2}`:  attribute.StringValue(`{1:2}`),
		"":       attribute.StringValue(""),
	} {
		if got := structured(text); got != want {
			t.Errorf("%s: got %v %s, want %v %s", text, got.Type(), got.String(), want.Type(), want.String())
		}
	}
}

func TestTruncatedContentIsWellFormedAndMarked(t *testing.T) {
	long := strings.Repeat("é", maxContent)
	for name, text := range map[string]string{
		"a string":                fmt.Sprintf(`{"a":1,"b":{"c":[%q,2],"d":3},"e":4}`, long),
		"a key":                   fmt.Sprintf(`{"a":1,%q:2,"e":4}`, long),
		"many members":            `{"a":1` + strings.Repeat(`,"member":12345`, 2000) + `}`,
		"many elements":           `["a"` + strings.Repeat(`,[]`, 10) + strings.Repeat(`,"element"`, 2000) + `]`,
		"empty lists":             `["a"` + strings.Repeat(`,[]`, 1<<20) + `]`,
		"a long number":           `{"a":1,"b":` + strings.Repeat("9", 2*maxContent) + `}`,
		"deeply nested arrays":    `{"a":1,"b":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		"invalid JSON at the end": fmt.Sprintf(`{"a":1,"b":%q, and then nonsense`, long),
	} {
		text := structured(text).String()
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: the truncated content is not JSON: %v in %.80s", name, err, text)
		}
		if !strings.Contains(text, "cut at 8192 bytes") || len(text) > maxContent+1024 {
			t.Errorf("%s: got %d bytes that end %q, want about 8 KiB with a note", name, len(text), text[max(0, len(text)-60):])
		}
	}
}

func TestContentsWithinLimitKeepTheirJSON(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		all := []*rapid.Generator[any]{rapid.Bool().AsAny(), rapid.StringN(0, 20, -1).AsAny(),
			rapid.IntRange(-1e9, 1e9).AsAny(), rapid.Just(any(nil)), rapid.Float64Range(-1e6, 1e6).AsAny()}
		if depth < 3 {
			all = append(all, rapid.SliceOfN(value(depth+1), 0, 4).AsAny(),
				rapid.MapOfN(rapid.StringN(0, 8, -1), value(depth+1), 0, 4).AsAny())
		}
		return rapid.OneOf(all...)
	}
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(rapid.MapOfN(rapid.String(), value(0), 0, 4).Draw(t, "content"))
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		_ = json.Unmarshal(text, &want)
		kept := structured(string(text)).String()
		err = json.Unmarshal([]byte(kept), &got)
		cut := len(text) > maxContent && strings.Contains(kept, cutAt)
		if err != nil || !cut && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got %s, error %v", text, kept, err)
		}
	})
}
