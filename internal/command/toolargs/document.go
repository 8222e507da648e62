package toolargs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// document is a whole schema, which resolves references. Two budgets bound the work for a hostile schema: after one of
// them is used up, further schemas accept any type and have no members.
type document struct {
	root    json.RawMessage
	objects map[string]map[string]json.RawMessage // members of objects in root, by JSON pointer; bounded by work
	budget  int                                   // remaining number of schemas to read
	work    int                                   // remaining number of bytes to decode
	depth   int                                   // depth of the current schema
}

const (
	mostSchemas    = 5000      // bounds the schemas that are read within one schema
	deepestSchemas = 16        // bounds the depth of references and branches
	leastWork      = 256 << 10 // bytes to decode for a schema of any size
	workPerByte    = 32        // further bytes to decode for each byte of a schema
)

func newDocument(schema json.RawMessage) *document {
	return &document{
		root: schema, objects: map[string]map[string]json.RawMessage{}, budget: mostSchemas,
		work: leastWork + workPerByte*len(schema),
	}
}

// exhausted reports whether a budget is used up.
func (d *document) exhausted() bool { return d.budget < 0 || d.work < 0 }

// resolve returns the target of a reference within the document, or nil if there is no target.
func (d *document) resolve(path string) json.RawMessage {
	target, pointer := d.root, ""
	for step := range strings.SplitSeq(path, "/") {
		members, ok := d.objects[pointer]
		if !ok {
			if d.work -= len(target); d.exhausted() {
				return nil
			}
			_ = json.Unmarshal(target, &members) // other values have no members
			d.objects[pointer] = members
		}
		if target = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]; target == nil {
			return nil
		}
		pointer += "/" + step
	}
	return target
}

// property holds the keywords of a schema for a value.
type property struct {
	Ref              string            `json:"$ref"`
	Type             typeNames         `json:"type"`
	Title            string            `json:"title"`
	Description      string            `json:"description"`
	Default          json.RawMessage   `json:"default"`
	Examples         []json.RawMessage `json:"examples"`
	Const            json.RawMessage   `json:"const"`
	Enum             []json.RawMessage `json:"enum"`
	EnumNames        valueTitles       `json:"enumNames"`
	AnyOf            []json.RawMessage `json:"anyOf"`
	OneOf            []json.RawMessage `json:"oneOf"`
	Items            json.RawMessage   `json:"items"`
	Format           string            `json:"format"`
	Pattern          string            `json:"pattern"`
	ContentEncoding  string            `json:"contentEncoding"`
	ContentMediaType string            `json:"contentMediaType"`
	Minimum          *float64          `json:"minimum"`
	Maximum          *float64          `json:"maximum"`
	Above            *float64          `json:"exclusiveMinimum"`
	Below            *float64          `json:"exclusiveMaximum"`
	MultipleOf       *float64          `json:"multipleOf"`
	MinLength        *int              `json:"minLength"`
	MaxLength        *int              `json:"maxLength"`
	MinItems         *int              `json:"minItems"`
	MaxItems         *int              `json:"maxItems"`
	object
}

// object holds the keywords of a schema for the members of an object.
type object struct {
	Properties members         `json:"properties"`
	Needed     []string        `json:"required"`
	More       json.RawMessage `json:"additionalProperties"`
}

// anything is the property of schemas that are not read. It is not modified.
var anything = &property{}

// valueTitles are the titles of the values in Enum.
type valueTitles []string

// UnmarshalJSON decodes a list of titles. It ignores other values, because the keyword is not part of JSON Schema.
func (t *valueTitles) UnmarshalJSON(raw []byte) error {
	var all []string
	if json.Unmarshal(raw, &all) == nil {
		*t = all
	}
	return nil
}

// typeNames are the types that a schema allows.
type typeNames []string

// UnmarshalJSON decodes one name or a list of names. It omits names after the 16th.
func (t *typeNames) UnmarshalJSON(raw []byte) error {
	const most = 16
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	var several []string
	err := json.Unmarshal(raw, &several)
	*t = several[:min(len(several), most)]
	return err
}

