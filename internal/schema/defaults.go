package schema

import "context"

// Bounds on the defaults that ApplyDefaults inserts into one value.
const (
	MaxDefaults     = 10_000 // number of defaults
	MaxDefaultBytes = 1 << 20
)

// A fallback is the value of the keyword default. ApplyDefaults inserts it unchanged and does not look into it.
type fallback struct {
	value
	size  int // bytes of its text
	depth int // nesting depth of arrays and objects
}

// ApplyDefaults returns the instance with a default for each missing property whose schema has one, whether or not the
// property is required. It descends into existing properties, and follows $ref and allOf. It keeps everything else,
// including all digits of numbers, but sorts the names of properties. It copies a default unchanged from the schema and
// inserts nothing into it. It does not descend into arrays or alternatives.
//
// ApplyDefaults inserts at most [MaxDefaults] defaults. Their names and values may have at most [MaxDefaultBytes]
// together, and no default may be nested deeper than [MaxInstanceDepth] in the result; otherwise the error is
// [ErrDefaults]. A default need not be valid: validate the result. The error is a [*ValidationError] if the instance is
// not JSON, or else [ErrBudget] or the cause of ctx's end.
func (s *Schema) ApplyDefaults(ctx context.Context, instance []byte) ([]byte, error) {
	if !s.defaults {
		return instance, nil
	}
	m := newMeter(ctx, len(instance))
	v, problem, err := m.decode(instance, MaxInstanceDepth, true)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		return nil, &ValidationError{Problems: []Problem{*problem}}
	}
	f := filling{meter: m, added: additions{}}
	if f.fill(s.root, v, 1); m.err != nil {
		return nil, m.err
	}
	return v.appendTo(nil, f.added), nil
}

// A filling collects the defaults for one value.
type filling struct {
	*meter
	added        additions
	count, bytes int // number and bytes of the defaults inserted so far
}

// fill collects the defaults in n for the properties that v lacks. depth is the nesting depth of v in the whole value.
func (f *filling) fill(n *node, v value, depth int) {
	if v.kind() != '{' || !f.pay(visitCost) {
		return
	}
	if n.ref != nil {
		f.fill(n.ref.to, v, depth)
	}
	for _, e := range each(f.meter, n.allOf) {
		f.fill(e.to, v, depth)
	}
	for _, e := range each(f.meter, n.properties) {
		if inner := v.get(e.name); inner.kind() != absent {
			f.fill(e.to, inner, depth+1)
		} else if d := f.fallback(e.to); d != nil && f.added[v][e.name].kind() == absent {
			f.insert(v, e.name, d, depth)
		}
	}
}

// fallback returns the default of n, or of the subschema that n refers to.
func (f *filling) fallback(n *node) *fallback {
	if n.given != nil || n.ref == nil || !f.pay(1) {
		return n.given
	}
	return f.fallback(n.ref.to)
}

// insert records a default for an object at the given depth. It stops the meter if a bound is exceeded.
func (f *filling) insert(object value, name string, d *fallback, depth int) {
	f.count++
	f.bytes += len(name) + d.size
	if f.count > MaxDefaults || f.bytes > MaxDefaultBytes || depth+d.depth > MaxInstanceDepth {
		f.stop(ErrDefaults)
	}
	if f.pay(unit + d.size/bytesPerStep) {
		if f.added[object] == nil {
			f.added[object] = map[string]value{}
		}
		f.added[object][name] = d.value
	}
}
