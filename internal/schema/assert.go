package schema

import "math"

// assert checks v against the keywords that need no subschema and nothing of
// an array's or object's inside.
func (r *run) assert(n *node, v any, s site) bool {
	f := failure{node: n, value: v}
	switch {
	case n.types != 0 && n.types&typesOf(v) == 0:
		f.keyword = "type"
	case n.enum != nil && !r.oneOfValues(n.enum, v):
		f.keyword = "enum"
	case n.constant != nil && !r.equal(*n.constant, v):
		f.keyword = "const"
	default:
		f.keyword = r.measure(n, v)
	}
	return f.keyword == "" || r.fail(s, f)
}

func (r *run) oneOfValues(values []any, v any) bool {
	for _, w := range each(r.meter, values) {
		if r.equal(w, v) {
			return true
		}
	}
	return false
}

// measure returns the keyword for numbers or strings that v fails, if any.
func (r *run) measure(n *node, v any) (keyword string) {
	if s, ok := v.(text); ok {
		return r.measureText(n, s)
	}
	f, ok := float(v)
	switch {
	case !ok:
		return ""
	case n.multipleOf != nil && !multiple(f, *n.multipleOf):
		return "multipleOf"
	case n.minimum != nil && compare(v, *n.minimum) < 0:
		return "minimum"
	case n.maximum != nil && compare(v, *n.maximum) > 0:
		return "maximum"
	case n.exclusiveMinimum != nil && compare(v, *n.exclusiveMinimum) <= 0:
		return "exclusiveMinimum"
	case n.exclusiveMaximum != nil && compare(v, *n.exclusiveMaximum) >= 0:
		return "exclusiveMaximum"
	}
	return ""
}

// multiple reports whether the quotient has no fraction; an infinite one does
// not count.
func multiple(f, of float64) bool {
	_, fraction := math.Modf(f / of)
	return fraction == 0
}

func (r *run) measureText(n *node, s text) (keyword string) {
	if n.minLength != nil || n.maxLength != nil {
		switch length := r.runes(s); {
		case n.minLength != nil && length < *n.minLength:
			return "minLength"
		case n.maxLength != nil && length > *n.maxLength:
			return "maxLength"
		}
	}
	if n.pattern != nil && !r.match(n.pattern, string(s)) {
		return "pattern"
	}
	return ""
}
