package schema

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// A builder turns a decoded schema into nodes.
type builder struct {
	dialect   Dialect
	nodes     []*node
	pointers  map[string]*node
	resources map[string]*resource
	anchors   map[string][]*node // by $dynamicAnchor
	refs      []reference
	program   int  // instructions of all regular expressions
	places    int  // bytes of all pointers
	defaults  bool // there are some
	scoped    bool // some references depend on the way to them

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
	if err := b.place(len(n.pointer), n.pointer); err != nil {
		return err
	}
	b.nodes = append(b.nodes, n)
	b.pointers[n.pointer] = n
	switch v := v.(type) {
	case bool:
		n.never = !v
		return nil
	case object:
		n.raw = v
		return b.object(n)
	default:
		return fail(ErrInvalid, n.pointer, "a schema is an object or a boolean, not %s", show(v))
	}
}

// place counts bytes of pointers.
func (b *builder) place(bytes int, pointer string) error {
	if b.places += bytes; b.places > maxPlaces {
		return fail(ErrLimit, pointer, "names too long")
	}
	return nil
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

// settle puts out of force what other keywords do, and sets what depends on
// other keywords.
func (n *node) settle(d Dialect) {
	if _, ref := n.raw["$ref"]; ref && d == Draft07 {
		n.rules, n.edges, n.alias = rules{}, nil, true // a reference has no siblings there
		return
	}
	if n.cond == nil {
		n.then, n.otherwise = nil, nil
	}
	if d == Draft07 && n.prefix != nil {
		n.rest = n.more
	}
	n.more = nil
	n.edges = slices.DeleteFunc(n.edges, func(e *edge) bool {
		return n.cond == nil && (e.keyword == "then" || e.keyword == "else") || e.keyword == "additionalItems" && n.rest != e
	})
	_, refers := n.raw["$ref"]
	_, dynamic := n.raw["$dynamicRef"]
	n.alias = refers && !dynamic && reflect.ValueOf(n.rules).IsZero()
	n.whole = (refers || dynamic) && !n.alias || n.needsWhole()
	n.measures = n.measure()
	n.named = make(map[string]member, len(n.properties))
	for _, e := range n.properties {
		n.named[e.name] = member{edge: e}
	}
	for _, name := range n.required {
		m := n.named[name]
		if !m.required {
			n.needed++
		}
		n.named[name] = member{m.edge, true}
	}
}

// below builds the subschema v at the given place below n.
func (b *builder) below(n *node, v any, place string) (*node, error) {
	c := &node{pointer: n.pointer + place, depth: n.depth + 1, scope: n.scope}
	return c, b.node(c, v)
}

// child builds the subschema v at the given place below n and joins the two.
func (b *builder) child(n *node, v any, place string, e *edge) (_ *edge, err error) {
	e.to, err = b.below(n, v, place)
	n.edges = append(n.edges, e)
	return e, err
}

// field sets a field of a node's rules, whose type says what the value has to
// be.
func (b *builder) field(n *node, key string, v any) (err error) {
	kw, pointer := keywords[key], n.pointer+token(key)
	switch f := kw.field(&n.rules).(type) {
	case *bool:
		*f, err = as[bool](v, pointer, "true or false")
	case **int:
		*f, err = length(v, pointer)
	case **float64:
		*f, err = limit(v, pointer)
	case *[]string:
		*f, err = stringList(v, pointer)
	case **edge:
		*f, err = b.child(n, v, token(key), &edge{on: kw.on, keyword: key})
	case *[]*edge:
		*f, err = b.list(n, key, v, kw.on)
	case *namedEdges:
		*f, err = b.byName(n, key, v)
	}
	return err
}

func (b *builder) list(n *node, key string, v any, on on) ([]*edge, error) {
	a, err := as[array](v, n.pointer+token(key), "an array of schemas")
	if err != nil {
		return nil, err
	}
	if len(a) == 0 {
		return nil, fail(ErrInvalid, n.pointer+token(key), "want at least one schema")
	}
	list := make([]*edge, len(a))
	for i, v := range a {
		e := &edge{on: on, keyword: key}
		if list[i], err = b.child(n, v, token(key)+token(strconv.Itoa(i)), e); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b *builder) byName(n *node, key string, v any) (namedEdges, error) {
	o, err := as[object](v, n.pointer+token(key), "an object of schemas")
	if err != nil {
		return nil, err
	}
	list := make(namedEdges, 0, len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		e, err := b.child(n, o[name], token(key)+token(name), &edge{on: keywords[key].on, keyword: key, name: name})
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// as returns v if it is a T, else an error that says what was wanted.
func as[T any](v any, pointer, want string) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fail(ErrInvalid, pointer, "want %s, not %s", want, show(v))
	}
	return t, nil
}

// limit takes a number: the nearest float64, which from 2^53 on may be a
// neighbour.
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
