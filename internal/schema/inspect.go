package schema

import (
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// An inspection walks a Go type before the library infers its schema. The library looks at kinds only; the inspection
// handles types and tags that give a value another JSON form, and its errors name the field.
type inspection struct {
	forms map[reflect.Type]*jsonschema.Schema // schemas that override the library's
	open  map[reflect.Type]bool               // types on the path from the root
}

var (
	streamForms = implementable[json.MarshalerTo, json.UnmarshalerFrom]()
	jsonForms   = implementable[stdjson.Marshaler, stdjson.Unmarshaler]()
	textForms   = implementable[encoding.TextMarshaler, encoding.TextUnmarshaler]()
)

// implementable returns the two interfaces as types.
func implementable[A, B any]() [2]reflect.Type {
	return [2]reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B]()}
}

// implements reports whether t or a pointer to it implements either interface.
func implements(t reflect.Type, forms [2]reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(forms[0]) || p.Implements(forms[1])
}

// special returns the schema of a type whose JSON form differs from its kind, or nil.
func special(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[big.Int](), reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "integer"}
	}
	switch {
	case implements(t, streamForms), implements(t, jsonForms):
		return &jsonschema.Schema{}
	case implements(t, textForms):
		return &jsonschema.Schema{Type: "string"}
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem() == reflect.TypeFor[byte]():
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

// inspect checks t. place names t in errors.
func (i *inspection) inspect(t reflect.Type, place string) error {
	t = base(t)
	if i.forms[t] != nil {
		return nil
	}
	if s := special(t); s != nil {
		i.forms[t] = s
		return nil
	}
	if i.open[t] {
		return fmt.Errorf("%s: %v contains itself", place, t)
	}
	i.open[t] = true
	defer delete(i.open, t)
	switch t.Kind() {
	case reflect.Struct:
		return i.fields(t, place)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("%s: a map with keys of type %v has no JSON Schema", place, t.Key())
		}
		return i.inspect(t.Elem(), place+"[]")
	case reflect.Slice, reflect.Array:
		return i.inspect(t.Elem(), place+"[]")
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("%s: the interface %v has no JSON Schema", place, t)
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("%s: %v has no JSON Schema", place, t)
	}
	return nil
}

func (i *inspection) fields(t reflect.Type, place string) error {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if !f.IsExported() && !f.Anonymous || tag == "-" {
			continue
		}
		place := place + "." + f.Name
		if err := checkTag(f, tag); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		if err := i.inspect(f.Type, place); err != nil {
			return err
		}
	}
	return nil
}

// checkTag rejects a json tag with options that the library ignores.
func checkTag(f reflect.StructField, tag string) error {
	name, options, _ := strings.Cut(tag, ",")
	if strings.HasPrefix(name, "'") {
		return fmt.Errorf("no schema for a field with a JSON name in single quotes: %s; remove the quotes", tag)
	}
	if f.Anonymous && (name != "" || base(f.Type).Kind() != reflect.Struct || special(base(f.Type)) != nil) {
		return fmt.Errorf("no schema for an embedded field with a JSON name, or with a type that is not a plain struct; " +
			"name the field")
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option, _, _ = strings.Cut(option, ":"); option {
		case "string", "format", "inline", "embed", "unknown":
			return fmt.Errorf("no schema for a field with the json option %s", option)
		}
	}
	return nil
}
