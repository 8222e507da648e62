package schema

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// A builder turns a decoded schema into nodes and the library's tree. It makes
// that tree itself, not by decoding: the library matches keywords without
// regard to case, reads every level several times over, rounds the numbers in
// enum and const, and leaves references to be resolved by rules that this
// package would have to guess in order to find cycles.
type builder struct {
	dialect   Dialect
	nodes     []*node
	pointers  map[string]*node
	resources map[string]*resource
	dynamic   map[string][]*node // by $dynamicAnchor
	refs      []reference
	program   int // instructions of all regular expressions
	places    int // bytes of all pointers

	dynamicEdges int
}

// maxPlaces bounds the bytes of the pointers to all subschemas together. They
// are no part of the text: one long name is in the pointers of all below it.
const maxPlaces = 8 << 20

// fail makes an error about the keyword at pointer.
func fail(reason error, pointer, format string, args ...any) error {
	return &CompileError{Path: pointer, Message: fmt.Sprintf(format, args...), Reason: reason}
}

// node builds the subschema v into n, which has its places set.
func (b *builder) node(n *node, v any) error {
	if n.depth > MaxDepth {
		return fail(ErrLimit, n.pointer, "subschemas nested more than %d deep", MaxDepth)
	}
	if len(b.nodes) == MaxSubschemas {
		return fail(ErrLimit, n.pointer, "more than %d subschemas", MaxSubschemas)
	}
	if b.places += len(n.pointer) + len(n.path); b.places > maxPlaces {
		return fail(ErrLimit, n.pointer, "names too long")
	}
	n.id, n.lib = len(b.nodes), new(jsonschema.Schema)
	b.nodes = append(b.nodes, n)
	b.pointers[n.pointer] = n
	switch v := v.(type) {
	case bool:
		if !v {
			n.lib.Not = new(jsonschema.Schema)
		}
		return nil
	case object:
		n.raw = v
		return b.object(n)
	default:
		return fail(ErrInvalid, n.pointer, "a schema is an object or a boolean, not %s", show(v))
	}
}

func (b *builder) object(n *node) error {
	if err := b.identify(n); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(n.raw)) {
		kw, ok := keywords[key]
		if !ok || kw.dialects&b.dialect == 0 {
			continue
		}
		read := kw.read
		if read == nil {
			read = (*builder).field
		}
		if err := read(b, n, key, n.raw[key]); err != nil {
			return err
		}
	}
	n.settle(b.dialect)
	return nil
}

// settle drops the edges that other keywords put out of force, and sets those
// that depend on other keywords.
func (n *node) settle(d Dialect) {
	_, ref := n.raw["$ref"]
	n.edges = slices.DeleteFunc(n.edges, func(e *edge) bool {
		return ref && d == Draft07 || // a reference has no siblings there
			n.lib.If == nil && (e.keyword == "then" || e.keyword == "else") ||
			n.lib.ItemsArray == nil && e.keyword == "additionalItems"
	})
	n.named = make(map[string]*edge, len(n.lib.Properties))
	for _, e := range n.edges {
		switch e.on {
		case property:
			n.named[e.name] = e
		case matching, additional:
			n.unnamed = append(n.unnamed, e)
		case items:
			e.from = max(len(n.lib.PrefixItems), len(n.lib.ItemsArray))
		}
	}
	slices.SortStableFunc(n.unnamed, func(a, b *edge) int { return cmp.Compare(a.on, b.on) })
}

// child builds the subschema v at the given place below n and joins the two.
func (b *builder) child(n *node, v any, place string, e *edge) (*jsonschema.Schema, error) {
	c := &node{pointer: n.pointer + place, path: n.path + place, depth: n.depth + 1, scope: n.scope}
	if err := b.node(c, v); err != nil {
		return nil, err
	}
	e.to = c
	n.edges = append(n.edges, e)
	return c.lib, nil
}

// field sets a field of the library's schema, whose type says what the value
// has to be.
func (b *builder) field(n *node, key string, v any) (err error) {
	kw, pointer := keywords[key], n.pointer+token(key)
	switch f := kw.field(n.lib).(type) {
	case *bool:
		*f, err = as[bool](v, pointer, "true or false")
	case **int:
		*f, err = length(v, pointer)
	case **float64:
		*f, err = limit(v, pointer)
	case *[]string:
		*f, err = stringList(v, pointer)
	case **jsonschema.Schema:
		*f, err = b.child(n, v, token(key), &edge{on: kw.on, keyword: key})
	case *[]*jsonschema.Schema:
		*f, err = b.list(n, key, v)
	case *map[string]*jsonschema.Schema:
		*f, err = b.byName(n, key, v)
	}
	return err
}

func (b *builder) list(n *node, key string, v any) ([]*jsonschema.Schema, error) {
	a, err := as[array](v, n.pointer+token(key), "an array of schemas")
	if err != nil {
		return nil, err
	}
	if len(a) == 0 {
		return nil, fail(ErrInvalid, n.pointer+token(key), "want at least one schema")
	}
	list := make([]*jsonschema.Schema, len(a))
	for i, v := range a {
		e := &edge{on: keywords[key].on, keyword: key, from: i}
		if list[i], err = b.child(n, v, token(key)+token(strconv.Itoa(i)), e); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b *builder) byName(n *node, key string, v any) (map[string]*jsonschema.Schema, error) {
	o, err := as[object](v, n.pointer+token(key), "an object of schemas")
	if err != nil {
		return nil, err
	}
	m := make(map[string]*jsonschema.Schema, len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		e := &edge{on: keywords[key].on, keyword: key, name: name}
		if e.on == matching {
			if e.pattern, e.program, err = b.compile(name, n.pointer+token(key)+token(name)); err != nil {
				return nil, err
			}
		}
		if m[name], err = b.child(n, o[name], token(key)+token(name), e); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// as returns v if it is a T, else an error that says what was wanted.
func as[T any](v any, pointer, want string) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fail(ErrInvalid, pointer, "want %s, not %s", want, show(v))
	}
	return t, nil
}

// limit takes a number. The library compares with its nearest float64, which
// from 2^53 on may be a neighbour.
func limit(v any, pointer string) (*float64, error) {
	f, ok := float(v)
	if !ok {
		return nil, fail(ErrInvalid, pointer, "want a number, not %s", show(v))
	}
	return &f, nil
}

func length(v any, pointer string) (*int, error) {
	f, ok := float(v)
	if !ok || f < 0 || f != math.Trunc(f) {
		return nil, fail(ErrInvalid, pointer, "want a whole number from 0 on, not %s", show(v))
	}
	n := int(min(f, math.MaxInt32))
	return &n, nil
}

func stringList(v any, pointer string) ([]string, error) {
	a, err := as[array](v, pointer, "an array of strings")
	if err != nil {
		return nil, err
	}
	list := make([]string, len(a))
	for i, v := range a {
		s, err := as[text](v, pointer+token(strconv.Itoa(i)), "a string")
		if err != nil {
			return nil, err
		}
		list[i] = string(s)
	}
	return list, nil
}
