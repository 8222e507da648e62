// Package toolargs reads the arguments of tools from text, with the types of the tool's input schema.
package toolargs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/typing"
)

// Parameters are the arguments of a tool, read from its input schema. If the schema of an argument uses keywords that
// this package does not support, the argument accepts any type, and the server validates it.
type Parameters struct {
	All  []*Parameter // the required ones first
	Open *Parameter   // describes additional arguments; nil if additionalProperties is absent or false
}

// Parameter is one argument.
type Parameter struct {
	Name     string
	Required bool
	property
	doc *document
}

// document is a whole schema, which resolves references. The budget bounds the work for a hostile schema: after it is
// used up, further schemas accept any type.
type document struct {
	root   json.RawMessage
	found  map[string]json.RawMessage // targets by reference; bounded by budget
	budget int                        // remaining number of schemas to read
	depth  int                        // depth of the current schema
}

const (
	mostSchemas    = 5000 // bounds the schemas that are read within one schema
	deepestSchemas = 16   // bounds the depth of references and branches
)

// resolve returns the target of a reference within the document, or nil if there is no target.
func (d *document) resolve(path string) json.RawMessage {
	if target, ok := d.found[path]; ok {
		return target
	}
	target := d.root
	for step := range strings.SplitSeq(path, "/") {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(target, &members)
		target = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	d.found[path] = target
	return target
}

// property holds the keywords of a schema for a value.
type property struct {
	Ref         string                     `json:"$ref"`
	Type        typeNames                  `json:"type"`
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Default     json.RawMessage            `json:"default"`
	Examples    []json.RawMessage          `json:"examples"`
	Const       json.RawMessage            `json:"const"`
	Enum        []json.RawMessage          `json:"enum"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	Items       json.RawMessage            `json:"items"`
	Format      string                     `json:"format"`
	Pattern     string                     `json:"pattern"`
	Minimum     *float64                   `json:"minimum"`
	Maximum     *float64                   `json:"maximum"`
	Above       *float64                   `json:"exclusiveMinimum"`
	Below       *float64                   `json:"exclusiveMaximum"`
	MultipleOf  *float64                   `json:"multipleOf"`
	MinLength   *int                       `json:"minLength"`
	MaxLength   *int                       `json:"maxLength"`
	MinItems    *int                       `json:"minItems"`
	MaxItems    *int                       `json:"maxItems"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
}

// typeNames are the types that a schema allows.
type typeNames []string

// UnmarshalJSON decodes one name or a list of names.
func (t *typeNames) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	var several []string
	err := json.Unmarshal(raw, &several)
	*t = several
	return err
}

// Read reads an input schema. Required arguments come first.
func Read(schema json.RawMessage) *Parameters {
	var object struct {
		Properties           map[string]json.RawMessage `json:"properties"`
		Required             []string                   `json:"required"`
		AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	}
	_ = json.Unmarshal(schema, &object) // an invalid schema yields no arguments
	ps := &Parameters{}
	d := &document{root: schema, found: map[string]json.RawMessage{}, budget: mostSchemas}
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		p := d.parameter(name, object.Properties[name])
		p.Required = slices.Contains(object.Required, name)
		ps.All = append(ps.All, p)
	}
	slices.SortStableFunc(ps.All, func(a, b *Parameter) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	if more := string(object.AdditionalProperties); more != "" && more != "false" && more != "null" {
		ps.Open = d.parameter("", object.AdditionalProperties)
	}
	return ps
}

// parameter reads a schema and the schemas that it refers to.
func (d *document) parameter(name string, raw json.RawMessage) *Parameter {
	p := &Parameter{Name: name, doc: d}
	d.depth++
	defer func() { d.depth-- }()
	if d.budget--; d.budget < 0 || d.depth > deepestSchemas || json.Unmarshal(raw, &p.property) != nil {
		p.property = property{}
		return p
	}
	if path, ok := strings.CutPrefix(p.Ref, "#/"); ok {
		if target := d.resolve(path); target != nil {
			found := d.parameter(name, target)
			found.Description = cmp.Or(p.Description, found.Description)
			if p.Default != nil {
				found.Default = p.Default
			}
			return found
		}
	}
	for _, branch := range slices.Concat(p.AnyOf, p.OneOf) {
		one := d.parameter(name, branch)
		for _, t := range one.Type {
			if !slices.Contains(p.Type, t) {
				p.Type = append(p.Type, t)
			}
		}
		p.Enum = append(p.Enum, one.Allowed()...)
		if p.Items == nil {
			p.Items = one.Items
		}
	}
	return p
}

