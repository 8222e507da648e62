package schema

import (
	"net/url"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"
)

// A node is one subschema: what the library is given, and what this package
// needs to bound and explain the library's work.
type node struct {
	id      int
	pointer string // where it is in the raw schema
	path    string // where it is in the library's tree; definitions are moved
	depth   int
	scope   *resource
	raw     object // nil for true and false
	lib     *jsonschema.Schema
	edges   []*edge
	named   map[string]*edge // of edges, those to a property
	unnamed []*edge          // of edges, the matching ones and then the additional one
	program int              // instructions of "pattern"
	visit   int              // units of work of one visit by the library
	text    int              // bytes a visit may add to the library's error
}

// never reports whether n is the schema false.
func (n *node) never() bool { return n.raw == nil && n.lib.Not != nil }

// label is how the library names n in an error.
func (n *node) label() string {
	switch {
	case n.lib.ID != "":
		return n.lib.ID
	case n.path != "":
		return n.path
	default:
		return "root"
	}
}

// An edge applies a subschema to a value or to parts of it.
type edge struct {
	to      *node
	on      on
	keyword string
	name    string         // the property, or the property depended on
	pattern *regexp.Regexp // of matching
	program int            // instructions of pattern
	from    int            // the item, or the first of the items
}

// dependent reports whether e applies to an object that has the property name.
func (e *edge) dependent() bool {
	return e.keyword == "dependentSchemas" || e.keyword == "dependencies"
}

// on says what of a value an edge leads to. The zero value is the value
// itself: allOf, $ref and so on.
type on uint8

const (
	same       on = iota
	property      // the property called name
	matching      // properties whose name matches pattern
	additional    // properties neither named nor matched
	looseProps    // properties nothing else was applied to
	names         // the names of properties, as strings
	item          // one item
	items         // the items from one on
	looseItems    // items nothing else was applied to
	containing    // any items
)

// A resource is the root or a subschema with a URI of its own ($id): the base
// of relative references and the scope of anchors.
type resource struct {
	base    *url.URL
	root    *node
	anchors map[string]*node
}
