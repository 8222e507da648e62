package schema

import (
	"encoding/json"
	"slices"
)

// CompileForm compiles the schema of a form for a user: a flat object with properties that are strings, numbers,
// integers, booleans, choices of one string or choices of several, as the specification defines them. Anything else,
// such as a reference, an object in the form or a combination of schemas, is a [*CompileError] with the reason
// [ErrForm]. A default with another type than its field is the same error. CompileForm ignores keywords that assert
// nothing, as JSON Schema requires.
//
// See https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation, Requested Schema, and
// PrimitiveSchemaDefinition in the schemas of 2025-06-18 to 2026-07-28.
func CompileForm(raw json.RawMessage) (*Schema, error) {
	s, err := Compile(raw)
	if err != nil {
		return nil, err
	}
	if err := checkForm(s.root); err != nil {
		return nil, err
	}
	return s, nil
}

// Keywords that the parts of a form may have. In each list, the specification's keywords come first. Servers also send
// the keywords behind them, which only restrict the values further.
var (
	formKeywords   = []string{"$schema", "type", "properties", "required", "additionalProperties"}
	textKeywords   = []string{"type", "default", "minLength", "maxLength", "enum", "oneOf", "pattern", "const"}
	numberKeywords = []string{"type", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf", "const"}
	choiceKeywords = []string{"type", "default", "minItems", "maxItems", "items", "uniqueItems"}
	itemKeywords   = []string{"type", "enum", "anyOf"}
	optionKeywords = []string{"const", "type"}

	fieldKeywords = map[string][]string{
		"string": textKeywords, "number": numberKeywords, "integer": numberKeywords, "boolean": {"type", "default", "const"},
		"array": choiceKeywords,
	}
)

func checkForm(n *node) error {
	if !n.raw.get("type").is("object") {
		return fail(ErrForm, n.pointer+"/type", `want "object"`)
	}
	if err := n.only(formKeywords); err != nil {
		return err
	}
	if n.others != nil && n.others.to.raw.kind() != absent {
		return fail(ErrForm, n.others.to.pointer, "want true or false")
	}
	for _, e := range n.properties {
		if err := checkField(e.to); err != nil {
			return err
		}
	}
	return nil
}

// only returns an error if n has a keyword of the dialect that is not in the list.
func (n *node) only(list []string) error {
	for _, name := range n.raw.sorted() {
		key := string(name.bytes())
		if _, known := keywords[key]; known && !slices.Contains(list, key) {
			return fail(ErrForm, n.pointer+token(key), "keyword not allowed in this part of a flat form")
		}
	}
	return nil
}

func checkField(n *node) error {
	if field := n.optional(); field != nil {
		if d := n.raw.get("default"); d.kind() != absent && d.kind() != 'n' && !field.fits(d) {
			return fail(ErrForm, n.pointer+"/default", "want null or a value of the field's type, not %s", show(d))
		}
		n = field
	}
	kind, list := "", []string(nil)
	if named := n.raw.get("type"); named.kind() == '"' {
		kind = string(named.bytes())
		list = fieldKeywords[kind]
	}
	if list == nil {
		return fail(ErrForm, n.pointer+"/type", "want one of string, number, integer, boolean and array, not %s",
			show(n.raw.get("type")))
	}
	if err := n.only(list); err != nil {
		return err
	}
	if d := n.raw.get("default"); d.kind() != absent && !n.fits(d) {
		return fail(ErrForm, n.pointer+"/default", "want a value of type %s, not %s", kind, show(d))
	}
	if err := n.checkChoice(n.oneOf); err != nil || kind != "array" {
		return err
	}
	if n.rest == nil || n.rest.to.enum == nil && n.rest.to.anyOf == nil {
		return fail(ErrForm, n.pointer+"/items", "want the values to choose from, in enum or anyOf")
	}
	items := n.rest.to
	if t := items.raw.get("type"); t.kind() != absent && !t.is("string") {
		return fail(ErrForm, items.pointer+"/type", `want "string"`)
	}
	if err := items.only(itemKeywords); err != nil {
		return err
	}
	return items.checkChoice(items.anyOf)
}

// optional returns the field in a union of a field and null, or nil if n is not such a union. The specification has no
// such union, but pydantic generates one for each optional field, and servers send it.
func (n *node) optional() *node {
	if n.raw.has("type") || len(n.anyOf) != 2 || n.only([]string{"anyOf", "default"}) != nil {
		return nil
	}
	first, second := n.anyOf[0].to, n.anyOf[1].to
	switch {
	case first.raw.get("type").is("null"):
		return second
	case second.raw.get("type").is("null"):
		return first
	}
	return nil
}

// fits reports whether the default v has the type of its field. The default of a choice of several is a list of
// strings.
func (n *node) fits(v value) bool {
	return n.types&v.types() != 0 && !slices.ContainsFunc(v.items(), func(v value) bool { return v.kind() != '"' })
}

// checkChoice checks the values to choose from: strings in enum, or options with titles.
func (n *node) checkChoice(options []*edge) error {
	for _, v := range n.enum {
		if v.kind() != '"' {
			return fail(ErrForm, n.pointer+"/enum", "want strings, not %s", show(v))
		}
	}
	for _, e := range options {
		if e.to.constant.kind() != '"' {
			return fail(ErrForm, e.to.pointer, "want an option with a string in const")
		}
		if err := e.to.only(optionKeywords); err != nil {
			return err
		}
	}
	return nil
}
