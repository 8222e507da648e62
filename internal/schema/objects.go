package schema

import "iter"

// object applies the keywords for objects.
func (r *run) object(n *node, o object, s site) bool {
	return r.properties(n, o, s) && r.names(n, o, s) && r.countProperties(n, o, s) && r.required(n, o, s) &&
		r.dependents(n, o, s) && r.looseProperties(n, o, s)
}

// members yields the properties of o, in order if problems are wanted: they
// are the same each time.
func (r *run) members(o object, s site) iter.Seq2[string, any] {
	if s.out != nil {
		return inOrder(r.meter, o)
	}
	return entries(r.meter, o)
}

// properties applies properties, patternProperties and additionalProperties.
func (r *run) properties(n *node, o object, s site) bool {
	if len(n.properties) == 0 && n.matching == nil && n.others == nil {
		return true
	}
	valid := true
	var unexpected []string
	for name, v := range r.members(o, s) {
		applied, ok := r.property(n, name, v, s)
		switch {
		case applied:
		case n.others == nil:
			continue
		case n.others.to.never && s.out != nil:
			unexpected = append(unexpected, name)
		default:
			ok = r.visit(n.others, v, s.atProperty(name))
		}
		s.seen.markName(name)
		if !ok {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return r.unexpected(n, o, unexpected, valid, s) && valid
}

// unexpected adds problems of properties that are not allowed: one for all if
// nothing else is wrong with o so far.
func (r *run) unexpected(n *node, o object, names []string, valid bool, s site) bool {
	if valid && names != nil {
		return r.fail(s, failure{node: n, keyword: "additionalProperties", value: o, names: names})
	}
	for _, name := range each(r.meter, names) {
		r.visit(n.others, o[name], s.atProperty(name))
	}
	return names == nil
}

// property applies what the name of a property calls for, and reports whether
// anything did.
func (r *run) property(n *node, name string, v any, s site) (applied, valid bool) {
	valid = true
	if e := n.named[name].edge; e != nil {
		applied, valid = true, r.visit(e, v, s.atProperty(name))
	}
	for _, e := range each(r.meter, n.matching) {
		if r.match(e.pattern, name) {
			applied, valid = true, r.visit(e, v, s.atProperty(name)) && valid
		}
	}
	return applied, valid
}

// names applies propertyNames.
func (r *run) names(n *node, o object, s site) bool {
	if n.names == nil {
		return true
	}
	valid := true
	for name := range r.members(o, s) {
		if !r.name(n.names, name, s) {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return valid
}

// name visits the name of a property, and says in problems that it is one.
func (r *run) name(e *edge, name string, s site) bool {
	if s.out == nil {
		return r.visit(e, text(name), s)
	}
	own := new(report)
	valid := r.visit(e, text(name), site{out: own})
	for _, p := range each(r.meter, own.problems) {
		r.add(s, p.Schema, p.Keyword, "property name "+show(text(name))+": "+p.Message)
	}
	return valid
}

func (r *run) countProperties(n *node, o object, s site) bool {
	f := failure{node: n, value: o}
	switch {
	case n.minProperties != nil && len(o) < *n.minProperties:
		f.keyword = "minProperties"
	case n.maxProperties != nil && len(o) > *n.maxProperties:
		f.keyword = "maxProperties"
	default:
		return true
	}
	return r.fail(s, f)
}

// required applies required and dependentRequired.
func (r *run) required(n *node, o object, s site) bool {
	if !r.hasAll(o, n.required) {
		f := failure{node: n, keyword: "required", value: o}
		if s.out != nil {
			f.names = r.missing(o, n.required)
		}
		return r.fail(s, f)
	}
	for name, required := range entries(r.meter, n.dependentRequired) {
		if _, ok := o[name]; ok && !r.hasAll(o, required) {
			return r.fail(s, failure{node: n, keyword: n.dependencies(), value: o})
		}
	}
	return true
}

// dependencies is what dependentRequired is called in the schema.
func (n *node) dependencies() string {
	if _, ok := n.raw["dependentRequired"]; ok {
		return "dependentRequired"
	}
	return "dependencies"
}

func (r *run) hasAll(o object, names []string) bool {
	for _, name := range each(r.meter, names) {
		if _, ok := o[name]; !ok {
			return false
		}
	}
	return true
}

// missing returns which of the names o lacks.
func (r *run) missing(o object, names []string) (missing []string) {
	for _, name := range each(r.meter, names) {
		if _, ok := o[name]; !ok {
			missing = append(missing, name)
		}
	}
	return missing
}

// dependents applies dependentSchemas, or those of dependencies.
func (r *run) dependents(n *node, o object, s site) bool {
	valid := true
	for _, e := range each(r.meter, n.dependents) {
		if _, ok := o[e.name]; ok && !r.visit(e, o, s) {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return valid
}

// looseProperties applies unevaluatedProperties.
func (r *run) looseProperties(n *node, o object, s site) bool {
	if n.looseProps == nil {
		return true
	}
	valid := true
	for name, v := range r.members(o, s) {
		if !s.seen.hasName(name) && !r.visit(n.looseProps, v, s.atProperty(name)) {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return valid
}
