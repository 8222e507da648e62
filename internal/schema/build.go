package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A builder turns a decoded schema into nodes.
type builder struct {
	dialect   Dialect
	nodes     []*node
	pointers  map[string]*node
	resources map[string]*resource
	anchors   map[string][]*node // by the name in $dynamicAnchor
	refs      []reference
	program   int  // instructions of all regular expressions together
	places    int  // bytes of all pointers together
	defaults  bool // whether some subschema has a default
	scoped    bool // whether some references depend on the path that leads to them

	dynamicEdges int
}

// maxPlaces bounds the bytes of the pointers to all subschemas together. The size of the schema is no bound: a long
// name is part of the pointer of every subschema below it.
const maxPlaces = 8 << 20

// fail returns a [*CompileError] about the keyword at pointer.
func fail(reason error, pointer, format string, args ...any) error {
	return &CompileError{Path: pointer, Message: fmt.Sprintf(format, args...), Reason: reason}
}

// node builds n from the subschema v. The caller has set the pointer, depth and scope of n.
func (b *builder) node(n *node, v value) error {
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
	switch v.kind() {
	case 't', 'f':
		n.never = v.kind() == 'f'
		return nil
	case '{':
		n.raw = v
		return b.object(n)
	default:
		return fail(ErrInvalid, n.pointer, "a schema is an object or a boolean, not %s", show(v))
	}
}

// place adds the length of a pointer to the bytes of all pointers, and checks their bound.
func (b *builder) place(bytes int, pointer string) error {
	if b.places += bytes; b.places > maxPlaces {
		return fail(ErrLimit, pointer, "the names of properties are too long in total")
	}
	return nil
}

func (b *builder) object(n *node) error {
	if err := b.identify(n); err != nil {
		return err
	}
	for _, name := range n.raw.sorted() {
		key := string(name.bytes())
		kw, ok := keywords[key]
		if !ok || kw.dialects&b.dialect == 0 {
			continue
		}
		read := kw.read
		if read == nil {
			read = (*builder).field
		}
		if err := read(b, n, key, name.next()); err != nil {
			return err
		}
	}
	n.settle(b.dialect)
	return nil
}

// settle removes keywords that other keywords disable, and sets the fields that depend on several keywords.
func (n *node) settle(d Dialect) {
	if n.raw.has("$ref") && d == Draft07 {
		n.rules, n.edges, n.refers = rules{}, nil, true // in draft-07, $ref disables its siblings
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
	n.refers = n.raw.has("$ref") || n.raw.has("$dynamicRef")
	n.combines = n.allOf != nil || n.anyOf != nil || n.oneOf != nil || n.not != nil || n.cond != nil
	n.asserts = n.enum != nil || n.constant.kind() != absent || n.multipleOf != nil || n.minimum != nil ||
		n.maximum != nil || n.exclusiveMinimum != nil || n.exclusiveMaximum != nil || n.minLength != nil ||
		n.maxLength != nil || n.pattern != nil
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

// below builds the subschema v and returns it. place is the pointer of v, relative to n.
func (b *builder) below(n *node, v value, place string) (*node, error) {
	c := &node{pointer: n.pointer + place, depth: n.depth + 1, scope: n.scope}
	return c, b.node(c, v)
}

// child builds the subschema v and adds an edge from n to it. place is the pointer of v, relative to n.
func (b *builder) child(n *node, v value, place string, e *edge) (_ *edge, err error) {
	e.to, err = b.below(n, v, place)
	n.edges = append(n.edges, e)
	return e, err
}

// field sets the field of n's rules for the keyword. The Go type of the field determines the required type of v.
func (b *builder) field(n *node, key string, v value) (err error) {
	kw, pointer := keywords[key], n.pointer+token(key)
	switch f := kw.field(&n.rules).(type) {
	case *bool:
		*f, err = v.kind() == 't', want(v, isBoolean, pointer, "true or false")
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

func (b *builder) list(n *node, key string, v value, on on) ([]*edge, error) {
	err := want(v, isArray, n.pointer+token(key), "an array of schemas")
	if err != nil {
		return nil, err
	}
	if v.size() == 0 {
		return nil, fail(ErrInvalid, n.pointer+token(key), "want at least one schema")
	}
	list := make([]*edge, v.size())
	for i, v := range v.items() {
		e := &edge{on: on, keyword: key}
		if list[i], err = b.child(n, v, token(key)+token(strconv.Itoa(i)), e); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b *builder) byName(n *node, key string, v value) (namedEdges, error) {
	if err := want(v, isObject, n.pointer+token(key), "an object of schemas"); err != nil {
		return nil, err
	}
	list := make(namedEdges, 0, v.size())
	for _, named := range v.sorted() {
		name := string(named.bytes())
		e, err := b.child(n, named.next(), token(key)+token(name), &edge{on: keywords[key].on, keyword: key, name: name})
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// want returns an error unless v is of a type in t. The text want describes the required value.
func want(v value, t typeSet, pointer, want string) error {
	if v.types()&t == 0 {
		return fail(ErrInvalid, pointer, "want %s, not %s", want, show(v))
	}
	return nil
}

// str returns the string v, or an error if v is not a string.
func str(v value, pointer string) (string, error) {
	if err := want(v, isString, pointer, "a string"); err != nil {
		return "", err
	}
	return string(v.bytes()), nil
}

// limit returns the nearest float64 to the number v. From 2^53 on, that may be a neighbouring integer.
func limit(v value, pointer string) (*float64, error) {
	f, ok := float(v.number())
	if !ok {
		return nil, fail(ErrInvalid, pointer, "want a number, not %s", show(v))
	}
	return &f, nil
}

func length(v value, pointer string) (*int, error) {
	f, ok := float(v.number())
	if !ok || f < 0 || f != math.Trunc(f) {
		return nil, fail(ErrInvalid, pointer, "want a whole number from 0 on, not %s", show(v))
	}
	n := int(min(f, math.MaxInt32))
	return &n, nil
}

func stringList(v value, pointer string) ([]string, error) {
	err := want(v, isArray, pointer, "an array of strings")
	if err != nil {
		return nil, err
	}
	list := make([]string, v.size())
	for i, v := range v.items() {
		if list[i], err = str(v, pointer+token(strconv.Itoa(i))); err != nil {
			return nil, err
		}
	}
	return list, nil
}
