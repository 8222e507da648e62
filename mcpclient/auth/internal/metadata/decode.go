package metadata

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decode reads one JSON object, whose unknown members do not matter. Names have to be exact and unique, and what is
// wrong with a value says of which member.
func decode(data []byte, doc any) error {
	err := json.Unmarshal(data, doc)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		return invalid("%s is a JSON %s, want %s", member(wrong.JSONPointer), kindNames[wrong.JSONKind],
			describe(wrong.GoType))
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(wrong, jsontext.ErrDuplicateName) {
			return invalid("member %.100q is there twice", wrong.JSONPointer)
		}
		return invalid("document is not valid JSON: byte %d", wrong.ByteOffset)
	}
	return invalid("%v", err)
}

var kindNames = map[jsontext.Kind]string{
	jsontext.KindNull:        "null",
	jsontext.KindFalse:       "boolean",
	jsontext.KindTrue:        "boolean",
	jsontext.KindString:      "string",
	jsontext.KindNumber:      "number",
	jsontext.KindBeginObject: "object",
	jsontext.KindBeginArray:  "array",
}

// member names what a JSON pointer points to, one of the members we know: /scopes_supported/0 is scopes_supported/0.
func member(p jsontext.Pointer) string { return strings.TrimPrefix(string(p), "/") }

func describe(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array of strings"
	default:
		return "an object"
	}
}
