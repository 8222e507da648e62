// Package toolform models an HTML form for the arguments of a tool. A page draws the fields of the form, and a browser
// submits them; neither needs JavaScript. The package does no I/O and writes no HTML.
//
// The name of each input is the JSON pointer of its value below the arguments, such as "/to/city" or "/lines/0/qty". A
// hidden input with the pointer of an array of objects and "#", such as "/lines#", has the number of its items.
package toolform

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// Kind is the kind of a field.
type Kind string

// The kinds of fields.
const (
	KindText    Kind = "text"    // one line of text
	KindArea    Kind = "area"    // several lines of text
	KindNumber  Kind = "number"  // a number as text
	KindChoice  Kind = "choice"  // one of Field.Choices
	KindBoolean Kind = "boolean" // one of Field.Choices: true, false, or null if the schema allows it
	KindList    Kind = "list"    // an array of scalars: several of Field.Choices; without choices, a line for each item
	KindObject  Kind = "object"  // an object, with its members in Field.Fields
	KindArray   Kind = "array"   // an array of objects, with its items in Field.Fields
	KindJSON    Kind = "json"    // several lines of JSON, or of plain text if the schema allows strings
)

// Other is the path of the field for arguments that have no field of their own. Its value is a JSON object.
const Other = "#"

const (
	deepestField = 5    // deeper values are JSON
	mostFields   = 200  // bounds the fields of a form, with one item for each array
	mostDrawn    = 2000 // bounds the fields with all items
	mostItems    = 100  // bounds the items of an array of objects
	mostTicks    = 30   // bounds the choices of a list
	mostChoices  = 1000 // bounds the choices of a field
	allChoices   = 5000 // bounds the choices of a form
	longestText  = 2000 // bounds a description, in bytes
	longestLabel = 200  // bounds a label, a default and a choice, in bytes
	longestLine  = 200  // a string that may have more characters gets an area
)

// Form is the form for the arguments of a tool. A Form does not change, and is safe for concurrent use.
type Form struct {
	root     []*node
	other    bool // there is a field Other
	complete bool
}

// node is the part of a form that describes one argument, one member of an object, or the items of an array.
type node struct {
	*toolargs.Parameter
	kind     Kind
	types    []string
	limits   string
	allowed  []json.RawMessage   // the values of a choice
	choices  []Choice            // for allowed
	fallback int                 // the index of the default in allowed, or -1
	members  []*node             // of an object
	element  *toolargs.Parameter // of a list
	item     *node               // of an array
}

// Of returns the form for the input schema of a tool. If the schema has too many members for all levels, Of uses fewer
// levels. If the arguments alone are more than 200, Of returns a form with the single field [Other].
func Of(schema json.RawMessage) *Form {
	ps := toolargs.Read(schema)
	for deepest := deepestField; deepest > 0; deepest-- {
		b := &builder{deepest: deepest}
		if root := b.nodes(ps.All, 1); b.fields <= mostFields {
			return &Form{root: root, other: ps.Open != nil, complete: true}
		}
	}
	return &Form{other: true}
}

// Complete reports whether the arguments that the schema lists have fields. If it is false, the only field is [Other].
func (f *Form) Complete() bool { return f.complete }

// builder builds the nodes of a form.
type builder struct {
	deepest         int
	fields, choices int
}

// nodes returns a node for each parameter. It stops when there are too many fields.
func (b *builder) nodes(ps []*toolargs.Parameter, depth int) (all []*node) {
	for _, p := range ps {
		if b.fields > mostFields {
			return nil
		}
		if strings.HasSuffix(p.Name, "#") { // the input could not be distinguished from the number of items of an array
			b.fields = mostFields
		}
		all = append(all, b.node(p, depth))
	}
	return all
}

func (b *builder) node(p *toolargs.Parameter, depth int) *node {
	b.fields++
	n := &node{Parameter: p, kind: KindJSON, types: p.Types(), limits: visible.Short(p.Limits(), longestText)}
	types := slices.DeleteFunc(slices.Clone(n.types), func(t string) bool { return t == "null" })
	only := func(names ...string) bool {
		return len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(names, t) })
	}
	allowed := p.Allowed()
	switch {
	case allowed != nil && len(allowed) <= min(mostChoices, allChoices-b.choices):
		n.choose(KindChoice, allowed)
		b.choices += len(allowed)
	case only("object"):
		if depth < b.deepest && closed(p) {
			n.kind, n.members = KindObject, b.nodes(p.Members(), depth+1)
		}
	case only("array"):
		item := p.Item()
		switch {
		case scalar(item):
			n.kind, n.element = KindList, item
			n.tick()
		case depth < b.deepest && closed(item):
			n.kind, n.item = KindArray, b.node(item, depth)
			if n.item.kind != KindObject {
				n.kind = KindJSON
			}
		}
	case only("boolean"):
		values := []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
		if len(types) < len(n.types) {
			values = append(values, json.RawMessage("null"))
		}
		n.choose(KindBoolean, values)
	case only("integer", "number"):
		n.kind = KindNumber
	case only("string", "integer", "number", "boolean"):
		n.kind = KindText
		if n.long() {
			n.kind = KindArea
		}
	}
	return n
}

// choose makes n a choice of values.
func (n *node) choose(kind Kind, values []json.RawMessage) {
	n.kind, n.allowed = kind, values
	n.fallback = slices.IndexFunc(values, func(v json.RawMessage) bool { return toolargs.SameJSON(v, n.Default) })
	for i, v := range values {
		n.choices = append(n.choices, Choice{Value: string(v), Text: titled(n.ValueTitle(i), toolargs.Text(v))})
	}
}

// titled returns the text of a choice for people.
func titled(title, text string) string {
	if title != "" && title != text {
		text = title + " (" + text + ")"
	}
	return visible.Short(text, longestLabel)
}

// tick gives a list choices if its items are one of a few texts.
func (n *node) tick() {
	allowed := n.element.Allowed()
	if len(allowed) > mostTicks {
		return
	}
	for i, v := range allowed {
		text := toolargs.Text(v)
		if v[0] != '"' || text == "" || strings.ContainsAny(text, "\r\n") {
			n.choices = nil
			return
		}
		n.choices = append(n.choices, Choice{Value: text, Text: titled(n.element.ValueTitle(i), text)})
	}
}

// long reports whether the values of n probably have several lines.
func (n *node) long() bool {
	names := []string{"content", "text", "body", "prompt", "code", "query", "sql", "message", "markdown", "html"}
	return n.ContentMediaType != "" || n.MaxLength != nil && *n.MaxLength > longestLine ||
		slices.Contains(names, strings.ToLower(n.Name))
}

// closed reports whether the schema lists all members of an object.
func closed(p *toolargs.Parameter) bool { return len(p.Members()) > 0 && p.Additional() == nil }

// scalar reports whether the schema allows neither objects nor arrays.
func scalar(p *toolargs.Parameter) bool {
	if allowed := p.Allowed(); allowed != nil {
		return !slices.ContainsFunc(allowed, func(v json.RawMessage) bool { return v[0] == '{' || v[0] == '[' })
	}
	types := p.Types()
	return len(types) > 0 && !slices.Contains(types, "object") && !slices.Contains(types, "array")
}

// label returns the name of n for people.
func (n *node) label() string { return visible.Short(cmp.Or(n.Title, n.Name), longestLabel) }

// child returns the path of a member.
func child(path, name string) string {
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
