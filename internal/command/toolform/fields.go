package toolform

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// Field is one field of a form, for a page to draw. Its texts come from the server. They have no control characters and
// a limited length, but the page must still escape them for HTML.
type Field struct {
	// Path is the JSON pointer of the value below the arguments, or [Other]. It is the name of the input.
	Path string
	// Name is the name of the argument or member. For an item of an array, it is the number of the item, from 0.
	Name  string
	Label string // the title in the schema, or Name
	Kind  Kind
	// Required reports whether the schema requires the value in its object. The object itself may be optional, and a
	// required string may be empty, so a page does not use the attribute "required" of HTML.
	Required    bool
	Description string
	Limits      string // such as "at least 1, at most 9"
	Default     string // the default of the schema, for a placeholder; it is not sent
	Choices     []Choice
	// Value is the text of the input. In HTML, a line break follows <textarea>, because a browser ignores the first one.
	Value  string
	Error  string   // describes why Value is not valid; empty if it is valid
	Fields []*Field // the members of an object, or the items of an array
	// CanAdd reports whether the array may get a further item, with [Form.Add] and Path.
	CanAdd bool
	// CanRemove reports whether the item may be removed, with [Form.Remove] and Path.
	CanRemove bool
}

// Choice is one choice of a field. The first choice of an optional field has an empty value. Of a list, any number of
// choices can be selected.
type Choice struct {
	Value    string // the value as JSON; an item of a list as text
	Text     string // the value for people
	Selected bool
}

// Fields returns the fields to draw, with the values of inputs and the errors that [Form.Arguments] has returned for
// these values. The values are submitted, or a result of [Form.Values], or nil for an empty form.
func (f *Form) Fields(v url.Values, errs map[string]error) []*Field {
	d := &drawing{inputs(v), errs, mostDrawn}
	fields := d.members(f.root, "", true)
	if f.other {
		label := "Other arguments as JSON"
		if len(f.root) == 0 {
			label = "Arguments as JSON"
		}
		fields = append(fields, &Field{
			Path: Other, Label: label, Kind: KindJSON, Value: v.Get(Other), Error: d.fault(Other),
		})
	}
	return fields
}

// inputs are the values of inputs.
type inputs url.Values

// text returns the value of an input. Browsers submit line breaks as CR and LF.
func (in inputs) text(path string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.Join(in[path], "\n"))
}

