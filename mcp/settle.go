package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// settle completes what the JSON library has decoded into v, a pointer, by the rules that the types of this package
// state in their field tags: mcp:"required" for a member that must be there, mcp:"object" for raw JSON that must be an
// object and whose null means that it is absent. Types of other packages have no such rules.
func settle(v any) error {
	value := reflect.ValueOf(v)
	if value.Kind() != reflect.Pointer || value.IsNil() {
		return nil
	}
	rules := rulesOf(value.Type().Elem())
	if rules == nil {
		return nil
	}
	return rules.settle(value.Elem())
}

// checker is implemented by pointers to types that have a rule which no field tag can state.
type checker interface {
	check() error
}

// rules are what is to be done to the values of one type.
type rules struct {
	fields []fieldRule // of a struct
	check  bool        // pointers to it are checkers
	elem   *rules      // of what a pointer, slice or map holds; nil if nothing is to be done to that
}

type fieldRule struct {
	index    int
	name     string // in JSON; empty if the field is embedded
	required bool
	object   bool
	inner    *rules
}

var (
	thisPackage = reflect.TypeFor[Result]().PkgPath()
	rulesCache  sync.Map // of *rules by reflect.Type; there are as many types as programs have
)

// rulesOf returns the rules for values of type t, nil if there are none.
func rulesOf(t reflect.Type) *rules {
	if cached, ok := rulesCache.Load(t); ok {
		return cached.(*rules)
	}
	var r *rules
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if elem := rulesOf(t.Elem()); elem != nil || nullable(t) {
			r = &rules{elem: elem}
		}
	case reflect.Struct:
		if t.PkgPath() == thisPackage {
			r = structRules(t)
		}
	}
	rulesCache.Store(t, r)
	return r
}

// nullable reports whether t is a list of pointers to structs of this package, none of which may be nil.
func nullable(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Pointer && t.Elem().Elem().PkgPath() == thisPackage
}

func structRules(t reflect.Type) *rules {
	r := &rules{check: reflect.PointerTo(t).Implements(reflect.TypeFor[checker]())}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		tag := f.Tag.Get("mcp")
		rule := fieldRule{
			index:    i,
			name:     name,
			required: strings.Contains(tag, "required"),
			object:   strings.Contains(tag, "object"),
			inner:    rulesOf(f.Type),
		}
		if rule.required || rule.object || rule.inner != nil {
			r.fields = append(r.fields, rule)
		}
	}
	if !r.check && r.fields == nil {
		return nil
	}
	return r
}

func (r *rules) settle(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		return r.settleStruct(v)
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return r.elem.settle(v.Elem())
	case reflect.Slice:
		return r.settleSlice(v)
	}
	return r.settleMap(v)
}

func (r *rules) settleStruct(v reflect.Value) error {
	for _, f := range r.fields {
		err := f.settle(v.Field(f.index))
		if err != nil && f.name != "" {
			return within(f.name, err)
		}
		if err != nil {
			return err
		}
	}
	if r.check {
		return v.Addr().Interface().(checker).check()
	}
	return nil
}

func (f *fieldRule) settle(v reflect.Value) error {
	if f.object {
		if err := settleObject(v.Addr().Interface().(*json.RawMessage)); err != nil {
			return err
		}
	}
	if f.required && v.IsZero() {
		return errMissing
	}
	if f.inner != nil {
		return f.inner.settle(v)
	}
	return nil
}

// settleObject makes raw nil if it is null, and reports anything else that is no object.
func settleObject(raw *json.RawMessage) error {
	switch kind(*raw) {
	case 'n':
		*raw = nil
	case '{', 0:
	default:
		return errNotObject
	}
	return nil
}

func (r *rules) settleSlice(v reflect.Value) error {
	for i := range v.Len() {
		elem := v.Index(i)
		if elem.Kind() == reflect.Pointer && elem.IsNil() {
			return withinElement(i, errNull)
		}
		if r.elem == nil {
			continue
		}
		if err := r.elem.settle(elem); err != nil {
			return withinElement(i, err)
		}
	}
	return nil
}

func (r *rules) settleMap(v reflect.Value) error {
	for iter := v.MapRange(); iter.Next(); {
		elem := reflect.New(v.Type().Elem()).Elem()
		elem.Set(iter.Value())
		if err := r.elem.settle(elem); err != nil {
			return within(iter.Key().String(), err)
		}
		v.SetMapIndex(iter.Key(), elem)
	}
	return nil
}