// members are the members of a JSON object, in their order.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON decodes an object.
func (m *members) UnmarshalJSON(raw []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	switch d.PeekKind() {
	case 'n':
		return nil
	case '{':
	default:
		return errors.New("not an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		*m = append(*m, member{name, json.RawMessage(value.Clone())})
	}
	return nil
}

// list reads the members of an object: the required ones first, each group in the order of the schema.
func (d *document) list(o *object) []*Parameter {
	needed := make(map[string]bool, len(o.Needed))
	for _, name := range o.Needed {
		needed[name] = true
	}
	var required, optional []*Parameter
	for _, m := range o.Properties {
		p := d.parameter(m.name, m.value)
		if p.Required = needed[m.name]; p.Required {
			required = append(required, p)
		} else {
			optional = append(optional, p)
		}
	}
	return append(required, optional...)
}

// parameter reads a schema and the schemas that it refers to.
func (d *document) parameter(name string, raw json.RawMessage) *Parameter {
	p := &Parameter{Name: name, doc: d, property: anything}
	d.depth++
	defer func() { d.depth-- }()
	d.budget--
	if d.work -= len(raw); d.exhausted() || d.depth > deepestSchemas {
		return p
	}
	read := &property{}
	if json.Unmarshal(raw, read) != nil {
		return p
	}
	p.property = read
	if path, ok := strings.CutPrefix(p.Ref, "#/"); ok {
		if target := d.resolve(path); target != nil {
			return d.parameter(name, target).under(p)
		}
	}
	var branches []*Parameter
	nullable := false
	for _, branch := range slices.Concat(p.AnyOf, p.OneOf) {
		one := d.parameter(name, branch)
		if slices.Equal(one.Type, typeNames{"null"}) && one.Allowed() == nil {
			nullable = true
		} else {
			branches = append(branches, one)
		}
	}
	if len(branches) == 1 && branches[0].Const == nil && p.Type == nil && p.Properties == nil && p.Allowed() == nil {
		return branches[0].under(p).orNull(nullable)
	}
	p.merge(branches)
	return p.orNull(nullable)
}

// under returns p with the title, description and default of a schema that refers to p.
func (p *Parameter) under(referrer *Parameter) *Parameter {
	changed := *p.property
	p.property = &changed
	p.Title = cmp.Or(referrer.Title, p.Title)
	p.Description = cmp.Or(referrer.Description, p.Description)
	if referrer.Default != nil {
		p.Default = referrer.Default
	}
	return p
}

// orNull adds null to the types and the allowed values. It may modify the property of p.
func (p *Parameter) orNull(nullable bool) *Parameter {
	if !nullable {
		return p
	}
	if len(p.Type) > 0 && !slices.Contains(p.Type, "null") {
		p.Type = append(slices.Clone(p.Type), "null")
	}
	if allowed := p.Allowed(); allowed != nil {
		p.Const, p.Enum = nil, append(slices.Clone(allowed), json.RawMessage("null"))
	}
	return p
}

// merge makes p allow the types of several alternatives, and their values if each alternative enumerates its values.
func (p *Parameter) merge(branches []*Parameter) {
	own, untyped, enumerated := p.Type, false, true
	arrays := 0
	var values []json.RawMessage
	var titles valueTitles
	for _, one := range branches {
		allowed := one.Allowed()
		for i := range allowed {
			if one.Const != nil {
				titles = append(titles, one.Title)
			} else {
				titles = append(titles, one.ValueTitle(i))
			}
		}
		untyped = untyped || len(one.Type) == 0 && allowed == nil
		enumerated = enumerated && allowed != nil
		values = append(values, allowed...)
		for _, t := range one.Type {
			if !slices.Contains(p.Type, t) {
				p.Type = append(slices.Clip(p.Type), t)
			}
		}
		if one.Items != nil {
			if arrays++; p.Items == nil {
				p.Items = one.Items
			}
		}
	}
	if untyped {
		p.Type = own
	}
	if enumerated {
		for len(p.EnumNames) < len(p.Enum) {
			p.EnumNames = append(p.EnumNames, "")
		}
		p.EnumNames = append(p.EnumNames[:len(p.Enum):len(p.Enum)], titles...)
		p.Enum = append(p.Enum, values...)
	}
	if arrays > 1 {
		p.Items = nil
	}
}
