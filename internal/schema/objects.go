package schema

// object applies the keywords for objects.
func (r *run) object(n *node, o value, s site) bool {
	required, ok := r.properties(n, o, s)
	return ok && r.names(n, o, s) && r.countProperties(n, o, s) && r.required(n, o, required, s) &&
		r.dependents(n, o, s) && r.looseProperties(n, o, s)
}

// properties applies the keywords properties, patternProperties and additionalProperties, and returns the number of
// required properties that o has.
func (r *run) properties(n *node, o value, s site) (required int, valid bool) {
	if len(n.named) == 0 && n.matching == nil && n.others == nil {
		return 0, true
	}
	valid = true
	var unexpected []value
	for i, name := range inside(r.meter, o) {
		m := n.named[string(name.bytes())]
		if m.required {
			required++
		}
		applied, ok := r.property(n, m.edge, name, s)
		switch {
		case applied:
		case n.others == nil:
			continue
		case n.others.to.never && s.out != nil:
			unexpected = append(unexpected, name)
		default:
			ok = r.visit(n.others, name.next(), s.atProperty(name))
		}
		s.seen.put(i)
		if !ok {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return required, r.unexpected(n, o, unexpected, valid, s) && valid
}

// unexpected reports properties that are not allowed. If o has no other problem so far, it reports one problem for all
// of them, and otherwise one for each.
func (r *run) unexpected(n *node, o value, names []value, valid bool, s site) bool {
	if valid && names != nil {
		r.sort(names)
		return r.fail(s, failure{node: n, keyword: "additionalProperties", value: o, unexpected: names})
	}
	for _, name := range each(r.meter, names) {
		r.visit(n.others, name.next(), s.atProperty(name))
	}
	return names == nil
}

// property applies the schemas for the property of this name: e, which may be nil, and the schemas with a pattern that
// matches the name. applied is false if there was none.
func (r *run) property(n *node, e *edge, name value, s site) (applied, valid bool) {
	valid = true
	if e != nil {
		applied, valid = true, r.visit(e, name.next(), s.atProperty(name))
	}
	if n.matching == nil {
		return applied, valid
	}
	for _, e := range each(r.meter, n.matching) {
		if r.match(e.pattern, name.bytes()) {
			applied, valid = true, r.visit(e, name.next(), s.atProperty(name)) && valid
		}
	}
	return applied, valid
}

// names applies the keyword propertyNames.
func (r *run) names(n *node, o value, s site) bool {
	if n.names == nil {
		return true
	}
	valid := true
	for _, name := range inside(r.meter, o) {
		if !r.name(n.names, name, s) {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return valid
}

// name applies e to the name of a property. The reported problems mention the name.
func (r *run) name(e *edge, name value, s site) bool {
	if s.out == nil {
		return r.visit(e, name, s)
	}
	own := new(report)
	valid := r.visit(e, name, site{out: own})
	for _, p := range each(r.meter, own.problems) {
		r.add(s, p.Schema, p.Keyword, "property name "+show(name)+": "+p.Message)
	}
	return valid
}

func (r *run) countProperties(n *node, o value, s site) bool {
	f := failure{node: n, value: o}
	switch {
	case n.minProperties != nil && o.size() < *n.minProperties:
		f.keyword = "minProperties"
	case n.maxProperties != nil && o.size() > *n.maxProperties:
		f.keyword = "maxProperties"
	default:
		return true
	}
	return r.fail(s, f)
}

// required applies the keywords required and dependentRequired. found is the number of required properties that o has.
func (r *run) required(n *node, o value, found int, s site) bool {
	if found < n.needed {
		f := failure{node: n, keyword: "required", value: o}
		if s.out != nil {
			f.missing = r.missing(o, n.required)
		}
		return r.fail(s, f)
	}
	for name, required := range entries(r.meter, n.dependentRequired) {
		if o.has(name) && !r.hasAll(o, required) {
			return r.fail(s, failure{node: n, keyword: n.dependencies(), value: o})
		}
	}
	return true
}

// dependencies returns the keyword that holds dependentRequired in the schema.
func (n *node) dependencies() string {
	if n.raw.has("dependentRequired") {
		return "dependentRequired"
	}
	return "dependencies"
}

func (r *run) hasAll(o value, names []string) bool {
	for _, name := range each(r.meter, names) {
		if !o.has(name) {
			return false
		}
	}
	return true
}

// missing returns the names that o lacks.
func (r *run) missing(o value, names []string) (missing []string) {
	for _, name := range each(r.meter, names) {
		if !o.has(name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// dependents applies the keyword dependentSchemas, or the schemas in the keyword dependencies.
func (r *run) dependents(n *node, o value, s site) bool {
	valid := true
	for _, e := range each(r.meter, n.dependents) {
		if o.has(e.name) && !r.visit(e, o, s) {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return valid
}

// looseProperties applies the keyword unevaluatedProperties.
func (r *run) looseProperties(n *node, o value, s site) bool {
	if n.looseProps == nil {
		return true
	}
	valid := true
	for i, name := range inside(r.meter, o) {
		if !s.seen.holds(i) && !r.visit(n.looseProps, name.next(), s.atProperty(name)) {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return valid
}
