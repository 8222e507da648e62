package weigh

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
)

var known sync.Map // maps reflect.Type to Weights; bounded by the number of types in the program

// small is a length below which every text is acceptable.
const small = 64 << 10

// Decoding is [Weights.Check] for a text that will be decoded into v, a pointer.
func Decoding(text []byte, v any) error {
	if len(text) < small {
		return nil
	}
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil // decoding into v fails
	}
	return Of(t.Elem()).Check(text)
}

// Of returns the weights for a type. If the type contains several values of one kind (list, map, pointer, interface),
// the largest one determines the weight. For a type that decodes itself, only its own size is known.
func Of(t reflect.Type) Weights {
	if w, ok := known.Load(t); ok {
		return w.(Weights)
	}
	var w Weights
	w.add(t, map[reflect.Type]bool{})
	known.Store(t, w)
	return w
}

var decodeThemselves = []reflect.Type{
	reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[stdjson.Unmarshaler](),
	reflect.TypeFor[encoding.TextUnmarshaler](),
}

// add includes the values that a value of type t may hold, besides its own size.
func (w *Weights) add(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if t.Kind() == reflect.Interface { // any, or an interface with types known to a decoder
		*w = Weights{max(w.scalar, Any.scalar), max(w.element, Any.element), max(w.entry, Any.entry)}
		return
	}
	for _, itself := range decodeThemselves {
		if reflect.PointerTo(t).Implements(itself) {
			return
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		w.element = max(w.element, int(t.Elem().Size()))
		w.add(t.Elem(), seen)
	case reflect.Slice:
		w.addList(t.Elem())
		w.add(t.Elem(), seen)
	case reflect.Array:
		w.add(t.Elem(), seen)
	case reflect.Map:
		w.entry = max(w.entry, int(t.Key().Size()+t.Elem().Size()))
		w.add(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			w.add(f.Type, seen)
		}
	}
}

// addList includes the elements of a list.
func (w *Weights) addList(t reflect.Type) {
	size := grown * int(t.Size())
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
		size += int(t.Size())
	}
	w.element = max(w.element, size)
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface:
	case reflect.String:
		w.scalar = max(w.scalar, size+word)
	default:
		w.scalar = max(w.scalar, size)
	}
}
