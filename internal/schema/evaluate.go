package schema

// A run evaluates values. All its loops are the meter's.
type run struct {
	*meter
	scoped bool        // scopes are kept
	scopes []*resource // entered on the way to the node that is visited
}

// A site is where a value is, and who wants to know more than whether it is
// valid. The zero site is for a verdict alone.
type site struct {
	out  *report // takes the problems; nil if they are not wanted
	at   *path   // nil for the root, or without out
	seen *bitset // takes the items or properties that were evaluated, by number; nil if they are not wanted
}

// visitCost is what a visit pays: as much as a byte of the value allows.
const visitCost = unit

// evaluate reports whether v is valid. It means nothing if the meter has ended.
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

// node goes through the keywords of n until one fails. Those that tell what
// has been evaluated of v come before those that ask.
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

// asks reports whether n has a keyword for the parts of v that no other has
// evaluated.
func (n *node) asks(v value) bool {
	switch v.kind() {
	case '[':
		return n.looseItems != nil
	case '{':
		return n.looseProps != nil
	}
	return false
}

// refer follows the references.
func (r *run) refer(n *node, v value, s site) bool {
	if n.ref != nil && !r.visit(n.ref, v, s) {
		return false
	}
	return n.dynamic == nil || r.visit(r.target(n.dynamic), v, s)
}

// target finds where a dynamic reference leads.
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

// try visits what v need not be valid against. What it evaluates counts if v
// is.
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
			break // else each may evaluate more
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