// lines returns the lines of an input that are not empty.
func (in inputs) lines(path string) (all []string) {
	for line := range strings.SplitSeq(in.text(path), "\n") {
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}

// count returns the number of items of an array. An array that is required and has no number yet has an item.
func (in inputs) count(n *node, path string, required bool) int {
	if text, ok := in[path+"#"]; ok {
		items, err := strconv.Atoi(strings.Join(text, ""))
		if err != nil {
			return 0
		}
		return max(0, min(items, mostItems))
	}
	if required {
		return max(1, min(n.fewest(), mostItems))
	}
	return 0
}

// fewest returns the least number of items of an array.
func (n *node) fewest() int {
	if n.Required && n.MinItems != nil {
		return *n.MinItems
	}
	return 0
}

// filled reports whether an input at or below path has a value.
func (in inputs) filled(n *node, path string) bool {
	switch n.kind {
	case KindObject:
		for _, m := range n.members {
			if in.filled(m, child(path, m.Name)) {
				return true
			}
		}
		return false
	case KindArray:
		return in.count(n, path, false) > 0
	case KindList:
		return len(in.lines(path)) > 0
	}
	return in.text(path) != ""
}

// drawing is one result of Fields.
type drawing struct {
	inputs
	errs map[string]error
	left int // remaining fields
}

func (d *drawing) fault(path string) string {
	if err := d.errs[path]; err != nil {
		return visible.Short(err.Error(), longestText)
	}
	return ""
}

// members returns the fields for the members of an object. present reports whether the object is part of the arguments
// in any case.
func (d *drawing) members(nodes []*node, path string, present bool) (fields []*Field) {
	for _, n := range nodes {
		if d.left < 0 {
			break
		}
		fields = append(fields, d.field(n, child(path, n.Name), present))
	}
	return fields
}

func (d *drawing) field(n *node, path string, present bool) *Field {
	d.left--
	field := &Field{
		Path: path, Name: n.Name, Label: n.label(), Kind: n.kind, Required: n.Required, Limits: n.limits,
		Description: short(n.Description), Error: d.fault(path),
	}
	if n.Default != nil && string(n.Default) != "null" {
		field.Default = visible.Short(toolargs.Text(n.Default), longestLabel)
	}
	required := present && n.Required
	switch n.kind {
	case KindObject:
		field.Fields = d.members(n.members, path, required || d.filled(n, path))
	case KindArray:
		d.items(field, n, required)
	case KindChoice, KindBoolean:
		field.Value = d.text(path)
		field.Choices = n.options(field.Value, required)
	case KindNumber:
		if field.Value = d.text(path); field.Value != "" && !isNumber(field.Value) {
			field.Kind = KindText // an input for numbers would not show the value
		}
	case KindText:
		if field.Value = d.text(path); strings.Contains(field.Value, "\n") {
			field.Kind = KindArea // an input for one line would remove the line breaks
		}
	case KindList:
		field.Value = d.text(path)
		field.Choices = n.ticks(d.lines(path))
	default:
		field.Value = d.text(path)
	}
	return field
}

// ticks returns the choices of a list, with the items of the list selected. It returns none if the choices cannot show
// the items: others, in another order, or twice.
func (n *node) ticks(lines []string) []Choice {
	all := slices.Clone(n.choices)
	for i := range all {
		if len(lines) > 0 && all[i].Value == lines[0] {
			all[i].Selected, lines = true, lines[1:]
		}
	}
	if len(lines) > 0 {
		return nil
	}
	return all
}

// items adds the items of an array to its field.
func (d *drawing) items(field *Field, n *node, required bool) {
	count := d.count(n, field.Path, required)
	for i := range count {
		if d.left < 0 {
			return
		}
		d.left--
		path := field.Path + "/" + strconv.Itoa(i)
		field.Fields = append(field.Fields, &Field{
			Path: path, Name: strconv.Itoa(i), Label: field.Label + " " + strconv.Itoa(i+1), Kind: KindObject, Required: true,
			Description: short(n.item.Description), Error: d.fault(path), Fields: d.members(n.item.members, path, true),
			CanRemove: count > n.fewest(),
		})
	}
	field.CanAdd = count < n.most()
}

// most returns the largest number of items of an array.
func (n *node) most() int {
	if n.MaxItems != nil {
		return min(mostItems, *n.MaxItems)
	}
	return mostItems
}

// options returns the choices, with the chosen one selected. If a value is required, there is no empty choice, and the
// default is selected at first.
func (n *node) options(chosen string, required bool) []Choice {
	i := n.chosen(chosen)
	if chosen == "" && required {
		i = n.fallback
	}
	all := slices.Clone(n.choices)
	if i >= 0 {
		all[i].Selected = true
	}
	if !required {
		all = slices.Insert(all, 0, Choice{Selected: chosen == ""})
	}
	return all
}

// chosen returns the index of a choice: the one with this JSON, otherwise the one with this text; -1 if there is none.
func (n *node) chosen(text string) int {
	i := slices.IndexFunc(n.choices, func(c Choice) bool { return c.Value == text })
	if i < 0 && text != "" {
		i = slices.IndexFunc(n.allowed, func(v json.RawMessage) bool { return toolargs.Text(v) == text })
	}
	return i
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return err == nil
}

// short returns a safe form of text of limited length, with its line breaks.
func short(text string) string {
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	return visible.Text(text)
}
