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

// InferInput returns the JSON Schema of a Go type that a tool takes as its
// arguments. It has to be a struct, a map with string keys, or one that holds
// any JSON (any, json.RawMessage, jsontext.Value); a pointer stands for its
// element.
//
// The schema describes what package json/v2 reads and writes. A struct's
// properties are its fields under their JSON names, in order, required unless
// omitempty, omitzero or with a default, and no others are allowed. A field tag
// `jsonschema:"text"` is the property's description, and `keywords:"minimum=1"` sets
// [tagKeywords]. A type with a text form of its own is a string, one with a JSON
// form of its own is any value, a time.Duration a number of nanoseconds.
//
// Types that have no schema are an error that names the field: channels,
// functions, complex numbers, interfaces with methods, maps with keys that are
// not strings, types that contain themselves, and fields whose tag changes
// their form (string, format, inline, unknown). Give a schema instead.
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
		return nil, fmt.Errorf("input schema: the input is %v, and must be a struct or a map: arguments are an object", t)
	}
	return encode(s)
}

// InferOutput returns the JSON Schema of a Go type that a tool returns as
// structured content, by the rules of [InferInput] except that any type that
// has a schema will do. The schema is nil if there is nothing to say, as for
// any.
//
// It reports whether the value is an object. Only an object can be structured
// content before version 2026-07-28 of the protocol.
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

// base follows pointers.
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

// encode writes s. The library writes a schema without keywords as true, and
// MCP wants the properties of a tool's schema to be objects: {}.
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
