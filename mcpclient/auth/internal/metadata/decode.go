package metadata

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decode decodes one JSON object and skips unknown members. Member names must be exact and unique. Errors about a
// value name its member.
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
			return invalid("member %.100q occurs twice", wrong.JSONPointer)
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

// member formats a pointer to a known member for an error: /scopes_supported/0 becomes scopes_supported/0.
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
