package schema

// A run evaluates values. The meter provides all its loops.
type run struct {
	*meter
	scoped bool        // whether to record scopes
	scopes []*resource // resources on the path to the current node
}

// A site is the place of a value, with collectors for problems and for evaluated parts. The zero site collects nothing
// and is for callers that need only the verdict.
type site struct {
	out  *report // collects problems; nil for none
	at   *path   // place of the value; nil for the root, or if out is nil
	seen *bitset // numbers of the evaluated items or properties; nil to collect none
}

// visitCost is the cost of a visit: the budget that one byte of the value adds.
const visitCost = unit

// evaluate reports whether v is valid. If the meter has stopped, the result is meaningless.
func (s *Schema) evaluate(m *meter, v value, out *report) bool {
	r := run{meter: m, scoped: s.scoped}
	return r.visit(&edge{to: s.root}, v, site{out: out})
}

// visit reports whether v is valid against the subschema that e leads to.
func (r *run) visit(e *edge, v value, s site) bool {
	n := e.to
	switch {
	case !r.pay(visitCost):
		return false
	case n.never:
		return r.add(s, n.pointer, e.keyword, notAllowed(e))
	case !r.scoped:
		return r.node(n, v, s)
	}
	r.scopes = append(r.scopes, n.scope)
	valid := r.node(n, v, s)
	r.scopes = r.scopes[:len(r.scopes)-1]
	return valid
}

// node applies the keywords of n until one fails. Keywords that record evaluated parts of v come before the keywords
// that need this record.
func (r *run) node(n *node, v value, s site) bool {
	if k := v.kind(); k != '{' && k != '[' && !n.refers && !n.combines {
		return r.assert(n, v, s)
	}
	inner, asks := s, n.asks(v)
	if asks {
		inner.seen = r.newBitset(v.size())
	}
	if n.refers && !r.refer(n, v, inner) || !r.assert(n, v, s) || n.combines && !r.combine(n, v, inner) {
		return false
	}
	valid := true
	switch v.kind() {
	case '[':
		valid = r.array(n, v, inner)
	case '{':
		valid = r.object(n, v, inner)
	}
	if asks {
		r.fill(s.seen)
	}
	return valid
}

// asks reports whether n has a keyword for the unevaluated parts of v.
func (n *node) asks(v value) bool {
	switch v.kind() {
	case '[':
		return n.looseItems != nil
	case '{':
		return n.looseProps != nil
	}
	return false
}

// refer applies the subschemas that $ref and $dynamicRef point to.
func (r *run) refer(n *node, v value, s site) bool {
	if n.ref != nil && !r.visit(n.ref, v, s) {
		return false
	}
	return n.dynamic == nil || r.visit(r.target(n.dynamic), v, s)
}

// target resolves a dynamic reference.
func (r *run) target(d *dynamicRef) *edge {
	if d.anchor == "" {
		return d.static
	}
	for _, scope := range each(r.meter, r.scopes) {
		if to := scope.dynamic[d.anchor]; to != nil {
			return d.to[to]
		}
	}
	return d.static
}

// combine applies the subschemas for v itself.
func (r *run) combine(n *node, v value, s site) bool {
	for _, e := range each(r.meter, n.allOf) {
		if !r.visit(e, v, s) {
			return false
		}
	}
	if !r.anyOf(n, v, s) || !r.oneOf(n, v, s) {
		return false
	}
	if n.not != nil && r.visit(n.not, v, site{}) {
		return r.fail(s, failure{node: n, keyword: "not", value: v})
	}
	if n.cond == nil {
		return true
	}
	branch := n.otherwise
	if r.try(n.cond, v, s) {
		branch = n.then
	}
	return branch == nil || r.visit(branch, v, s)
}

// try reports whether v is valid against the subschema that e leads to, without reporting problems. If v is valid, the
// items or properties that the subschema evaluated count as evaluated.
func (r *run) try(e *edge, v value, s site) bool {
	own := site{seen: r.fork(s.seen)}
	if !r.visit(e, v, own) {
		return false
	}
	r.union(s.seen, own.seen)
	return true
}

func (r *run) anyOf(n *node, v value, s site) bool {
	if n.anyOf == nil {
		return true
	}
	valid := false
	for _, e := range each(r.meter, n.anyOf) {
		valid = r.try(e, v, s) || valid
		if valid && s.seen == nil {
			break // otherwise later branches may evaluate more parts
		}
	}
	return valid || r.alternatives(failure{node: n, keyword: "anyOf", value: v}, n.anyOf, s)
}

func (r *run) oneOf(n *node, v value, s site) bool {
	if n.oneOf == nil {
		return true
	}
	valid := 0
	for _, e := range each(r.meter, n.oneOf) {
		if !r.try(e, v, s) {
			continue
		}
		if valid++; valid == 2 {
			return r.fail(s, failure{node: n, keyword: "oneOf", value: v})
		}
	}
	return valid == 1 || r.alternatives(failure{node: n, keyword: "oneOf", value: v}, n.oneOf, s)
}
