package schema

import "context"

// Bounds on the defaults that are filled into one value.
const (
	MaxDefaults     = 10_000 // defaults
	MaxDefaultBytes = 1 << 20
)

// A fallback is a default. It is not looked into, wherever it is filled in.
type fallback struct {
	value
	size  int // bytes of its text
	depth int // of the arrays and objects in it
}

// ApplyDefaults returns the instance with the properties that it lacks and
// whose schema has a default, required or not. It goes into the properties
// that are there, follows $ref and allOf, and keeps everything else, numbers to
// the last digit; names come out in order. What it fills in stays as it is in
// the schema: nothing is filled into that. It does not look into arrays or
// alternatives.
//
// It fills in at most [MaxDefaults] defaults of [MaxDefaultBytes] in all, none
// nested deeper than [MaxInstanceDepth] in the result; else the error is
// [ErrDefaults]. Nothing says that a default is valid: validate the result. The
// error is a [*ValidationError] if the instance is not JSON, or else
// [ErrBudget] or why ctx has ended.
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

// A filling fills defaults into one value.
type filling struct {
	*meter
	added        additions
	count, bytes int // of the defaults filled in
}

// fill adds to v what n has defaults for. v is that deep in the whole.
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

// fallback returns the default of n, or of what it refers to.
func (f *filling) fallback(n *node) *fallback {
	if n.given != nil || n.ref == nil || !f.pay(1) {
		return n.given
	}
	return f.fallback(n.ref.to)
}

// insert adds a default to an object that is so deep, if there is room for it.
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
