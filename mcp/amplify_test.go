package mcp

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// listsOf returns texts of more than 1 MiB for values of type t. Each text fills one list of the type.
func listsOf(t reflect.Type, before, after string, depth int) (texts []string) {
	const bytes = 3 << 19
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() != thisPackage || depth == 0 {
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch begin := before + fmt.Sprintf("{%q:", name); {
		case f.Anonymous:
			texts = append(texts, listsOf(f.Type, before, after, depth)...)
		case name == "" || name == "-" || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Uint8:
		case f.Type.Kind() == reflect.Slice:
			for _, value := range []string{"{}", `""`} {
				texts = append(texts, begin+"["+strings.Repeat(value+",", bytes/(len(value)+1))+value+"]}"+after)
			}
			texts = append(texts, listsOf(f.Type.Elem(), begin+"[", "]}"+after, depth-1)...)
		case f.Type.Kind() == reflect.Map:
			var b strings.Builder
			for n := 0; b.Len() < bytes; n++ {
				fmt.Fprintf(&b, `"%x":{},`, n)
			}
			texts = append(texts, begin+"{"+b.String()+`"x":{}}}`+after)
		default:
			texts = append(texts, listsOf(f.Type, begin, "}"+after, depth-1)...)
		}
	}
	return texts
}

// TestDecodingALongListTakesBoundedMemory fills each list of each message with elements. Decoding allocates at most 80
// MiB, most of which becomes garbage soon.
func TestDecodingALongListTakesBoundedMemory(t *testing.T) {
	if heap.Raced {
		t.Skip("nothing is measured under the race detector")
	}
	const most = 80 << 20 // bytes
	n := 0
	for name, typ := range wireTypes {
		for _, text := range listsOf(typ, "", "", 3) {
			n++
			var err error
			took := heap.Allocated(func() { _, err = Decode([]byte(text), reflect.New(typ).Interface()) })
			if took > most {
				t.Errorf("%s: %.60s…: %d MiB for %d KiB, want %d MiB at most (%v)", name, text, took>>20, len(text)>>10, most>>20,
					err)
			}
		}
	}
	if n < 50 {
		t.Errorf("got %d lists, want all there are", n)
	}
}

// A null in a map or a list of objects takes as much memory as an object.
func TestNullsCountAsObjects(t *testing.T) {
	var b strings.Builder
	for n := 0; n <= maxObjects; n++ {
		fmt.Fprintf(&b, `"%x":null,`, n)
	}
	nulls := strings.Repeat("null,", maxObjects) + "null"
	for _, test := range []struct {
		v    any
		text string
	}{
		{new(InputRequiredResult), `{"inputRequests":{` + b.String() + `"x":null}}`},
		{new(Implementation), `{"name":"n","version":"1","icons":[` + nulls + `]}`},
	} {
		if _, err := Decode([]byte(test.text), test.v); err == nil || !strings.Contains(err.Error(), errTooMany.Error()) {
			t.Errorf("%T: got %.200v, want the error %v", test.v, err, errTooMany)
		}
	}
}
