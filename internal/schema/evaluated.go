package schema

// evaluated are the parts of one array or object that subschemas were applied
// to, for unevaluatedItems and unevaluatedProperties. A nil one takes nothing.
type evaluated struct {
	index map[string]int // of an object's properties
	bits  bitset
}

// newEvaluated returns an empty set of the parts of v. Another one for v, if
// there is one, shares its index.
func (r *run) newEvaluated(v any, other *evaluated) *evaluated {
	switch v := v.(type) {
	case array:
		return &evaluated{bits: r.newBitset(len(v))}
	case object:
		if other != nil {
			return r.fork(other)
		}
		return &evaluated{index: indexOf(r.meter, v), bits: r.newBitset(len(v))}
	}
	return nil
}

// fork returns an empty set for the same value.
func (r *run) fork(e *evaluated) *evaluated {
	if e == nil {
		return nil
	}
	return &evaluated{index: e.index, bits: r.newBitset(len(e.bits) * wordSize)}
}

// join adds the parts in other to e.
func (r *run) join(e, other *evaluated) {
	if e != nil {
		r.union(e.bits, other.bits)
	}
}

func (e *evaluated) mark(i int) {
	if e != nil {
		e.bits.put(i)
	}
}

func (e *evaluated) markName(name string) {
	if e != nil {
		e.bits.put(e.index[name])
	}
}

func (e *evaluated) markAll(m *meter) {
	if e != nil {
		m.fill(e.bits)
	}
}

func (e *evaluated) has(i int) bool           { return e.bits.holds(i) }
func (e *evaluated) hasName(name string) bool { return e.bits.holds(e.index[name]) }
