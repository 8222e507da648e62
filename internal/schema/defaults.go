package schema

import "github.com/go-json-experiment/json"

// ApplyDefaults returns the instance with the properties that it lacks and
// whose schema has a default, required or not. It goes into the properties
// that are there, follows $ref and allOf, and keeps everything else, numbers to
// the last digit; names come out in order. It makes no object just to hold
// defaults, and does not look into arrays or alternatives.
//
// Nothing says that a default is valid: validate the result. An error is a
// [*ValidationError] if the instance is not JSON, or [ErrBudget].
func (s *Schema) ApplyDefaults(instance []byte) ([]byte, error) {
	if !s.defaults {
		return instance, nil
	}
	v, problem := decode(instance, MaxInstanceDepth, verbatim)
	if problem != nil {
		return nil, &ValidationError{Problems: []Problem{*problem}}
	}
	m := meter{left: baseWork + len(instance)}
	if m.visit(s.root, v); m.left < 0 {
		return nil, ErrBudget
	}
	fill(s.root, v)
	return json.Marshal(v, json.Deterministic(true))
}

// fill adds to v what n has defaults for.
func fill(n *node, v any) {
	o, ok := v.(object)
	if !ok {
		return
	}
	for _, e := range n.edges {
		switch {
		case e.keyword == "$ref", e.keyword == "allOf":
			fill(e.to, v)
		case e.on == property:
			if _, ok := o[e.name]; !ok {
				value, ok := e.to.fallback()
				if !ok {
					continue
				}
				o[e.name] = clone(value)
			}
			fill(e.to, o[e.name])
		}
	}
}

// fallback returns the default of n, or of what it refers to.
func (n *node) fallback() (any, bool) {
	if v, ok := n.raw["default"]; ok {
		return v, true
	}
	for _, e := range n.edges {
		if e.keyword == "$ref" {
			return e.to.fallback()
		}
	}
	return nil, false
}

func clone(v any) any {
	switch v := v.(type) {
	case object:
		c := make(object, len(v))
		for name, v := range v {
			c[name] = clone(v)
		}
		return c
	case array:
		c := make(array, len(v))
		for i, v := range v {
			c[i] = clone(v)
		}
		return c
	default:
		return v
	}
}
