// Package schema infers, compiles and applies the JSON Schemas of tools: it infers schemas from Go types ([InferInput],
// [InferOutput]), compiles schemas from peers ([Compile]), and validates arguments and results ([Schema.Validate]).
//
// Schemas and values come from peers. This package parses both strictly, resolves references within the schema and
// fetches nothing. Compile bounds the size and the composition of a schema. Each validation has a budget of about a
// tenth of a second, plus as much again for each MiB of the value. Validate returns [ErrBudget] when the budget is
// exhausted, and the cause of its context's end when the context ends. After such an error, it is unknown whether the
// value is valid. Inserting defaults has its own bound, [ErrDefaults].
//
// Possible surprises:
//
//   - Regular expressions are RE2, of package regexp. A pattern that RE2 does not support (look-ahead, back-reference,
//     repetition above 1000, \u escapes) makes Compile fail with [ErrPattern]; the assertion is never silently dropped.
//   - "format" and the content keywords are annotations and assert nothing.
//   - The values of multipleOf, and of bounds such as minimum, are float64. So is any number in a value that is not an
//     integer of 64 bits, and a number above 1.8e308 is rejected; this keeps the cost of a number proportional to its
//     text. multipleOf divides floats: 19.99 is not a multiple of 0.01.
//   - A reference leads to a subschema under a keyword of the dialect, by JSON Pointer, anchor or $id; it cannot lead
//     into unknown keywords.
//
// See https://modelcontextprotocol.io/specification/2026-07-28/basic, JSON Schema Usage.
package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
)

// Bounds on schemas and values.
const (
	MaxBytes         = 1 << 20 // size of a schema in bytes
	MaxDepth         = 64      // nesting of subschemas, without following references
	MaxSubschemas    = 10_000  // subschemas of a schema, including the schema itself
	MaxInstanceDepth = 128     // nesting of arrays and objects in a value
)

// maxNesting bounds the nesting of arrays and objects in a schema: two levels for each subschema and some for the
// values of enum, default and similar keywords.
const maxNesting = 4 * MaxDepth

// Dialect is a version of JSON Schema.
type Dialect uint8

// The supported dialects. A schema without $schema is 2020-12.
const (
	Draft202012 Dialect = 1 << iota
	Draft07
)

// uri returns the dialect's URI.
func (d Dialect) uri() string {
	if d == Draft07 {
		return "http://json-schema.org/draft-07/schema#"
	}
	return "https://json-schema.org/draft/2020-12/schema"
}

// dialectOf returns the dialect that $schema names. It accepts http and https, with or without an empty fragment.
func dialectOf(v value) (Dialect, bool) {
	if v.kind() != '"' {
		return 0, false
	}
	name := strings.TrimSuffix(string(v.bytes()), "#")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "http://"), "https://")
	switch name {
	case "json-schema.org/draft/2020-12/schema":
		return Draft202012, true
	case "json-schema.org/draft-07/schema":
		return Draft07, true
	}
	return 0, false
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	raw      json.RawMessage
	root     *node
	dialect  Dialect
	defaults bool // whether some subschema has a default
	scoped   bool // whether some references depend on the path that leads to them
}

// Compile compiles a JSON Schema of dialect 2020-12 or draft-07, without network or file access. The error is a
// [*CompileError].
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxBytes {
		return nil, fail(ErrLimit, "", "the schema has %d bytes, more than %d", len(raw), MaxBytes)
	}
	raw = bytes.Clone(raw)
	m := newMeter(context.Background(), len(raw)) // the budget suffices for a text of MaxBytes
	v, problem, err := m.decode(raw, maxNesting, false)
	switch {
	case err != nil:
		return nil, fail(ErrLimit, "", "%s", err)
	case problem != nil:
		return nil, fail(ErrInvalid, problem.Instance, "%s", problem.Message)
	}
	b := builder{
		dialect:   Draft202012,
		pointers:  map[string]*node{},
		resources: map[string]*resource{},
		anchors:   map[string][]*node{},
	}
	root, err := b.root(v)
	if err != nil {
		return nil, err
	}
	if err := checkComposition(b.nodes); err != nil {
		return nil, err
	}
	return &Schema{raw: raw, root: root, dialect: b.dialect, defaults: b.defaults, scoped: b.scoped}, nil
}

// root builds the whole schema.
func (b *builder) root(v value) (*node, error) {
	if named := v.get("$schema"); named.kind() != absent && named.kind() != 'n' {
		var ok bool
		if b.dialect, ok = dialectOf(named); !ok {
			return nil, unknownDialect("/$schema", named)
		}
	}
	root := new(node)
	root.scope = newResource(rootURI, root)
	b.resources[rootURI.String()] = root.scope
	if err := b.node(root, v); err != nil {
		return nil, err
	}
	return root, b.link()
}

// sameDialect rejects a subschema that switches to another dialect.
func (b *builder) sameDialect(n *node, key string, v value) error {
	if d, ok := dialectOf(v); !ok || d != b.dialect {
		return unknownDialect(n.pointer+token(key), v)
	}
	return nil
}

func unknownDialect(pointer string, v value) error {
	return fail(ErrDialect, pointer, "%s; want one of %s, %s for the whole schema", show(v), Draft202012.uri(),
		Draft07.uri())
}

// Raw returns the original schema. The caller must not change it.
func (s *Schema) Raw() json.RawMessage { return s.raw }

// Dialect returns the schema's dialect.
func (s *Schema) Dialect() Dialect { return s.dialect }

// IsObject reports whether the root has "type": "object". The schema of a tool's input must have it in all versions of
// the protocol, and the schema of a tool's output must have it before 2026-07-28.
func (s *Schema) IsObject() bool { return s.root.raw.get("type").is("object") }

// Validate validates the JSON text of a value. The error is a [*ValidationError], [ErrBudget], or the cause of ctx's
// end. Validate uses at most about eight bytes of memory for each byte of the text.
func (s *Schema) Validate(ctx context.Context, instance []byte) error {
	m := newMeter(ctx, len(instance))
	v, problem, err := m.decode(instance, MaxInstanceDepth, false)
	switch {
	case err != nil:
		return err
	case problem != nil:
		return &ValidationError{Problems: []Problem{*problem}}
	}
	valid := s.evaluate(m, v, nil)
	switch {
	case m.err != nil:
		return m.err
	case !valid:
		return &ValidationError{Problems: s.explain(newMeter(m.ctx, 0), v)}
	}
	return nil
}
