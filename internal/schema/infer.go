package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// InferInput returns the JSON Schema of a Go type that a tool uses for its arguments. The type must be a struct, a map
// with string keys, or a type that holds any JSON (any, json.RawMessage, jsontext.Value); a pointer means its element.
//
// The schema describes the JSON that package json/v2 reads and writes. The properties of a struct are its fields under
// their JSON names, in order. They are required unless they have omitempty, omitzero or a default, and other properties
// are not allowed. A field tag `jsonschema:"text"` is the property's description, and `keywords:"minimum=1"` sets
// [tagKeywords]. A type with its own text form becomes a string, a type with its own JSON form becomes any value, and a
// time.Duration becomes a number of nanoseconds.
//
// A type without a schema is an error that names the field: channels, functions, complex numbers, interfaces with
// methods, maps with keys that are not strings, types that contain themselves, and fields with a tag that changes their
// form (string, format, inline, unknown). Callers provide a schema for these.
//
// The same type always gives the same bytes.
func InferInput(t reflect.Type) (json.RawMessage, error) {
	s, err := infer(t)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	switch base(t) {
	case reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[jsontext.Value]():
		s.Type = "object"
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("input schema: arguments are an object, want a struct or a map, not %v", t)
	}
	return encode(s)
}

// InferOutput returns the JSON Schema of a Go type that a tool returns as structured content. It follows the rules of
// [InferInput], but accepts every type that has a schema. raw is nil if the schema permits every JSON value, for
// example for the Go type `any`.
//
// isObject reports whether the value is an object. Before version 2026-07-28 of the protocol, structured content must
// be an object.
func InferOutput(t reflect.Type) (raw json.RawMessage, isObject bool, err error) {
	s, err := infer(t)
	if err != nil {
		return nil, false, fmt.Errorf("output schema: %w", err)
	}
	if s.Type == "" && s.Types == nil {
		return nil, false, nil
	}
	raw, err = encode(s)
	return raw, s.Type == "object", err
}

// base returns the type behind all pointers.
func base(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func infer(t reflect.Type) (*jsonschema.Schema, error) {
	if t == nil {
		return nil, errors.New("nil type")
	}
	t = base(t)
	i := inspection{forms: map[reflect.Type]*jsonschema.Schema{}, open: map[reflect.Type]bool{}}
	if err := i.inspect(t, t.String()); err != nil {
		return nil, err
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: i.forms})
	if err != nil {
		return nil, err
	}
	return s, i.refine(t, s, t.String())
}

// encode returns s as JSON. The library encodes a schema without keywords as true, but MCP requires the properties of a
// tool's schema to be objects, so encode writes {} there.
func encode(s *jsonschema.Schema) (json.RawMessage, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewBuffer(raw)), jsontext.NewEncoder(&out)
	for err == nil {
		var tok jsontext.Token
		switch tok, err = dec.ReadToken(); {
		case err == io.EOF:
			return bytes.TrimSpace(out.Bytes()), nil
		case tok.Kind() == 't' && dec.StackPointer().Parent() == "/properties":
			err = enc.WriteValue(jsontext.Value("{}"))
		case err == nil:
			err = enc.WriteToken(tok)
		}
	}
	return nil, err
}
