package schema

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// The readers of keywords whose value has more than one form, or a meaning
// beyond its own subschema. See the table of keywords.

var typeNames = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func (b *builder) types(n *node, key string, v any) error {
	pointer := n.pointer + token(key)
	list := []string{""}
	if s, ok := v.(text); ok {
		list[0], n.lib.Type = string(s), string(s)
	} else {
		var err error
		if list, err = stringList(v, pointer); err != nil {
			return err
		}
		n.lib.Types = list
	}
	if len(list) == 0 {
		return fail(ErrInvalid, pointer, "want at least one type")
	}
	for _, name := range list {
		if !slices.Contains(typeNames, name) {
			return fail(ErrInvalid, pointer, "%s is not a type", show(text(name)))
		}
	}
	return nil
}

func (b *builder) enum(n *node, key string, v any) (err error) {
	a, err := as[array](v, n.pointer+token(key), "an array")
	n.lib.Enum = a
	return err
}

func (b *builder) constant(n *node, _ string, v any) error {
	n.lib.Const = &v
	return nil
}

func (b *builder) multipleOf(n *node, key string, v any) (err error) {
	if n.lib.MultipleOf, err = limit(v, n.pointer+token(key)); err != nil {
		return err
	}
	if *n.lib.MultipleOf <= 0 {
		return fail(ErrInvalid, n.pointer+token(key), "want a number above 0, not %s", show(v))
	}
	return nil
}

func (b *builder) pattern(n *node, key string, v any) error {
	pointer := n.pointer + token(key)
	s, err := as[text](v, pointer, "a string")
	if err != nil {
		return err
	}
	n.lib.Pattern = string(s)
	_, n.program, err = b.compile(string(s), pointer)
	return err
}

func (b *builder) compile(pattern, pointer string) (*regexp.Regexp, int, error) {
	re, size, err := program(pattern)
	if err != nil {
		return nil, 0, fail(ErrPattern, pointer, "%s", clip(err.Error(), maxText))
	}
	if b.program += size; b.program > maxProgram {
		return nil, 0, fail(ErrLimit, pointer, "regular expressions too large")
	}
	return re, size, nil
}

// items takes one schema for all items, or in draft-07 one for each.
func (b *builder) items(n *node, key string, v any) (err error) {
	if _, ok := v.(array); !ok {
		n.lib.Items, err = b.child(n, v, token(key), &edge{on: items, keyword: key})
		return err
	}
	if b.dialect != Draft07 {
		return fail(ErrInvalid, n.pointer+token(key), "want a schema: since 2020-12 an array of schemas is called prefixItems")
	}
	n.lib.ItemsArray, err = b.list(n, key, v)
	for _, e := range n.edges {
		if e.keyword == key {
			e.on = item
		}
	}
	return err
}

// dependencies takes, per property, the properties it requires or, in
// draft-07, a schema.
func (b *builder) dependencies(n *node, key string, v any) error {
	o, err := as[object](v, n.pointer+token(key), "an object")
	if err != nil {
		return err
	}
	required, schemas := map[string][]string{}, map[string]*jsonschema.Schema{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		place := token(key) + token(name)
		if _, ok := o[name].(array); ok || b.dialect != Draft07 {
			required[name], err = stringList(o[name], n.pointer+place)
		} else {
			schemas[name], err = b.child(n, o[name], place, &edge{keyword: key, name: name})
		}
		if err != nil {
			return err
		}
	}
	if b.dialect == Draft07 {
		n.lib.DependencyStrings, n.lib.DependencySchemas = required, schemas
	} else {
		n.lib.DependentRequired = required
	}
	return nil
}

// definitions takes schemas that only references apply.
func (b *builder) definitions(n *node, key string, v any) error {
	o, err := as[object](v, n.pointer+token(key), "an object of schemas")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if err := b.define(n, o[name], token(key)+token(name)); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) definition(n *node, key string, v any) error {
	return b.define(n, v, token(key))
}

// define builds a definition and gives it to the library under the root of its
// resource, by number: the library does not take a schema with both $defs and
// definitions.
func (b *builder) define(n *node, v any, place string) error {
	host, number := n.scope.root, strconv.Itoa(len(b.nodes))
	c := &node{
		pointer: n.pointer + place,
		path:    host.path + "/$defs/" + number,
		depth:   n.depth + 1,
		scope:   n.scope,
	}
	if err := b.node(c, v); err != nil {
		return err
	}
	if host.lib.Defs == nil {
		host.lib.Defs = map[string]*jsonschema.Schema{}
	}
	host.lib.Defs[number] = c.lib
	return nil
}
