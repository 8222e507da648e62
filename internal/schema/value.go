package schema

import (
	"bytes"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// A document is a JSON text that has been parsed once. It records the position of each value, so evaluation creates no
// Go values.
type document struct {
	text     []byte
	unquoted []byte // decoded strings that had escapes
	parts    []part // the values and the names of properties, in the order of the text; a name precedes its value
	// names has the hash table of the names of each object with more than maxScanned properties. The key is the object's
	// index in parts; the entries are the indexes of the names.
	names map[int][]uint32
	room  [16]part // initial memory of parts, enough for a small text
}

// maxScanned is the largest number of properties of an object in which get searches linearly.
const maxScanned = 16

// A part is a value or the name of a property.
type part struct {
	kind    kind
	escaped bool // the string is in document.unquoted instead of document.text
	// from and to are the bounds of a number in the text, or of a string without its quotation marks. For an array or an
	// object, from is the index of the next part outside it, and to is the number of its items or properties.
	from, to uint32
}

// A kind is the first byte of a value, except that there are three kinds of numbers.
type kind byte

const (
	absent     kind = 0
	isShort    kind = '1' // digits and an optional sign, at most shortNumber bytes
	isWhole    kind = '0' // any other number without a fractional part
	isFraction kind = '.'
)

// shortNumber is a length in bytes. Every integer of at most this length fits into 64 bits.
const shortNumber = 18

// A value is a value in a document, or the name of a property, which is a string. The zero value means absent.
type value struct {
	doc *document
	at  int
}

func (v value) part() *part { return &v.doc.parts[v.at] }

func (v value) kind() kind {
	if v.doc == nil {
		return absent
	}
	return v.part().kind
}

// is reports whether v is the string s.
func (v value) is(s string) bool { return v.kind() == '"' && string(v.bytes()) == s }

// size returns the number of items or properties.
func (v value) size() int { return int(v.part().to) }

// bytes returns the text of a number or the decoded content of a string.
func (v value) bytes() []byte {
	p := v.part()
	if p.escaped {
		return v.doc.unquoted[p.from:p.to]
	}
	return v.doc.text[p.from:p.to]
}

// first returns the first item of an array, or the name of the first property of an object.
func (v value) first() value { return value{v.doc, v.at + 1} }

// next returns the value of a property; v is its name.
func (v value) next() value { return value{v.doc, v.at + 1} }

// after returns the item behind v in its array, or the name behind v, the value of a property.
func (v value) after() value {
	if p := v.part(); p.kind == '{' || p.kind == '[' {
		return value{v.doc, int(p.from)}
	}
	return value{v.doc, v.at + 1}
}

// get returns the value of the property with this name, or absent.
func (v value) get(name string) value {
	if v.kind() != '{' {
		return value{}
	}
	if table, ok := v.doc.names[v.at]; ok {
		if at := table[v.doc.slot(table, []byte(name))]; at != 0 {
			return value{v.doc, int(at) + 1}
		}
		return value{}
	}
	key := v.first()
	for range v.size() {
		if string(key.bytes()) == name {
			return key.next()
		}
		key = key.next().after()
	}
	return value{}
}

// slot returns the index of a name in the table, or the free index where it belongs.
func (d *document) slot(table []uint32, name []byte) (i int) {
	i = int(maphash.Bytes(seed, name)) & (len(table) - 1)
	for table[i] != 0 && !bytes.Equal(value{d, int(table[i])}.bytes(), name) {
		i = (i + 1) & (len(table) - 1)
	}
	return i
}

// has reports whether an object has a property with this name.
func (v value) has(name string) bool { return v.get(name).kind() != absent }

// items returns the items of an array. The meter does not count the work of items, names and sorted.
func (v value) items() []value {
	if v.kind() != '[' {
		return nil
	}
	list := make([]value, v.size())
	item := v.first()
	for i := range list {
		list[i], item = item, item.after()
	}
	return list
}

// names returns the names of the properties of an object.
func (v value) names() []value {
	if v.kind() != '{' {
		return nil
	}
	names := make([]value, v.size())
	name := v.first()
	for i := range names {
		names[i], name = name, name.next().after()
	}
	return names
}

// sorted returns the names of the properties of an object in sorted order.
func (v value) sorted() []value {
	names := v.names()
	slices.SortFunc(names, compareNames)
	return names
}

func compareNames(a, b value) int { return bytes.Compare(a.bytes(), b.bytes()) }

// typeSet is a set of JSON types.
type typeSet uint8

const (
	isArray typeSet = 1 << iota
	isBoolean
	isInteger
	isNull
	isNumber
	isObject
	isString
)

// typeNames are the names of the types, in the order of their bits.
var typeNames = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// types returns the JSON Schema types of v; a number without a fraction is an integer too.
func (v value) types() typeSet {
	switch v.kind() {
	case 'n':
		return isNull
	case 't', 'f':
		return isBoolean
	case '"':
		return isString
	case '[':
		return isArray
	case '{':
		return isObject
	case isFraction:
		return isNumber
	}
	return isInteger | isNumber
}

// names returns the names of the types.
func (t typeSet) names() (names []string) {
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// number returns a number as an int64, a uint64 above int64, or the nearest float64. From 2^53 on, a float64 has no
// fraction, so every larger integer is still an integer. number returns nil for anything else.
func (v value) number() any {
	switch v.kind() {
	case isShort, isWhole:
		if len(v.bytes()) > len("-9223372036854775808") {
			break // the errors of ParseInt and ParseUint would copy the text
		}
		if i, err := strconv.ParseInt(string(v.bytes()), 10, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(string(v.bytes()), 10, 64); err == nil {
			return u
		}
	case isFraction:
	default:
		return nil
	}
	f, _ := jsonscan.Float(v.bytes())
	return f
}

// kindOfNumber returns the kind of a number, and whether it is in the range of float64. For a short number without an
// exponent, it looks only at the digits.
func kindOfNumber(text []byte) (kind, bool) {
	looks := isShort
	for _, c := range text {
		switch {
		case c == '.':
			looks = isWhole
		case c|0x20 == 'e' || len(text) > shortNumber:
			f, ok := jsonscan.Float(text)
			if f == math.Trunc(f) {
				return isWhole, ok
			}
			return isFraction, ok
		case looks == isWhole && c != '0':
			looks = isFraction
		}
	}
	return looks, true
}

// float returns the nearest float64 to a Go number.
func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// depth returns the nesting depth of arrays and objects in v.
func (v value) depth() (depth int) {
	if v.kind() != '[' && v.kind() != '{' {
		return 0
	}
	for _, item := range v.items() {
		depth = max(depth, item.depth())
	}
	for _, name := range v.names() {
		depth = max(depth, name.next().depth())
	}
	return depth + 1
}

// additions are properties to add to objects while writing them, by object and name.
type additions map[value]map[string]value

// appendTo appends v as JSON with the additions. It sorts names and copies numbers unchanged.
func (v value) appendTo(b []byte, added additions) []byte {
	switch v.kind() {
	case '{':
		b = append(b, '{')
		more := slices.Sorted(maps.Keys(added[v]))
		for _, name := range v.sorted() {
			for len(more) > 0 && more[0] < string(name.bytes()) {
				b = added[v][more[0]].appendTo(append(appendQuoted(b, more[0]), ':'), added)
				b, more = append(b, ','), more[1:]
			}
			b = append(name.next().appendTo(append(name.appendTo(b, nil), ':'), added), ',')
		}
		for _, name := range more {
			b = append(added[v][name].appendTo(append(appendQuoted(b, name), ':'), added), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), '}')
	case '[':
		b = append(b, '[')
		for _, item := range v.items() {
			b = append(item.appendTo(b, added), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	case '"':
		return appendQuoted(b, v.bytes())
	}
	return append(b, v.bytes()...)
}
