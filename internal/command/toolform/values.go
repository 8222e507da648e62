package toolform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
)

// errTooMany refuses values for more than mostDrawn fields.
var errTooMany = fmt.Errorf("more than %d fields; write the arguments as JSON", mostDrawn)

// Values returns the values of inputs for arguments, the inverse of [Form.Arguments]. It returns an error if the form
// cannot show the arguments unchanged: members without a field, values of other types, null for an object, carriage
// returns in a text, empty items in a list, more than 100 items. Optional empty values ("", [], and objects of such
// values) have no input, and are left out.
func (f *Form) Values(arguments json.RawMessage) (url.Values, error) {
	v := url.Values{}
	if text := string(bytes.TrimSpace(arguments)); text == "" || text == "null" {
		return v, nil
	}
	if err := toolargs.CheckObject("the arguments", arguments); err != nil {
		return nil, err
	}
	rest, err := fillMembers(v, f.root, "", arguments)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		if !f.other {
			return nil, fmt.Errorf("unknown argument %q", slices.Sorted(maps.Keys(rest))[0])
		}
		text, err := json.MarshalIndent(rest, "", "  ")
		if err != nil {
			return nil, err
		}
		v.Set(Other, string(text))
	}
	if !f.fits(v) {
		return nil, errTooMany
	}
	return v, nil
}

// fits reports whether the form has at most mostDrawn fields with these values.
func (f *Form) fits(v url.Values) bool {
	d := &drawing{inputs(v), nil, mostDrawn}
	d.members(f.root, "", true)
	return d.left >= 0
}

// fillMembers sets the inputs for the members of an object, and returns the members without a field.
func fillMembers(v url.Values, nodes []*node, path string, raw json.RawMessage) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, fmt.Errorf("%s is not an object", path)
	}
	for _, n := range nodes {
		if value, ok := object[n.Name]; ok {
			if err := n.fill(v, child(path, n.Name), value); err != nil {
				return nil, err
			}
			delete(object, n.Name)
		}
	}
	return object, nil
}

// fillObject sets the inputs for the members of an object, which must all have fields.
func fillObject(v url.Values, nodes []*node, path string, raw json.RawMessage) error {
	rest, err := fillMembers(v, nodes, path, raw)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%s has an unknown member %q", path, slices.Sorted(maps.Keys(rest))[0])
	}
	return err
}

// fill sets the inputs for a value.
func (n *node) fill(v url.Values, path string, raw json.RawMessage) error {
	switch n.kind {
	case KindObject:
		return fillObject(v, n.members, path, raw)
	case KindArray:
		return n.fillItems(v, path, raw)
	case KindList:
		return n.fillLines(v, path, raw)
	case KindChoice, KindBoolean:
		for _, allowed := range n.allowed {
			if toolargs.SameJSON(allowed, raw) {
				v.Set(path, string(allowed))
				return nil
			}
		}
		return fmt.Errorf("%s is not one of the choices", path)
	}
	texts := []string{toolargs.Text(raw)}
	if n.kind == KindJSON {
		var pretty bytes.Buffer
		if json.Indent(&pretty, raw, "", "  ") == nil {
			texts = append(texts, pretty.String()) // a string in quotation marks is not ambiguous
		}
		if raw[0] == '{' || raw[0] == '[' {
			texts = texts[1:]
		}
	}
	for _, text := range texts {
		v.Set(path, text)
		if back, err := n.value(inputs(v), path, true); err == nil && toolargs.SameJSON(back, raw) {
			return nil
		}
	}
	v.Del(path)
	return fmt.Errorf("%s has a value that the field cannot show", path)
}

// fillItems sets the inputs for an array of objects.
func (n *node) fillItems(v url.Values, path string, raw json.RawMessage) error {
	items, err := itemsOf(path, raw)
	if err != nil {
		return err
	}
	if len(items) > mostItems {
		return fmt.Errorf("%s has more than %d items", path, mostItems)
	}
	v.Set(path+"#", strconv.Itoa(len(items)))
	for i, item := range items {
		if err := fillObject(v, n.item.members, path+"/"+strconv.Itoa(i), item); err != nil {
			return err
		}
	}
	return nil
}

// fillLines sets the input for an array of scalars.
func (n *node) fillLines(v url.Values, path string, raw json.RawMessage) error {
	items, err := itemsOf(path, raw)
	if err != nil {
		return err
	}
	var lines []string
	for _, item := range items {
		lines = append(lines, toolargs.Text(item))
	}
	v.Set(path, strings.Join(lines, "\n"))
	if back, err := n.value(inputs(v), path, true); err != nil || !toolargs.SameJSON(back, raw) {
		v.Del(path)
		return fmt.Errorf("%s has an item that is not one line of text", path)
	}
	return nil
}

func itemsOf(path string, raw json.RawMessage) (items []json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &items); err != nil || items == nil {
		return nil, fmt.Errorf("%s is not an array", path)
	}
	return items, nil
}

