// Package given checks what users give in types of package mcp before it goes to a peer: the names of _meta and of
// extensions, and the sources of icons ([Check]). It also takes icons that must not be loaded out of what a peer
// has sent ([DropIcons]). Both ends use it at the few places where something is encoded or decoded, so that no option
// and no field has to be thought of: what a type has is found by reflection, once.
package given

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// Check says what is wrong with v, a value of package mcp or a pointer to one, nil if nothing is: a name that
// [mcp.CheckMetaName] or [mcp.CheckExtensionName] refuses, or an icon that [mcp.Icon.Check] does. The error names the
// part. Values of other types have nothing to check; what a user encodes otherwise is checked by [CheckEncoded]. Of
// what is right, nothing is allocated.
func Check(v any) error {
	if onlyText(v) {
		return nil
	}
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return nil
	}
	if p := planOf(value.Type()); p != nil {
		return p.check(value)
	}
	return nil
}

// CheckEncoded is Check for params or a result of any type: of what is no type of package mcp, it checks the names of
// the _meta that its encoding has.
func CheckEncoded(v any, encoded []byte) error {
	t := reflect.TypeOf(v)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && t.PkgPath() == mcpPackage && t.Kind() == reflect.Struct {
		return Check(v)
	}
	for name, value := range mcp.Object(encoded).All() {
		if name != "_meta" {
			continue
		}
		if err := CheckMeta(mcp.Meta(value)); err != nil {
			return within(name, err)
		}
		return nil
	}
	return nil
}

// CheckMeta checks the names of m. Whether it is an object at all is for the encoder to say.
func CheckMeta(m mcp.Meta) error {
	if m == nil {
		return nil // no iterator, which would be allocated
	}
	for name := range m.All() {
		if err := mcp.CheckMetaName(name); err != nil {
			return err
		}
	}
	return nil
}

// DropIcons takes the icons that fail [mcp.Icon.Check] out of what v points to, a value of package mcp, and returns how
// many there were and what was wrong with the first one.
func DropIcons(v any) (n int, first error) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return 0, nil
	}
	p := planOf(value.Type())
	if p == nil || !p.icons {
		return 0, nil
	}
	var d dropped
	p.dropIcons(value, &d)
	return d.n, d.first
}

// dropped are the icons that have been dropped.
type dropped struct {
	n     int
	first error // what was wrong with the first one
}

// part is what one kind of value has to be checked for.
type part byte

const (
	walked     part = iota // by the parts that it consists of
	meta                   // the names of its members
	extensions             // the names of its entries
	icon                   // its source
	dynamic                // an interface: whatever it holds
)

// plan is what there is to do with the values of one type.
type plan struct {
	part   part
	fields []field // of a struct
	elem   *plan   // of what a pointer, slice or map holds
	icons  bool    // there may be icons in it
}

type field struct {
	index int
	name  string // in JSON; empty if the field is embedded
	*plan
}

var (
	mcpPackage = reflect.TypeFor[mcp.Tool]().PkgPath()
	// of *plan by reflect.Type, nil for types with nothing to check; there are as many as programs have
	plans sync.Map
)

// planOf returns the plan for values of type t, nil if there is nothing to do with them.
func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := newPlan(t)
	plans.Store(t, p)
	return p
}

func newPlan(t reflect.Type) *plan {
	switch t.Kind() {
	case reflect.Interface:
		if t.PkgPath() == mcpPackage {
			return &plan{part: dynamic, icons: true}
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if elem := planOf(t.Elem()); elem != nil {
			return &plan{elem: elem, icons: elem.icons}
		}
	case reflect.Struct:
		if t.PkgPath() == mcpPackage {
			return structPlan(t)
		}
	}
	return nil
}

func structPlan(t reflect.Type) *plan {
	if t == reflect.TypeFor[mcp.Icon]() {
		return &plan{part: icon, icons: true}
	}
	p := &plan{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		inner := planOf(f.Type)
		switch {
		case f.Type == reflect.TypeFor[mcp.Meta]() && f.Name == "Meta":
			inner = &plan{part: meta}
		case f.Type == reflect.TypeFor[map[string]mcp.Object]() && f.Name == "Extensions":
			inner = &plan{part: extensions}
		}
		if inner == nil {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			name = ""
		case name == "" && inner.part == meta: // of a block of content, which writes itself
			name = "_meta"
		case name == "":
			name = strings.ToLower(f.Name)
		}
		p.fields = append(p.fields, field{i, name, inner})
		p.icons = p.icons || inner.icons
	}
	if p.fields == nil {
		return nil
	}
	return p
}

func (p *plan) check(v reflect.Value) error {
	switch p.part {
	case meta:
		return CheckMeta(v.Bytes())
	case extensions:
		for iter := v.MapRange(); iter.Next(); {
			if err := mcp.CheckExtensionName(iter.Key().String()); err != nil {
				return err
			}
		}
		return nil
	case icon:
		return v.Addr().Interface().(*mcp.Icon).Check() // the element of a slice, so it has an address
	case dynamic:
		return checkDynamic(v)
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range p.fields {
			if err := f.check(v.Field(f.index)); err != nil {
				return within(f.name, err)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return p.elem.check(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := p.elem.check(v.Index(i)); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case reflect.Map:
		for iter := v.MapRange(); iter.Next(); {
			if err := p.elem.check(iter.Value()); err != nil {
				return fmt.Errorf("%q: %w", iter.Key(), err)
			}
		}
	}
	return nil
}

// checkDynamic checks what an interface holds.
func checkDynamic(v reflect.Value) error {
	if v.IsNil() {
		return nil
	}
	if p := planOf(v.Elem().Type()); p != nil {
		return p.check(v.Elem())
	}
	return nil
}

func (p *plan) dropIcons(v reflect.Value, d *dropped) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if inner := planOf(v.Elem().Type()); inner != nil && inner.icons {
			inner.dropIcons(v.Elem(), d)
		}
	case reflect.Struct:
		for _, f := range p.fields {
			if f.icons {
				f.dropIcons(v.Field(f.index), d)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			p.elem.dropIcons(v.Elem(), d)
		}
	case reflect.Slice:
		switch list := v.Addr().Interface().(type) {
		case *[]mcp.Icon:
			dropFrom(list, d)
		case *mcp.ContentList:
			p.elem.dropFromContent(*list, v, d)
		default:
			for i := range v.Len() {
				p.elem.dropIcons(v.Index(i), d)
			}
		}
	}
}

// dropFromContent is dropIcons for each of the blocks, which are v as well. Text has no icons, and is passed over
// without reflection: of 64 KiB of small texts the walk took 16 µs, 6 % of the CPU time of the call, and takes 1.
func (p *plan) dropFromContent(blocks mcp.ContentList, v reflect.Value, d *dropped) {
	for i, block := range blocks {
		if _, text := block.(*mcp.TextContent); !text {
			p.dropIcons(v.Index(i), d)
		}
	}
}

// dropFrom takes the icons out of a list that fail their check. The list gets memory of its own if it loses any.
func dropFrom(list *[]mcp.Icon, d *dropped) {
	var kept []mcp.Icon
	for i, icon := range *list {
		err := icon.Check()
		switch {
		case err == nil && kept != nil:
			kept = append(kept, icon)
		case err != nil:
			if kept == nil {
				kept = append(make([]mcp.Icon, 0, len(*list)-1), (*list)[:i]...)
			}
			if d.first == nil {
				d.first = err
			}
			d.n++
		}
	}
	if kept != nil {
		*list = kept
	}
}

// within says in which part of a value an error is; nowhere new if name is empty.
func within(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
