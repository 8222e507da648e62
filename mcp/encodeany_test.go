package mcp

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// anything generates values of type any, as programs use them for the arguments of a tool.
func anything(level int) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\xff", "a\x00\b\f\n\r\t\"\\/<>&\u2028\x7f", "é\xc3"}))
	scalars := rapid.OneOf(
		rapid.Just[any](nil), text.AsAny(), rapid.Bool().AsAny(), rapid.Int().AsAny(), rapid.Int64().AsAny(),
		rapid.Float64().AsAny(), rapid.Uint8().AsAny(), rapid.Float32().AsAny(), rapid.SliceOfN(text, 0, 3).AsAny(),
		rapid.SampledFrom([]any{math.Copysign(0, -1), 1e21, -1e21, float64(1 << 53), -float64(1<<53 - 1), 0.5,
			math.MaxFloat64, math.MaxInt64, []any(nil), map[string]any(nil), []string(nil), verbatim("[1]")}),
	)
	if level == 0 {
		return scalars
	}
	inner := anything(level - 1)
	return rapid.OneOf(scalars, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(text, inner, 0, 20).AsAny())
}

func TestAppendAnyMatchesJSONLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anything(3).Draw(t, "value")
		want, wantErr := appendByLibrary([]byte("before "), v)
		got, err := appendValue([]byte("before "), v)
		if string(got) != string(want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("%s, %v\nwant %s, %v", got, err, want, wantErr)
		}
	})
}

func TestCyclicValueIsAnError(t *testing.T) {
	m := map[string]any{"a": 1}
	m["b"] = []any{m}
	if got, err := AppendParams([]byte("before "), m); err == nil || string(got) != "before " {
		t.Fatalf("%.100s, %v, want an error and nothing more", got, err)
	}
}
