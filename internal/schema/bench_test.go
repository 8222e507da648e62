package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// order is a schema as tools have them, and a valid argument of about 1 KiB.
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
	if err := s.Validate(instance); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(instance)))
	b.ReportAllocs()
	for b.Loop() {
		s.Validate(instance)
	}
}

// BenchmarkParts shows what of BenchmarkValidate is decoding, the meter and
// the library.
func BenchmarkParts(b *testing.B) {
	s, instance := order(b)
	v, _ := decode(instance, MaxInstanceDepth, rounded)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			decode(instance, MaxInstanceDepth, rounded)
		}
	})
	b.Run("meter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := meter{left: baseWork}
			m.visit(s.root, v)
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.resolved.Validate(v)
		}
	})
}

func BenchmarkValidateInvalid(b *testing.B) {
	s, instance := order(b)
	instance = []byte(strings.Replace(string(instance), `"count":3`, `"count":"3"`, 1))
	if s.Validate(instance) == nil {
		b.Fatal("want an error")
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Validate(instance)
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
