package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// SchemaOf returns the JSON Schema that [AddTool] infers from a type, for [mcp.Tool.InputSchema] and
// [mcp.Tool.OutputSchema]. Each refine is a JSON merge patch (RFC 7396) that changes the schema: a member of a patch
// replaces the member of the schema, an object is merged into an object, and null removes the member. Use patches for
// keywords that the tags of fields do not support:
//
//	input, err := mcpserver.SchemaOf[route](`{"dependentRequired": {"arrival": ["timezone"]}}`)
//
// SchemaOf returns an error if the type has no schema, if a patch is not a JSON object or if the result is not a
// schema. A type that allows any value, such as any, has an empty schema.
func SchemaOf[T any](refine ...string) (json.RawMessage, error) {
	t := reflect.TypeFor[T]()
	raw, _, err := schema.InferOutput(t)
	if err != nil {
		return nil, err
	}
	s := mcp.Object(raw)
	for i, patch := range refine {
		if s, err = merged(s, json.RawMessage(patch)); err != nil {
			return nil, fmt.Errorf("schema of %v: refinement %d: %w", t, i+1, err)
		}
	}
	if s == nil {
		s = mcp.Object("{}")
	}
	if _, err := schema.Compile(json.RawMessage(s)); err != nil {
		return nil, fmt.Errorf("schema of %v: %w", t, err)
	}
	return json.RawMessage(s), nil
}

// merged applies a merge patch, which must be an object, to o.
func merged(o mcp.Object, patch json.RawMessage) (mcp.Object, error) {
	var changes mcp.Object
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	if changes == nil {
		return nil, errors.New("null is not a JSON object")
	}
	var err error
	for name, value := range changes.All() {
		switch {
		case string(value) == "null":
			o = o.Without(name)
			continue
		case value[0] == '{':
			old, _ := o.Lookup(name)
			if len(old) == 0 || old[0] != '{' {
				old = nil
			}
			var inner mcp.Object
			if inner, err = merged(mcp.Object(old), value); err != nil {
				return nil, err
			}
			if inner == nil {
				inner = mcp.Object("{}")
			}
			value = json.RawMessage(inner)
		}
		if o, err = o.With(name, value); err != nil {
			return nil, err
		}
	}
	return o, nil
}
