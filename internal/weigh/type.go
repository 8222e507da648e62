package weigh

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
)

var known sync.Map // of Weights by reflect.Type; there are as many types as programs have

// small is a length of which no text is too much.
const small = 64 << 10

// Decoding is [Weights.Check] for a text that is about to be decoded into what v points to.
func Decoding(text []byte, v any) error {
	if len(text) < small {
		return nil
	}
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil // nothing is decoded into that
	}
	return Of(t.Elem()).Check(text)
}

// Of returns the weights of what the lists, maps, pointers and interfaces of a type hold: of the largest there is of
// each kind. Of types that decode themselves only the size is known.
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

// add counts what a value of type t may hold, besides its own size.
func (w *Weights) add(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if t.Kind() == reflect.Interface { // any, or one for which a decoder finds the type
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

// addList counts the elements of a list.
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
