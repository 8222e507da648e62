// Package schema makes, checks and applies the JSON Schemas of tools: inferred
// from Go types ([InferInput], [InferOutput]), compiled from what a peer sent
// ([Compile]), and applied to arguments and results ([Schema.Validate]).
//
// Validation itself is github.com/google/jsonschema-go. This package stands in
// front of it because schemas and values come from peers: it reads both
// exactly, resolves references within the schema and fetches nothing, and
// refuses what the library would not finish with. A schema is bounded in size
// and composition when compiled. Each validation is rehearsed by a meter and
// refused with [ErrBudget] if it could take more work than its budget: about
// one second, and one more for each MiB of the value. Whether the value is valid
// is then not known.
//
// What surprises:
//
//   - Regular expressions are RE2, of package regexp. A pattern it does not
//     know (look-ahead, back-reference, repetition above 1000, \u escapes)
//     makes the schema an [ErrPattern] rather than an assertion that is
//     silently dropped.
//   - "format" and the content keywords are annotations and assert nothing.
//   - A bound (minimum and the like) and multipleOf are float64. So is any
//     number of a value that is not an integer of 64 bits, and a number above
//     1.8e308 is refused. multipleOf is a division of floats: 19.99 is no
//     multiple of 0.01.
//   - A reference leads to a subschema under a keyword of the dialect, by
//     JSON Pointer, anchor or $id; not into unknown keywords.
//
// See https://modelcontextprotocol.io/specification/2026-07-28/basic, JSON
// Schema Usage.
package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds on schemas and values.
const (
	MaxBytes         = 1 << 20 // bytes of a schema
	MaxDepth         = 64      // subschemas in each other, references not followed
	MaxSubschemas    = 10_000  // subschemas of a schema, itself included
	MaxInstanceDepth = 128     // arrays and objects in each other in a value
)

// maxNesting bounds arrays and objects in each other in a schema: two for each
// subschema and some for the values of enum, default and the like.
const maxNesting = 4 * MaxDepth

// Dialect is a version of JSON Schema.
type Dialect uint8

// The supported dialects. A schema without $schema is 2020-12.
const (
	Draft202012 Dialect = 1 << iota
	Draft07
)

// uri is how the library wants the dialect named.
func (d Dialect) uri() string {
	if d == Draft07 {
		return "http://json-schema.org/draft-07/schema#"
	}
	return "https://json-schema.org/draft/2020-12/schema"
}

// dialectOf reads $schema, with http or https and with or without an empty
// fragment.
func dialectOf(v any) (Dialect, bool) {
	s, _ := v.(text)
	name := strings.TrimSuffix(string(s), "#")
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
	nodes    []*node
	dialect  Dialect
	resolved *jsonschema.Resolved
	defaults bool // there are some
	parts    func() (*parts, error)
}

// Compile reads a JSON Schema of dialect 2020-12 or draft-07. It makes no
// network or file access. The error is a [*CompileError].
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxBytes {
		return nil, fail(ErrLimit, "", "%d bytes, more than %d", len(raw), MaxBytes)
	}
	v, problem := decode(raw, maxNesting, rounded)
	if problem != nil {
		return nil, fail(ErrInvalid, problem.Instance, "%s", problem.Message)
	}
	b := builder{
		dialect:   Draft202012,
		pointers:  map[string]*node{},
		resources: map[string]*resource{},
		dynamic:   map[string][]*node{},
	}
	root, err := b.root(v)
	if err != nil {
		return nil, err
	}
	if err := checkComposition(b.nodes); err != nil {
		return nil, err
	}
	resolved, err := root.lib.Resolve(nil)
	if err != nil {
		return nil, fail(ErrInvalid, "", "%s", clip(err.Error(), maxText))
	}
	s := &Schema{raw: bytes.Clone(raw), root: root, nodes: b.nodes, dialect: b.dialect, resolved: resolved}
	for _, n := range b.nodes {
		n.setCost()
		_, ok := n.raw["default"]
		s.defaults = s.defaults || ok
	}
	s.parts = sync.OnceValues(s.newParts)
	return s, nil
}

// root builds the whole schema.
func (b *builder) root(v any) (*node, error) {
	if o, ok := v.(object); ok && o["$schema"] != nil {
		if b.dialect, ok = dialectOf(o["$schema"]); !ok {
			return nil, unknownDialect("/$schema", o["$schema"])
		}
	}
	root := new(node)
	root.scope = &resource{base: rootURI, root: root, anchors: map[string]*node{}}
	b.resources[rootURI.String()] = root.scope
	if err := b.node(root, v); err != nil {
		return nil, err
	}
	root.lib.Schema = b.dialect.uri()
	return root, b.link()
}

// sameDialect refuses a subschema that switches to another dialect.
func (b *builder) sameDialect(n *node, key string, v any) error {
	if d, ok := dialectOf(v); !ok || d != b.dialect {
		return unknownDialect(n.pointer+token(key), v)
	}
	return nil
}

func unknownDialect(pointer string, v any) error {
	return fail(ErrDialect, pointer, "%s; want one of %s, %s for the whole schema", show(v), Draft202012.uri(), Draft07.uri())
}

// Raw returns the schema as it was given, which must not be changed.
func (s *Schema) Raw() json.RawMessage { return s.raw }

// Dialect returns the schema's dialect.
func (s *Schema) Dialect() Dialect { return s.dialect }

// IsObject reports whether the root says "type": "object", as the schema of a
// tool's input must in all versions of the protocol, and that of its output
// before 2026-07-28.
func (s *Schema) IsObject() bool { return s.root.lib.Type == "object" }

// Validate checks the JSON text of a value. The error is a [*ValidationError]
// or [ErrBudget].
func (s *Schema) Validate(instance []byte) error {
	v, problem := decode(instance, MaxInstanceDepth, rounded)
	if problem != nil {
		return &ValidationError{Problems: []Problem{*problem}}
	}
	m := meter{left: baseWork + len(instance)}
	if m.visit(s.root, v); m.left < 0 {
		return ErrBudget
	}
	if err := s.resolved.Validate(v); err != nil {
		return &ValidationError{Problems: s.explain(v, err)}
	}
	return nil
}
