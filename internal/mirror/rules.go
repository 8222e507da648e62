package mirror

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// SchemaError describes the problem that makes an input schema with marks, and its tool, invalid. Its text escapes and
// truncates all quotes from the schema.
type SchemaError struct {
	Place string // JSON Pointer to the wrong schema
	Name  string // value of the schema's mark; "" if the value is not a string or not the problem
	Rule  string // the violated rule
}

func (e *SchemaError) Error() string {
	text := "input schema at " + quote(e.Place) + ": " + annotation
	if e.Name != "" {
		text += " " + quote(e.Name)
	}
	return text + ": " + e.Rule
}

// broken returns the rule that the mark breaks, or "". static means that the path from the root of the input schema to
// the marked property uses only the keyword properties.
func (m mark) broken(static bool) string {
	switch {
	case !static:
		return "the path from the root of the schema to a mirrored property must consist of properties"
	case m.name == nil:
		return "the header name must be a string"
	case len(m.name) == 0:
		return "the header name must not be empty"
	case len(m.name) > MaxName:
		return fmt.Sprintf("the header name may have at most %d bytes", MaxName)
	case !hostname.Token(m.name):
		return "the header name may only have letters, digits and !#$%&'*+-.^_`|~"
	case m.kind != "string" && m.kind != "integer" && m.kind != "boolean":
		return `the type of a mirrored property must be one of "string", "integer", "boolean"`
	}
	return ""
}

// applicator describes where a keyword's value has subschemas.
type applicator uint8

const (
	plainly applicator = iota + 1 // the value is a subschema or a list of subschemas
	byName                        // the value is an object of subschemas; its names are not keywords
)

// applicators are the keywords, other than properties, with subschemas in their values, in draft 2020-12 and earlier
// drafts. The values of all other keywords are data.
var applicators = map[string]applicator{
	"items": plainly, "prefixItems": plainly, "additionalItems": plainly, "unevaluatedItems": plainly, "contains": plainly,
	"additionalProperties": plainly, "unevaluatedProperties": plainly, "propertyNames": plainly,
	"allOf": plainly, "anyOf": plainly, "oneOf": plainly, "not": plainly,
	"if": plainly, "then": plainly, "else": plainly,
	"contentSchema": plainly,

	"patternProperties": byName, "dependentSchemas": byName, "dependencies": byName,
	"$defs": byName, "definitions": byName,
}

// escape escapes a name for a JSON Pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the JSON Pointer to the current place.
func (w *walk) pointer() string {
	var b strings.Builder
	for _, step := range w.place {
		b.WriteByte('/')
		escape.WriteString(&b, step)
	}
	return b.String()
}
