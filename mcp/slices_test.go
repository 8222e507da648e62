package mcp

import (
	"reflect"
	"testing"
)

// TestSlicesOfListedItemsHoldPointers checks the rule for slices. A slice holds pointers to listed items, values with
// _meta and messages. A slice holds values if they are only parts of another value.
func TestSlicesOfListedItemsHoldPointers(t *testing.T) {
	s := slicesOf{t: t, seen: map[reflect.Type]bool{}}
	for m := range Methods() {
		s.visit(m.Params)
		s.visit(m.Result)
	}
	s.visit(reflect.TypeFor[FormSchema]())
	s.visit(reflect.TypeFor[URLElicitationRequiredData]())
	s.visit(reflect.TypeFor[EmbeddedResource]())
	if s.pointers < 5 || s.values < 5 {
		t.Errorf("met %d slices of pointers and %d of values: the walk misses some", s.pointers, s.values)
	}
}

type slicesOf struct {
	t                *testing.T
	seen             map[reflect.Type]bool
	pointers, values int
}

func (s *slicesOf) visit(t reflect.Type) {
	if t == nil || s.seen[t] {
		return
	}
	s.seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		s.visit(t.Elem())
	case reflect.Struct:
		_, lists := t.FieldByName("NextCursor")
		for f := range t.Fields() {
			s.visit(f.Type)
			if f.Type.Kind() == reflect.Slice {
				s.check(t.Name()+"."+f.Name, f.Type.Elem(), lists)
			}
		}
	}
}

func (s *slicesOf) check(name string, element reflect.Type, isListed bool) {
	isPointer := element.Kind() == reflect.Pointer
	if isPointer {
		element = element.Elem()
	}
	if element.Kind() != reflect.Struct {
		return
	}
	_, carriesMeta := element.FieldByName("Meta")
	_, isMessage := element.FieldByName("Content")
	if want := isListed || carriesMeta || isMessage; isPointer != want {
		s.t.Errorf("%s: holds pointers: want %v, got %v", name, want, isPointer)
	}
	if isPointer {
		s.pointers++
	} else {
		s.values++
	}
}
