package toolargs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/command/typing"
)

// Field is an argument as a person types it: NAME=VALUE.
type Field struct {
	Name  string // an argument, or the path of a value in an argument: to.city, lines[0].qty
	Value string
	From  string // the file whose content is Value; empty if the person typed Value
}

// place is a value that fields assign: as a whole, or by its members or items.
type place struct {
	*Parameter
	path    string  // as typed: to.city
	whole   []Field // several for an array
	members map[string]*place
	items   map[int]*place
}

// Assign builds a JSON object from NAME=VALUE arguments. NAME is the name of an argument, or the path of a value inside
// an argument that the schema lists.
func (ps *Parameters) Assign(fields []Field) (json.RawMessage, error) {
	root := &place{}
	for _, f := range fields {
		name := f.Name
		p, rest := longest(name, ps.All)
		switch {
		case p != nil:
			name = p.Name
		case ps.Open != nil:
			p = ps.Open
		default:
			if head, _ := cutStep(name); typing.Hint(name, ps.names()) == "" {
				name = head
			}
			return nil, UnknownArgument(name, ps.names())
		}
		at, err := root.member(name, p, name).descend(rest)
		if err != nil {
			return nil, err
		}
		at.whole = append(at.whole, f)
	}
	return root.object()
}

// longest returns the parameter whose name is the longest prefix of path, and the rest of path.
func longest(path string, all []*Parameter) (found *Parameter, rest string) {
	for _, p := range all {
		after, ok := strings.CutPrefix(path, p.Name)
		if ok && (after == "" || after[0] == '.' || after[0] == '[') && (found == nil || len(p.Name) > len(found.Name)) {
			found, rest = p, after
		}
	}
	return found, rest
}

// cutStep cuts path before the next member or index.
func cutStep(path string) (name, rest string) {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// descend returns the place to which path leads from the place at. Path is empty, or begins with a period or a bracket.
func (at *place) descend(path string) (*place, error) {
	for path != "" {
		switch path[0] {
		case '.':
			if !at.can("object") {
				return nil, fmt.Errorf("%s: %s is %s, which has no members", at.path+path, at.path, at.typeText())
			}
			path = path[1:]
			p, rest := longest(path, at.Members())
			var name string
			if p != nil {
				name = p.Name
			} else {
				name, rest = cutStep(path)
				if p = at.Additional(); p == nil {
					return nil, fmt.Errorf("%s: %w", at.path, unknown("member", name, names(at.Members())))
				}
			}
			at, path = at.member(name, p, at.path+"."+name), rest
		case '[':
			if !at.can("array") {
				return nil, fmt.Errorf("%s: %s is %s, which has no items", at.path+path, at.path, at.typeText())
			}
			index, rest, ok := strings.Cut(path[1:], "]")
			i, err := strconv.Atoi(index)
			if !ok || err != nil || i < 0 {
				return nil, fmt.Errorf("%s: want the number of an item in brackets, such as %s[0]", at.path+path, at.path)
			}
			at, path = at.item(i), rest
		default:
			return nil, fmt.Errorf("%s: want a period or a bracket after %s", at.path+path, at.path)
		}
	}
	return at, nil
}

// can reports whether a value may have a type.
func (p *Parameter) can(typeName string) bool {
	types := p.Types()
	return len(types) == 0 || slices.Contains(types, typeName)
}

// typeText describes the types of a value: "of type string or null".
func (p *Parameter) typeText() string { return "of type " + strings.Join(p.Types(), " or ") }

func (at *place) member(name string, p *Parameter, path string) *place {
	if at.members[name] == nil {
		if at.members == nil {
			at.members = map[string]*place{}
		}
		at.members[name] = &place{Parameter: p, path: path}
	}
	return at.members[name]
}

func (at *place) item(i int) *place {
	if at.items[i] == nil {
		if at.items == nil {
			at.items = map[int]*place{}
		}
		at.items[i] = &place{Parameter: at.Item(), path: fmt.Sprintf("%s[%d]", at.path, i)}
	}
	return at.items[i]
}

// value returns the value of a place.
func (at *place) value() (json.RawMessage, error) {
	switch {
	case len(at.whole) > 0 && len(at.members)+len(at.items) > 0:
		return nil, fmt.Errorf("%s: given both as a whole and in parts; want one of the two", at.path)
	case len(at.members) > 0 && len(at.items) > 0:
		return nil, fmt.Errorf("%s: given both with members and with items; want one of the two", at.path)
	case len(at.members) > 0:
		return at.object()
	case len(at.items) > 0:
		return at.array()
	}
	raw, err := at.read(at.whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.path, err)
	}
	return raw, nil
}

// object returns an object with the members of a place.
func (at *place) object() (json.RawMessage, error) {
	object := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(at.members)) {
		value, err := at.members[name].value()
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	return json.Marshal(object)
}

// array returns an array with the items of a place.
func (at *place) array() (json.RawMessage, error) {
	var array []json.RawMessage
	for i := range len(at.items) {
		item := at.items[i]
		if item == nil {
			return nil, fmt.Errorf("%s[%d] is missing; number the items from 0, without a gap", at.path, i)
		}
		value, err := item.value()
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	return json.Marshal(array)
}

// read converts the values of one argument: a single value, or several for an array.
func (p *Parameter) read(fields []Field) (json.RawMessage, error) {
	array := slices.Contains(p.Type, "array")
	if len(fields) == 1 {
		if whole, err := p.field(fields[0]); err == nil || !array {
			return whole, err
		}
	}
	if !array {
		return nil, fmt.Errorf("given %d times, want one value", len(fields))
	}
	items := make([]json.RawMessage, 0, len(fields))
	for _, f := range fields {
		item, err := p.Item().field(f)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return json.Marshal(items)
}

// field converts a typed value, or the content of a file.
func (p *Parameter) field(f Field) (json.RawMessage, error) {
	text := f.Value
	switch {
	case f.From == "":
		return p.Value(text)
	case p.ContentEncoding == "base64":
		return json.Marshal(base64.StdEncoding.EncodeToString([]byte(text)))
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("the content of %s is not UTF-8 text, and the schema does not ask for base64", f.From)
	case !p.can("string"):
		text = strings.TrimSpace(text)
	}
	value, err := p.Value(text)
	if err != nil && slices.Equal(p.Types(), []string{"object"}) {
		if fault := CheckObject(f.From, []byte(text)); fault != nil {
			return nil, fault
		}
	}
	return value, err
}

// UnknownArgument returns the error for an argument that the tool or prompt does not have.
func UnknownArgument(name string, known []string) error { return unknown("argument", name, known) }

func unknown(what, name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown %s %q; no %[1]ss are allowed", what, name)
	}
	return fmt.Errorf("unknown %s %q%s; known: %s", what, name, typing.Hint(name, known), strings.Join(known, ", "))
}
