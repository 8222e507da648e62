package schema

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds on the defaults that are filled into one value.
const (
	MaxDefaults     = 10_000 // defaults
	MaxDefaultBytes = 1 << 20
)

// A fallback is a default.
type fallback struct {
	text  jsontext.Value // it is not looked into, wherever it is filled in
	depth int            // of the arrays and objects in it
}

func newFallback(v any) (*fallback, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	return &fallback{text, depthOf(v)}, err
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
	if err := checkWeight(instance); err != nil {
		return nil, err
	}
	v, problem, err := m.decode(instance, MaxInstanceDepth, verbatim)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		return nil, &ValidationError{Problems: []Problem{*problem}}
	}
	f := filling{meter: m}
	if f.fill(s.root, v, 1); m.err != nil {
		return nil, m.err
	}
	return json.Marshal(v, json.Deterministic(true))
}

// A filling fills defaults into one value.
type filling struct {
	*meter
	count, bytes int // of the defaults filled in
}

// fill adds to v what n has defaults for. v is that deep in the whole.
func (f *filling) fill(n *node, v any, depth int) {
	o, ok := v.(object)
	if !ok || !f.pay(visitCost) {
		return
	}
	if n.ref != nil {
		f.fill(n.ref.to, v, depth)
	}
	for _, e := range each(f.meter, n.allOf) {
		f.fill(e.to, v, depth)
	}
	for _, e := range each(f.meter, n.properties) {
		if inner, ok := o[e.name]; ok {
			f.fill(e.to, inner, depth+1)
		} else if d := f.fallback(e.to); d != nil && f.insert(e.name, d, depth) {
			o[e.name] = d.text
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

// insert pays for a default in an object that is so deep, and reports whether
// there is room for it.
func (f *filling) insert(name string, d *fallback, depth int) bool {
	f.count++
	f.bytes += len(name) + len(d.text)
	if f.count > MaxDefaults || f.bytes > MaxDefaultBytes || depth+d.depth > MaxInstanceDepth {
		f.stop(ErrDefaults)
		return false
	}
	return f.pay(unit + len(d.text)/bytesPerStep)
}
