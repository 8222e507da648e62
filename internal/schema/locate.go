package schema

import (
	"errors"
	"maps"
	"slices"
	"strconv"
)

// below reports what is wrong with the parts of v, or with what they bring
// with them, given an edge of n that failed.
func (x *explainer) below(n *node, failed *edge, v any, at string) {
	before := len(x.problems)
	switch v := v.(type) {
	case object:
		x.object(n, failed, v, at)
	case array:
		x.array(n, failed, v, at)
	}
	if len(x.problems) == before {
		x.add(at, failed.to.pointer, failed.keyword, "a part does not match the schema in "+failed.keyword)
	}
}

// object reports what is wrong with the properties of o. The library tries
// edges to properties in no order, so all of the kind that failed are tried
// again.
func (x *explainer) object(n *node, failed *edge, o object, at string) {
	bad := slices.Sorted(maps.Keys(o))
	if failed.on == looseProps {
		bad = x.loose(n, failed, o, bad)
	}
	for _, name := range bad {
		if len(x.problems) == maxProblems {
			return
		}
		place := at + token(clip(name, maxShown))
		switch {
		case failed.dependent():
			x.dependent(n, failed.keyword, o, name, at)
		case failed.on == names:
			x.name(failed, name, at)
		case failed.on == looseProps:
			x.part(failed, o[name], place)
		default:
			for _, e := range n.applied(name) {
				x.part(e, o[name], place)
			}
		}
	}
}

// dependent reports the problems of o against the schema that the named
// property brings with it, if any.
func (x *explainer) dependent(n *node, keyword string, o object, name, at string) {
	for _, e := range n.edges {
		if e.keyword == keyword && e.name == name {
			x.part(e, o, at)
		}
	}
}

// name reports the problems of a property's name.
func (x *explainer) name(e *edge, name, at string) {
	own := explainer{parts: x.parts, meter: x.meter}
	own.part(e, text(name), at)
	for _, p := range own.problems {
		x.add(at, p.Schema, p.Keyword, "property name "+show(text(name))+": "+p.Message)
	}
}

// applied returns the edges that lead to the property called name by its name.
func (n *node) applied(name string) (edges []*edge) {
	if e := n.named[name]; e != nil {
		edges = append(edges, e)
	}
	for _, e := range n.unnamed { // the additional one comes last
		if e.on == matching && e.pattern.MatchString(name) || e.on == additional && edges == nil {
			edges = append(edges, e)
		}
	}
	return edges
}

// loose returns which of the properties fail by the edge failed: those without
// which o is valid. If there are none, because there are several, those that
// still fail when the others that could are taken away.
func (x *explainer) loose(n *node, failed *edge, o object, properties []string) (bad []string) {
	copies := len(o) * len(o) / entriesPerUnit
	if copies > x.meter.left {
		return nil
	}
	x.meter.charge(copies)
	for _, name := range properties {
		others := maps.Clone(o)
		delete(others, name)
		if x.try(n, others) == nil {
			bad = append(bad, name)
		}
	}
	if bad != nil {
		return bad
	}
	common := maps.Clone(o)
	maps.DeleteFunc(common, func(_ string, v any) bool { return x.try(failed.to, v) != nil })
	for _, name := range properties {
		alone := maps.Clone(common)
		alone[name] = o[name]
		if x.failsBy(n, failed, alone) {
			bad = append(bad, name)
		}
	}
	return bad
}

// failsBy reports whether v fails against n by the edge e.
func (x *explainer) failsBy(n *node, e *edge, v any) bool {
	err := errors.Unwrap(x.try(n, v))
	inner := errors.Unwrap(err)
	return inner != nil && err.Error() == "validating "+e.to.label()+": "+inner.Error()
}

func (x *explainer) array(n *node, failed *edge, a array, at string) {
	for i, v := range a {
		place := at + token(strconv.Itoa(i))
		if failed.on == looseItems {
			if x.failsBy(n, failed, a[:i+1]) {
				x.part(failed, v, place)
				return
			}
			continue
		}
		for _, e := range n.edges {
			if e.on == item && e.from == i || e.on == items && e.from <= i {
				x.part(e, v, place)
			}
		}
	}
}
