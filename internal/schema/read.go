package schema

import (
	"maps"
	"slices"
)

// The readers of keywords whose value has more than one form, or a meaning
// beyond its own subschema. See the table of keywords.

func (b *builder) types(n *node, key string, v any) (err error) {
	pointer := n.pointer + token(key)
	list := []string{""}
	if s, ok := v.(text); ok {
		list[0] = string(s)
	} else if list, err = stringList(v, pointer); err != nil {
		return err
	}
	if len(list) == 0 {
		return fail(ErrInvalid, pointer, "want at least one type")
	}
	for _, name := range list {
		i := slices.Index(typeNames, name)
		if i < 0 {
			return fail(ErrInvalid, pointer, "%s is not a type", show(text(name)))
		}
		n.types |= 1 << i
	}
	return nil
}

func (b *builder) enum(n *node, key string, v any) (err error) {
	a, err := as[array](v, n.pointer+token(key), "an array")
	n.enum = a
	return err
}

func (b *builder) constant(n *node, _ string, v any) error {
	n.constant = &v
	return nil
}

func (b *builder) multipleOf(n *node, key string, v any) (err error) {
	if n.multipleOf, err = limit(v, n.pointer+token(key)); err != nil {
		return err
	}
	if *n.multipleOf <= 0 {
		return fail(ErrInvalid, n.pointer+token(key), "want a number above 0, not %s", show(v))
	}
	return nil
}

func (b *builder) pattern(n *node, key string, v any) error {
	pointer := n.pointer + token(key)
	s, err := as[text](v, pointer, "a string")
	if err == nil {
		n.pattern, err = b.compile(string(s), pointer)
	}
	return err
}

func (b *builder) compile(pattern, pointer string) (*expression, error) {
	e, err := newExpression(pattern)
	if err != nil {
		return nil, fail(ErrPattern, pointer, "%s", clip(err.Error(), maxText))
	}
	if b.program += e.program; b.program > maxProgram {
		return nil, fail(ErrLimit, pointer, "regular expressions too large")
	}
	return e, nil
}

// patterns takes a schema for the properties that match each of some regular
// expressions.
func (b *builder) patterns(n *node, key string, v any) (err error) {
	if n.matching, err = b.byName(n, key, v); err != nil {
		return err
	}
	for _, e := range n.matching {
		if e.pattern, err = b.compile(e.name, n.pointer+token(key)+token(e.name)); err != nil {
			return err
		}
	}
	return nil
}

// items takes one schema for all items, or in draft-07 one for each.
func (b *builder) items(n *node, key string, v any) (err error) {
	if _, ok := v.(array); !ok {
		n.rest, err = b.child(n, v, token(key), &edge{on: item, keyword: key})
		return err
	}
	if b.dialect != Draft07 {
		return fail(ErrInvalid, n.pointer+token(key),
			"want a schema: since 2020-12 an array of schemas is called prefixItems")
	}
	n.prefix, err = b.list(n, key, v, item)
	return err
}

// dependencies takes, per property, the properties it requires or, in
// draft-07, a schema.
func (b *builder) dependencies(n *node, key string, v any) error {
	o, err := as[object](v, n.pointer+token(key), "an object")
	if err != nil {
		return err
	}
	n.dependentRequired = make(map[string][]string, len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		place := token(key) + token(name)
		if _, ok := o[name].(array); ok || b.dialect != Draft07 {
			n.dependentRequired[name], err = stringList(o[name], n.pointer+place)
		} else {
			var e *edge
			e, err = b.child(n, o[name], place, &edge{keyword: key, name: name})
			n.dependents = append(n.dependents, e)
		}
		if err != nil {
			return err
		}
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

func (b *builder) define(n *node, v any, place string) error {
	_, err := b.below(n, v, place)
	return err
}

func (b *builder) fallback(n *node, _ string, v any) (err error) {
	b.defaults = true
	n.given, err = newFallback(v)
	return err
}
