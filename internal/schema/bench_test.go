package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// order returns a schema like those of real tools, and a valid argument of about 1 KiB.
func order(tb testing.TB) (*Schema, []byte) {
	tb.Helper()
	s := mustCompile(tb, `{
		"type": "object",
		"properties": {
			"customer": {"$ref": "#/$defs/person"},
			"lines": {"type": "array", "minItems": 1, "items": {
				"type": "object",
				"properties": {
					"sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"},
					"count": {"type": "integer", "minimum": 1},
					"price": {"type": "number", "minimum": 0},
					"note": {"type": ["string", "null"], "maxLength": 80}
				},
				"required": ["sku", "count", "price"],
				"additionalProperties": false
			}},
			"priority": {"enum": ["low", "normal", "high"]}
		},
		"required": ["customer", "lines"],
		"additionalProperties": false,
		"$defs": {"person": {
			"type": "object",
			"properties": {"name": {"type": "string", "minLength": 1}, "email": {"type": "string"}, "vip": {"type": "boolean"}},
			"required": ["name"]
		}}
	}`)
	line := `{"sku":"ABC-12345","count":3,"price":19.95,"note":"gift wrap, no invoice inside"}`
	instance := `{"customer":{"name":"Ada Lovelace","email":"ada@example.com","vip":true},"lines":[` +
		strings.Repeat(line+",", 10) + line + `],"priority":"high"}`
	return s, []byte(instance)
}

func mustCompile(tb testing.TB, raw string) *Schema {
	tb.Helper()
	s, err := Compile(json.RawMessage(raw))
	if err != nil {
		tb.Fatalf("compile %s: %v", clip(raw, 200), err)
	}
	return s
}

func BenchmarkValidate(b *testing.B) {
	s, instance := order(b)
	if err := s.Validate(b.Context(), instance); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(instance)))
	b.ReportAllocs()
	for b.Loop() {
		s.Validate(b.Context(), instance)
	}
}

// BenchmarkParts splits the work of BenchmarkValidate into decoding and evaluation.
func BenchmarkParts(b *testing.B) {
	s, instance := order(b)
	v := mustDecode(b, instance)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newMeter(b.Context(), len(instance)).decode(instance, MaxInstanceDepth, false)
		}
	})
	b.Run("evaluate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.evaluate(newMeter(b.Context(), len(instance)), v, nil)
		}
	})
}

func mustDecode(tb testing.TB, instance []byte) value {
	tb.Helper()
	v, problem, err := newMeter(tb.Context(), len(instance)).decode(instance, MaxInstanceDepth, false)
	if problem != nil || err != nil {
		tb.Fatalf("decode %.200s: %v, %v", instance, problem, err)
	}
	return v
}

func BenchmarkValidateInvalid(b *testing.B) {
	s, instance := order(b)
	instance = []byte(strings.Replace(string(instance), `"count":3`, `"count":"3"`, 1))
	if s.Validate(b.Context(), instance) == nil {
		b.Fatal("want an error")
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Validate(b.Context(), instance)
	}
}

func BenchmarkCompile(b *testing.B) {
	s, _ := order(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(s.Raw()); err != nil {
			b.Fatal(err)
		}
	}
}
