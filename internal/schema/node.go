package schema

import (
	"net/url"
	"regexp"
)

// A node is one subschema.
type node struct {
	pointer string // where it is in the raw schema
	depth   int
	scope   *resource
	raw     value // absent for true and false
	never   bool  // it is the schema false
	rules
	edges   []*edge // all that lead from here and are in force
	ref     *edge
	dynamic *dynamicRef
	given   *fallback // its default

	refers, combines, asserts bool // there is a keyword for refer, combine, or assert that is not type
}

// rules are the keywords of a node that are in force, but for references.
type rules struct {
	types    typeSet // empty for any
	enum     []value
	constant value

	multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum *float64

	minLength, maxLength *int
	pattern              *expression

	prefix                   []*edge // to the first items, one by one
	rest                     *edge   // to those behind them
	more                     *edge   // additionalItems: the rest, if there is a prefix
	contains                 *edge
	minContains, maxContains *int
	minItems, maxItems       *int
	uniqueItems              bool
	looseItems               *edge // to items that nothing else was applied to

	properties                   namedEdges
	named                        map[string]member // properties by their names
	needed                       int               // of named, those that are required
	matching                     namedEdges        // to the properties whose name matches
	others                       *edge             // to the properties neither named nor matched
	names                        *edge             // to the names of properties, as strings
	minProperties, maxProperties *int
	required                     []string
	dependentRequired            map[string][]string
	dependents                   namedEdges // to an object that has the property
	looseProps                   *edge      // to properties that nothing else was applied to

	allOf, anyOf, oneOf []*edge
	not, cond           *edge // cond is if
	then, otherwise     *edge
}

// An edge applies a subschema to a value or to parts of it.
type edge struct {
	to      *node
	on      on
	keyword string
	name    string      // of namedEdges
	pattern *expression // the name, of patternProperties
}

// A member is what is said of a property by its name.
type member struct {
	edge     *edge // nil if it is only required
	required bool
}

// namedEdges are the edges of a keyword whose value is an object, by name.
type namedEdges []*edge

// on says what of a value an edge leads to.
type on uint8

const (
	same     on = iota // the value itself: allOf, $ref and so on
	property           // some of its properties
	name               // the names of its properties
	item               // some of its items
)

// A resource is the root or a subschema with a URI of its own ($id): the base
// of relative references and the scope of anchors.
type resource struct {
	base    *url.URL
	root    *node
	anchors map[string]*node
	dynamic map[string]*node // of them, those by $dynamicAnchor
}

// A dynamicRef leads to the anchor of that name in the outermost resource on
// the way to it, if one has it.
type dynamicRef struct {
	anchor string          // empty if the way makes no difference
	static *edge           // without such a resource
	to     map[*node]*edge // all that the anchor may be
}

// An expression is a compiled regular expression.
type expression struct {
	regexp  *regexp.Regexp
	program int // instructions
}
