package schema

import "slices"

// These methods read keywords with several forms, or with a meaning beyond their own subschema: see [keywords].

func (b *builder) types(n *node, key string, v value) (err error) {
	pointer := n.pointer + token(key)
	list := []string{""}
	if v.kind() == '"' {
		list[0] = string(v.bytes())
	} else if list, err = stringList(v, pointer); err != nil {
		return err
	}
	if len(list) == 0 {
		return fail(ErrInvalid, pointer, "want at least one type")
	}
	for _, name := range list {
		i := slices.Index(typeNames, name)
		if i < 0 {
			return fail(ErrInvalid, pointer, "%s is not a type", showText(name))
		}
		n.types |= 1 << i
	}
	return nil
}

func (b *builder) enum(n *node, key string, v value) error {
	n.enum = v.items()
	return want(v, isArray, n.pointer+token(key), "an array")
}

func (b *builder) constant(n *node, _ string, v value) error {
	n.constant = v
	return nil
}

func (b *builder) multipleOf(n *node, key string, v value) (err error) {
	if n.multipleOf, err = limit(v, n.pointer+token(key)); err != nil {
		return err
	}
	if *n.multipleOf <= 0 {
		return fail(ErrInvalid, n.pointer+token(key), "want a number above 0, not %s", show(v))
	}
	return nil
}

func (b *builder) pattern(n *node, key string, v value) error {
	pointer := n.pointer + token(key)
	s, err := str(v, pointer)
	if err == nil {
		n.pattern, err = b.compile(s, pointer)
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

// patterns reads patternProperties: schemas for the properties that match regular expressions.
func (b *builder) patterns(n *node, key string, v value) (err error) {
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

// items reads one schema for all items or, in draft-07, a list with one schema for each item.
func (b *builder) items(n *node, key string, v value) (err error) {
	if v.kind() != '[' {
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

// dependencies reads, for each property, the other properties that it requires or, in draft-07, a schema.
func (b *builder) dependencies(n *node, key string, v value) error {
	err := want(v, isObject, n.pointer+token(key), "an object")
	if err != nil {
		return err
	}
	n.dependentRequired = make(map[string][]string, v.size())
	for _, named := range v.sorted() {
		name, v := string(named.bytes()), named.next()
		place := token(key) + token(name)
		if v.kind() == '[' || b.dialect != Draft07 {
			n.dependentRequired[name], err = stringList(v, n.pointer+place)
		} else {
			var e *edge
			e, err = b.child(n, v, place, &edge{keyword: key, name: name})
			n.dependents = append(n.dependents, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// definitions reads schemas that only references apply.
func (b *builder) definitions(n *node, key string, v value) error {
	if err := want(v, isObject, n.pointer+token(key), "an object of schemas"); err != nil {
		return err
	}
	for _, name := range v.sorted() {
		if err := b.define(n, name.next(), token(key)+token(string(name.bytes()))); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) definition(n *node, key string, v value) error {
	return b.define(n, v, token(key))
}

func (b *builder) define(n *node, v value, place string) error {
	_, err := b.below(n, v, place)
	return err
}

func (b *builder) fallback(n *node, _ string, v value) error {
	b.defaults = true
	n.given = &fallback{v, len(v.appendTo(nil, nil)), v.depth()}
	return nil
}