// Allowed returns the values that the schema enumerates; nil if it enumerates none.
func (p *Parameter) Allowed() []json.RawMessage {
	if p.Const != nil {
		return []json.RawMessage{p.Const}
	}
	return p.Enum
}

// item describes the elements of an array.
func (p *Parameter) item() *Parameter { return p.doc.parameter(p.Name, p.Items) }

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
		if n.bound != nil {
			say(n.words, *n.bound)
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
		item := p.item()
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
func (ps *Parameters) names() (all []string) {
	for _, p := range ps.All {
		all = append(all, p.Name)
	}
	return all
}

// find returns the argument with this name. For an unknown name it returns ps.Open.
func (ps *Parameters) find(name string) *Parameter {
	for _, p := range ps.All {
		if p.Name == name {
			return p
		}
	}
	return ps.Open
}

// Field is an argument as a person types it: NAME=VALUE.
type Field struct{ Name, Value string }

// Assign builds a JSON object from NAME=VALUE arguments.
func (ps *Parameters) Assign(fields []Field) (json.RawMessage, error) {
	typed := map[string][]string{}
	for _, f := range fields {
		typed[f.Name] = append(typed[f.Name], f.Value)
	}
	object := map[string]json.RawMessage{}
	for name, values := range typed {
		p := ps.find(name)
		if p == nil {
			return nil, UnknownArgument(name, ps.names())
		}
		value, err := p.read(values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		object[name] = value
	}
	raw, err := json.Marshal(object)
	return raw, err
}

// UnknownArgument returns the error for an argument that the tool or prompt does not have.
func UnknownArgument(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown argument %q; no arguments are allowed", name)
	}
	return fmt.Errorf("unknown argument %q%s; known: %s", name, typing.Hint(name, known), strings.Join(known, ", "))
}

// read converts the values of one argument: a single value, or several for an array.
func (p *Parameter) read(values []string) (json.RawMessage, error) {
	array := slices.Contains(p.Type, "array")
	if len(values) == 1 {
		if whole, err := p.value(values[0]); err == nil || !array {
			return whole, err
		}
	}
	if !array {
		return nil, fmt.Errorf("given %d times, want one value", len(values))
	}
	items := make([]json.RawMessage, 0, len(values))
	for _, text := range values {
		item, err := p.item().value(text)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return json.Marshal(items)
}

// value converts text to the first possible type. It tries a string last.
func (p *Parameter) value(text string) (json.RawMessage, error) {
	types := slices.DeleteFunc(slices.Clone(p.Type), func(t string) bool { return typeWords[t] == "" })
	if len(types) == 0 {
		types = typeNames{"null", "boolean", "number", "array", "object", "string"}
	}
	slices.SortStableFunc(types, func(a, b string) int { return rank(a) - rank(b) })
	for _, t := range types {
		raw, ok := parseAs(t, text)
		if !ok {
			continue
		}
		if allowed := p.Allowed(); allowed != nil && !slices.ContainsFunc(allowed, func(a json.RawMessage) bool {
			return sameJSON(a, raw)
		}) {
			continue
		}
		return raw, nil
	}
	if allowed := p.Allowed(); allowed != nil {
		return nil, fmt.Errorf("%q is not one of %s", text, Listed(allowed))
	}
	var wanted []string
	for _, t := range types {
		wanted = append(wanted, typeWords[t])
	}
	return nil, fmt.Errorf("%q is not %s", text, strings.Join(wanted, " or "))
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

// sameJSON reports whether a and b are equal as JSON values.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	one, err1 := json.Marshal(x)
	other, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && string(one) == string(other)
}

// Listed joins values: "a", "b", 3.
func Listed(values []json.RawMessage) string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return strings.Join(all, ", ")
}

// typeWords describes a value of each type.
var typeWords = map[string]string{
	"string": "a string", "number": "a number", "integer": "an integer", "boolean": "true or false",
	"array": "an array as JSON", "object": "an object as JSON", "null": "null",
}
