package schema

import (
	"net/url"
	"regexp"
)

// A node is one subschema.
type node struct {
	pointer string // JSON Pointer in the raw schema
	depth   int
	scope   *resource
	raw     value // absent for the schemas true and false
	never   bool  // whether the schema is false
	rules
	edges   []*edge // all edges in force
	ref     *edge
	dynamic *dynamicRef
	given   *fallback // value of the keyword default; nil for none

	refers, combines, asserts bool // whether n has keywords that refer, combine, or assert (besides type) apply
}

// rules are the keywords of a node that are in force, except references.
type rules struct {
	types    typeSet // empty allows all types
	enum     []value
	constant value

	multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum *float64

	minLength, maxLength *int
	pattern              *expression

	prefix                   []*edge // for the first items, one each
	rest                     *edge   // for the items behind prefix
	more                     *edge   // additionalItems of draft-07: becomes rest if there is a prefix
	contains                 *edge
	minContains, maxContains *int
	minItems, maxItems       *int
	uniqueItems              bool
	looseItems               *edge // unevaluatedItems

	properties                   namedEdges
	named                        map[string]member // known properties by name
	needed                       int               // number of required properties in named
	matching                     namedEdges        // patternProperties
	others                       *edge             // additionalProperties
	names                        *edge             // propertyNames
	minProperties, maxProperties *int
	required                     []string
	dependentRequired            map[string][]string
	dependents                   namedEdges // applied to an object that has the named property
	looseProps                   *edge      // unevaluatedProperties

	allOf, anyOf, oneOf []*edge
	not, cond           *edge // cond is the keyword if
	then, otherwise     *edge
}

// An edge applies a subschema to a value or to parts of it.
type edge struct {
	to      *node
	on      on
	keyword string
	name    string      // of the property, in namedEdges
	pattern *expression // compiled name, for patternProperties
}

// A member holds the rules for a property with a certain name.
type member struct {
	edge     *edge // schema of the property; nil if the property is only required
	required bool
}

// namedEdges are the edges of a keyword with an object of schemas, sorted by name.
type namedEdges []*edge

// on is the part of a value that an edge applies to.
type on uint8

const (
	same     on = iota // the value itself, for example allOf and $ref
	property           // some of the value's properties
	name               // the names of the value's properties
	item               // some of the value's items
)

// A resource is the root or a subschema with its own URI ($id): the base of relative references and the scope of
// anchors.
type resource struct {
	base    *url.URL
	root    *node
	anchors map[string]*node
	dynamic map[string]*node // anchors from $dynamicAnchor
}

// A dynamicRef refers to an anchor. Of all resources on the path that have the anchor, the outermost one provides the
// target.
type dynamicRef struct {
	anchor string          // empty if the path makes no difference
	static *edge           // target if no resource on the path has the anchor
	to     map[*node]*edge // edges to all candidates
}

// An expression is a compiled regular expression.
type expression struct {
	regexp  *regexp.Regexp
	program int // number of instructions
}
