// Package toolargs reads the arguments of tools from text, with the types of the tool's input schema.
package toolargs

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/typing"
)

// Parameters are the arguments of a tool, read from its input schema. If the schema of an argument uses keywords that
// this package does not support, the argument accepts any type, and the server validates it. The methods of Parameters
// and Parameter are not safe for concurrent use.
type Parameters struct {
	All  []*Parameter // the required ones first
	Open *Parameter   // describes arguments that the schema does not list; nil if there are none
}

// Parameter is one argument, one member of an object, or the items of an array.
type Parameter struct {
	Name     string
	Required bool
	*property
	doc     *document
	members []*Parameter // the result of Members
	element *Parameter   // the result of Item
}

// Read reads an input schema. The required arguments come first; each group has the order of the schema.
func Read(schema json.RawMessage) *Parameters {
	var root struct {
		object
		Ref   string            `json:"$ref"`
		AllOf []json.RawMessage `json:"allOf"`
		AnyOf []json.RawMessage `json:"anyOf"`
		OneOf []json.RawMessage `json:"oneOf"`
	}
	_ = json.Unmarshal(schema, &root) // an invalid schema yields no arguments
	d := newDocument(schema)
	elsewhere := root.Ref != "" || len(root.AllOf)+len(root.AnyOf)+len(root.OneOf) > 0 // other schemas list the arguments
	if elsewhere && len(root.Properties) == 0 {
		root.object = d.parameter("", schema).object
	}
	ps := &Parameters{All: d.list(&root.object)}
	if more := string(root.More); more != "" && more != "false" && more != "null" || elsewhere && len(ps.All) == 0 {
		ps.Open = d.parameter("", root.More)
	}
	return ps
}

// Allowed returns the values that the schema enumerates; nil if it enumerates none.
func (p *Parameter) Allowed() []json.RawMessage {
	if p.Const != nil {
		return []json.RawMessage{p.Const}
	}
	return p.Enum
}

// ValueTitle returns the title of a value of Allowed; empty if it has none.
func (p *Parameter) ValueTitle(i int) string {
	if p.Const != nil || i >= len(p.EnumNames) {
		return ""
	}
	return p.EnumNames[i]
}

// Types returns the types that the schema allows, without names that JSON Schema does not define; none if the schema
// allows any type. A schema that lists members allows only objects, even if it names no type.
func (p *Parameter) Types() []string {
	types := slices.DeleteFunc(slices.Clone(p.Type), func(t string) bool { return typeWords[t] == "" })
	if len(p.Type) == 0 && len(p.Properties) > 0 {
		types = append(types, "object")
	}
	return types
}

// Members returns the members of an object that the schema lists: the required ones first, each group in the order of
// the schema. It returns none for other types, and after the budget of the schema is used up.
func (p *Parameter) Members() []*Parameter {
	if p.members == nil && !p.doc.exhausted() {
		p.members = p.doc.list(&p.object)
	}
	return p.members
}

// Additional describes the members of an object that Members does not return. It returns nil if there are no such
// members: if additionalProperties is false, or is absent in a schema that lists members.
func (p *Parameter) Additional() *Parameter {
	more := string(p.More)
	if more == "false" || len(p.Properties) > 0 && (more == "" || more == "null") {
		return nil
	}
	return p.doc.parameter("", p.More)
}

// Item describes the items of an array.
func (p *Parameter) Item() *Parameter {
	if p.element == nil {
		p.element = p.doc.parameter(p.Name, p.Items)
	}
	return p.element
}

// maxSafeInteger is 2^53-1. Generators of schemas give it as the limit of each integer, where it says nothing.
const maxSafeInteger = 1<<53 - 1

