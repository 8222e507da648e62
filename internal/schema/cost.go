package schema

import (
	"math"
)

// The library has no budget and cannot be interrupted, and a small schema can
// make it visit 2^depth subschemas. So each validation is first rehearsed: the
// meter goes everywhere the library could go and only counts. A step of it is
// some thirty times cheaper than a visit by the library, and it stops when the
// budget is gone.
//
// The count is an upper bound. The library stops at the first failure and the
// meter does not; a pattern in patternProperties is taken to match every name.
// A unit is what an empty visit costs, up to a microsecond.

const (
	// baseWork is the budget, in units, of validating an empty text. Each byte
	// of the text adds one, so that the size of a value alone is never too much.
	baseWork = 1 << 20

	textPerUnit    = 128 // bytes of an error that a unit can copy
	matchPerUnit   = 64  // instructions × bytes of a regular expression
	entriesPerUnit = 8   // map entries
)

// setCost measures what one visit of n costs by itself.
func (n *node) setCost() {
	n.text = len(n.label()) + 32
	n.visit = 1 + (len(n.edges)+len(n.lib.Required))/entriesPerUnit
	for _, name := range n.lib.Required {
		n.text += len(name)
	}
	for _, v := range n.lib.Enum {
		n.visit += size(v)
		n.text += maxShown
	}
	if n.lib.Const != nil {
		n.visit += size(*n.lib.Const)
	}
	for name, required := range n.lib.DependentRequired {
		n.dependency(name, required)
	}
	for name, required := range n.lib.DependencyStrings {
		n.dependency(name, required)
	}
	if n.lib.DynamicRef != "" {
		n.visit += maxChain // looks for the anchor along the stack
	}
	n.text += len(n.lib.Pattern) + 32*len(n.edges)
}

func (n *node) dependency(name string, required []string) {
	n.visit += 1 + len(required)/entriesPerUnit
	n.text += len(name)
	for _, name := range required {
		n.text += len(name)
	}
}

// A meter counts down the units that are left.
type meter struct{ left int }

// visit charges for validating v against n. It returns a bound on the length
// of the library's error about it: every visit on the way up copies that.
func (m *meter) visit(n *node, v any) (errText int) {
	if m.charge(n.visit); m.left < 0 {
		return 0
	}
	switch v := v.(type) {
	case object:
		errText = m.object(n, v)
	case array:
		errText = m.array(n, v)
	case text:
		errText = m.string(n, v)
	}
	for _, e := range n.edges {
		if e.on == same && m.left >= 0 {
			t := m.visit(e.to, v)
			if e.keyword == "anyOf" { // the only one to report all its errors
				errText += t
			} else {
				errText = max(errText, t)
			}
		}
	}
	errText += n.text
	m.charge(errText / textPerUnit)
	return errText
}

func (m *meter) charge(units int) {
	m.left = max(m.left-units, -1)
}

func (m *meter) string(n *node, s text) int {
	m.match(n.program, len(s))
	if n.program > 0 || n.lib.MinLength != nil || n.lib.MaxLength != nil {
		m.charge(len(s) / textPerUnit)
		return len(s)
	}
	return 0
}

// match charges for matching a regular expression with a string.
func (m *meter) match(program, length int) {
	m.charge(int(min(float64(program)*float64(length), math.MaxInt32*matchPerUnit) / matchPerUnit))
}

func (m *meter) object(n *node, o object) (errText int) {
	m.charge(len(o) / entriesPerUnit)
	for _, e := range n.edges {
		switch e.on {
		case property:
			if v, ok := o[e.name]; ok && m.left >= 0 {
				errText = max(errText, m.visit(e.to, v))
			}
		case matching, additional, looseProps, names:
			errText = max(errText, m.properties(n, e, o))
		}
	}
	return errText
}

// properties charges for an edge that may lead to any property of o.
func (m *meter) properties(n *node, e *edge, o object) (errText int) {
	listed := 0 // the library lists the names that additionalProperties forbids
	for name, v := range o {
		if m.left < 0 {
			return 0
		}
		switch e.on {
		case additional:
			if n.named[name] != nil {
				continue
			}
			listed += len(name)
		case matching:
			m.match(e.program, len(name))
		case names:
			v = text(name)
		}
		errText = max(errText, m.visit(e.to, v))
	}
	return errText + listed
}

func (m *meter) array(n *node, a array) (errText int) {
	if n.lib.UniqueItems {
		m.charge(collisions(a))
	}
	for _, e := range n.edges {
		from, to := e.from, len(a)
		switch e.on {
		case item:
			to = min(from+1, to)
		case items, looseItems, containing:
		default:
			continue
		}
		for ; from < to && m.left >= 0; from++ {
			errText = max(errText, m.visit(e.to, a[from]))
		}
	}
	return errText
}
