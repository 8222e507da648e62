package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// applyRules applies the rules of field tags to v, a pointer to a value that the JSON library has decoded.
// mcp:"required" means that the member must be present. mcp:"object" means that raw JSON must be an object; null
// means absent. Types of other packages have no such rules.
func applyRules(v any) error {
	value := reflect.ValueOf(v)
	if value.Kind() != reflect.Pointer || value.IsNil() {
		return nil
	}
	rules := rulesOf(value.Type().Elem())
	if rules == nil {
		return nil
	}
	return rules.applyRules(value.Elem())
}

// checker is implemented by pointers to types with a rule that no field tag can express.
type checker interface {
	check() error
}

// rules holds the checks for the values of one type.
type rules struct {
	fields []fieldRule // rules for fields of a struct
	check  bool        // a pointer to the type implements checker
	elem   *rules      // rules for the elements of a pointer, slice or map; nil if elements have no rules
}

type fieldRule struct {
	index    int
	name     string // JSON name; empty for an embedded field
	required bool
	object   bool
	inner    *rules
}

var (
	thisPackage = reflect.TypeFor[Result]().PkgPath()
	rulesCache  sync.Map // reflect.Type to *rules; bounded by the number of types in the program
)

// rulesOf returns the rules for values of type t. It returns nil if t has no rules.
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

// nullable reports whether t is a list of pointers to structs of this package, which must not contain nil.
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

func (r *rules) applyRules(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		return r.applyToStruct(v)
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return r.elem.applyRules(v.Elem())
	case reflect.Slice:
		return r.applyToSlice(v)
	}
	return r.applyToMap(v)
}

func (r *rules) applyToStruct(v reflect.Value) error {
	for _, f := range r.fields {
		err := f.applyRules(v.Field(f.index))
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

func (f *fieldRule) applyRules(v reflect.Value) error {
	if f.object {
		if err := objectOrNil(v.Addr().Interface().(*json.RawMessage)); err != nil {
			return err
		}
	}
	if f.required && v.IsZero() {
		return errMissing
	}
	if f.inner != nil {
		return f.inner.applyRules(v)
	}
	return nil
}

// objectOrNil replaces null with nil and returns an error for any other value that is not an object.
func objectOrNil(raw *json.RawMessage) error {
	switch kind(*raw) {
	case 'n':
		*raw = nil
	case '{', 0:
	default:
		return errNotObject
	}
	return nil
}

func (r *rules) applyToSlice(v reflect.Value) error {
	for i := range v.Len() {
		elem := v.Index(i)
		if elem.Kind() == reflect.Pointer && elem.IsNil() {
			return withinElement(i, errNull)
		}
		if r.elem == nil {
			continue
		}
		if err := r.elem.applyRules(elem); err != nil {
			return withinElement(i, err)
		}
	}
	return nil
}

func (r *rules) applyToMap(v reflect.Value) error {
	for iter := v.MapRange(); iter.Next(); {
		elem := reflect.New(v.Type().Elem()).Elem()
		elem.Set(iter.Value())
		if err := r.elem.applyRules(elem); err != nil {
			return within(iter.Key().String(), err)
		}
		v.SetMapIndex(iter.Key(), elem)
	}
	return nil
}