// Arguments returns the arguments for submitted values. The errors are by the path of the field; if there are errors,
// there are no arguments. The members of an object have the order of its fields.
//
// An optional value without text is left out, and so is an optional object without a value in any of its fields. A
// required string without text is "". Values get the types of the schema; its other limits are not checked.
func (f *Form) Arguments(v url.Values) (json.RawMessage, map[string]error) {
	if !f.fits(v) {
		return nil, map[string]error{Other: errTooMany}
	}
	r := &reading{inputs(v), map[string]error{}}
	object := r.object(f.root, "")
	if f.other {
		object = r.addOther(object, f.root)
	}
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return object, nil
}

// reading is one result of Arguments.
type reading struct {
	inputs
	errs map[string]error
}

// addOther adds the members of the field Other to an object.
func (r *reading) addOther(object json.RawMessage, nodes []*node) json.RawMessage {
	text := bytes.TrimSpace([]byte(r.text(Other)))
	if len(text) == 0 {
		return object
	}
	if err := toolargs.CheckObject("the arguments", text); err != nil {
		r.errs[Other] = err
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		r.errs[Other] = err
		return nil
	}
	for _, n := range nodes {
		if members[n.Name] != nil {
			r.errs[Other] = fmt.Errorf("the argument %q has a field of its own", n.Name)
		}
	}
	more := bytes.TrimSpace(text[1 : len(text)-1])
	if len(object) > len("{}") && len(more) > 0 {
		more = append([]byte{','}, more...)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, slices.Concat(object[:len(object)-1], more, []byte{'}'})); err != nil {
		r.errs[Other] = err
	}
	return compact.Bytes()
}

// object returns an object that is part of the arguments.
func (r *reading) object(nodes []*node, path string) json.RawMessage {
	var b bytes.Buffer
	for _, n := range nodes {
		path := child(path, n.Name)
		value, err := r.member(n, path)
		if err != nil {
			r.errs[path] = err
		}
		if value == nil {
			continue
		}
		name, _ := json.Marshal(n.Name) // a string can be encoded
		b.WriteByte(',')
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(b.Bytes(), []byte(","))...), '}')
}

// member returns the value of a member, or nil if the member is left out.
func (r *reading) member(n *node, path string) (json.RawMessage, error) {
	switch n.kind {
	case KindObject:
		if !n.Required && !r.filled(n, path) {
			return nil, nil
		}
		return r.object(n.members, path), nil
	case KindArray:
		count := r.count(n, path, n.Required)
		if count == 0 && !n.Required {
			return nil, nil
		}
		items := make([]json.RawMessage, 0, count)
		for i := range count {
			items = append(items, r.object(n.item.members, path+"/"+strconv.Itoa(i)))
		}
		return json.Marshal(items)
	}
	return n.value(r.inputs, path, n.Required)
}

// value returns the value of one input, or nil if it is left out.
func (n *node) value(in inputs, path string, required bool) (json.RawMessage, error) {
	if n.kind == KindList {
		return n.list(in.lines(path), required)
	}
	text := in.text(path)
	isText := slices.Contains(n.types, "string")
	if !isText {
		text = strings.TrimSpace(text)
	}
	switch {
	case text == "" && !required:
		return nil, nil
	case text == "" && (!isText || n.kind == KindJSON || n.allowed != nil):
		return nil, errors.New("a value is required")
	case n.allowed != nil:
		i := n.chosen(text)
		if i < 0 {
			return nil, errors.New("this is not one of the choices")
		}
		return n.allowed[i], nil
	case n.kind == KindJSON:
		return n.json(text, isText)
	}
	return n.Value(text)
}

// list returns an array with an item for each line.
func (n *node) list(lines []string, required bool) (json.RawMessage, error) {
	if len(lines) == 0 && !required {
		return nil, nil
	}
	items := make([]json.RawMessage, 0, len(lines))
	for i, line := range lines {
		if !slices.Contains(n.element.Types(), "string") {
			line = strings.TrimSpace(line)
		}
		item, err := n.element.Value(line)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		items = append(items, item)
	}
	return json.Marshal(items)
}

// json returns the value for JSON, or for plain text if the schema allows strings. JSON takes precedence.
func (n *node) json(text string, isText bool) (json.RawMessage, error) {
	raw := []byte(strings.TrimSpace(text))
	mayBeText := isText || len(n.types) == 0
	var fault error
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[' || raw[0] == '"' && mayBeText && n.Allowed() == nil) {
		var value any
		if fault = json.Unmarshal(raw, &value); fault == nil && raw[0] == '"' {
			return raw, nil
		}
	}
	if fault != nil && !isText && raw[0] != '"' {
		return nil, fmt.Errorf("not valid JSON: %w", fault)
	}
	value, err := n.Value(text)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}