// Limits describes the constraints of the schema on a value, except its type.
func (p *Parameter) Limits() string {
	var all []string
	say := func(format string, v any) { all = append(all, fmt.Sprintf(format, v)) }
	for _, n := range []struct {
		bound *float64
		words string
	}{
		{p.Minimum, "at least %v"}, {p.Above, "more than %v"}, {p.Maximum, "at most %v"}, {p.Below, "less than %v"},
		{p.MultipleOf, "a multiple of %v"},
	} {
		if n.bound != nil && math.Abs(*n.bound) != maxSafeInteger {
			number, _ := json.Marshal(*n.bound) // a number of JSON can be encoded
			say(n.words, string(number))
		}
	}
	for _, n := range []struct {
		bound *int
		words string
	}{
		{p.MinLength, "at least %v characters"}, {p.MaxLength, "at most %v characters"},
		{p.MinItems, "at least %v items"}, {p.MaxItems, "at most %v items"},
	} {
		if n.bound != nil {
			say(n.words, *n.bound)
		}
	}
	if p.Format != "" {
		say("format %v", p.Format)
	}
	if p.Pattern != "" {
		say("pattern %v", p.Pattern)
	}
	if p.Items != nil {
		item := p.Item()
		if len(item.Type) > 0 {
			say("items: %v", strings.Join(item.Type, " or "))
		}
		if allowed := item.Allowed(); allowed != nil {
			say("each one of %v", Listed(allowed))
		}
	}
	return strings.Join(all, ", ")
}

// names returns the names of all arguments.
func (ps *Parameters) names() []string { return names(ps.All) }

func names(ps []*Parameter) (all []string) {
	for _, p := range ps {
		all = append(all, p.Name)
	}
	return all
}

// Value converts text to the first possible type. It tries a string last.
func (p *Parameter) Value(text string) (json.RawMessage, error) {
	types, allowed := p.Types(), p.Allowed()
	if len(types) == 0 {
		types = []string{"null", "boolean", "number", "array", "object", "string"}
	}
	slices.SortStableFunc(types, func(a, b string) int { return rank(a) - rank(b) })
	for _, t := range types {
		raw, ok := parseAs(t, text)
		if !ok {
			continue
		}
		if allowed != nil {
			same := canonical(raw)
			if !slices.ContainsFunc(allowed, func(a json.RawMessage) bool { return canonical(a) == same }) {
				continue
			}
		}
		return raw, nil
	}
	if allowed != nil {
		return nil, fmt.Errorf("%s is not one of %s", quoted(text), Listed(allowed))
	}
	var wanted []string
	for _, t := range types {
		wanted = append(wanted, typeWords[t])
	}
	return nil, fmt.Errorf("%s is not %s", quoted(text), strings.Join(wanted, " or "))
}

// quoted returns the first 100 bytes of text in quotation marks.
func quoted(text string) string {
	const most = 100
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strconv.Quote(text)
}

func rank(typeName string) int {
	if typeName == "string" {
		return 1
	}
	return 0
}

// parseAs parses text as a value of a type.
func parseAs(typeName, text string) (json.RawMessage, bool) {
	raw := []byte(strings.TrimSpace(text))
	switch typeName {
	case "string":
		quoted, err := json.Marshal(text)
		return quoted, err == nil
	case "null":
		return raw, text == "null"
	case "boolean":
		b, err := typing.YesNo(text)
		return json.RawMessage(strconv.FormatBool(b)), err == nil && text != "y" && text != "n"
	case "integer":
		f, err := strconv.ParseFloat(text, 64)
		return raw, err == nil && json.Valid(raw) && f == math.Trunc(f)
	case "number":
		_, err := strconv.ParseFloat(text, 64)
		return raw, err == nil && json.Valid(raw)
	case "array":
		return raw, strings.HasPrefix(string(raw), "[") && json.Valid(raw)
	case "object":
		return raw, strings.HasPrefix(string(raw), "{") && json.Valid(raw)
	}
	return nil, false
}

// SameJSON reports whether a and b are equal as JSON values.
func SameJSON(a, b json.RawMessage) bool { return canonical(a) != "" && canonical(a) == canonical(b) }

// canonical returns the same text for equal JSON values, and "" for text that is not JSON.
func canonical(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// Listed joins up to 100 values: "a", "b", 3.
func Listed(values []json.RawMessage) string {
	const most = 100
	var all []string
	for _, v := range values[:min(len(values), most)] {
		all = append(all, string(v))
	}
	text := strings.Join(all, ", ")
	if more := len(values) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// typeWords describes a value of each type.
var typeWords = map[string]string{
	"string": "a string", "number": "a number", "integer": "an integer", "boolean": "true or false",
	"array": "an array as JSON", "object": "an object as JSON", "null": "null",
}
