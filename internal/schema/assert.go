package schema

import "math"

// assert checks v against the keywords that need neither a subschema nor the items or properties of v.
func (r *run) assert(n *node, v value, s site) bool {
	var keyword string
	switch {
	case n.types != 0 && n.types&v.types() == 0:
		keyword = "type"
	case !n.asserts:
		return true
	case n.enum != nil && !r.oneOfValues(n.enum, v):
		keyword = "enum"
	case n.constant.kind() != absent && !r.equal(n.constant, v):
		keyword = "const"
	default:
		keyword = r.measure(n, v)
	}
	return keyword == "" || r.fail(s, failure{node: n, keyword: keyword, value: v})
}

func (r *run) oneOfValues(values []value, v value) bool {
	for _, w := range each(r.meter, values) {
		if r.equal(w, v) {
			return true
		}
	}
	return false
}

// measure returns the keyword for numbers or strings that v violates, or "".
func (r *run) measure(n *node, v value) (keyword string) {
	if v.kind() == '"' {
		return r.measureText(n, v.bytes())
	}
	number := r.number(v)
	f, ok := float(number)
	switch {
	case !ok:
		return ""
	case n.multipleOf != nil && !multiple(f, *n.multipleOf):
		return "multipleOf"
	case n.minimum != nil && compare(number, *n.minimum) < 0:
		return "minimum"
	case n.maximum != nil && compare(number, *n.maximum) > 0:
		return "maximum"
	case n.exclusiveMinimum != nil && compare(number, *n.exclusiveMinimum) <= 0:
		return "exclusiveMinimum"
	case n.exclusiveMaximum != nil && compare(number, *n.exclusiveMaximum) >= 0:
		return "exclusiveMaximum"
	}
	return ""
}

// multiple reports whether f/of has no fraction. It reports false if the quotient is infinite.
func multiple(f, of float64) bool {
	_, fraction := math.Modf(f / of)
	return fraction == 0
}

func (r *run) measureText(n *node, s []byte) (keyword string) {
	if n.minLength != nil || n.maxLength != nil {
		switch length := r.runes(s); {
		case n.minLength != nil && length < *n.minLength:
			return "minLength"
		case n.maxLength != nil && length > *n.maxLength:
			return "maxLength"
		}
	}
	if n.pattern != nil && !r.match(n.pattern, s) {
		return "pattern"
	}
	return ""
}
