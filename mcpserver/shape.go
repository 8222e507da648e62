package mcpserver

import (
	"encoding/json"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// shape recognizes values that match a schema, at the speed of a scan and without an allocation. It knows what schemas
// have that are made from Go types; for any other there is none. A value that it does not recognize may match all the
// same: then the schema itself is asked, which also knows what is wrong.
type shape struct {
	types      shapeTypes
	properties []property // of an object, which has no others
	required   jsonscan.Seen
	items      *shape // of an array, nil for any
}

type property struct {
	name  string
	shape *shape
}

// shapeTypes are the types that a value may have. None means any.
type shapeTypes uint8

const (
	objects shapeTypes = 1 << iota
	arrays
	texts
	integers
	numbers
	booleans
	nulls
)

var typeNames = map[string]shapeTypes{
	"object": objects, "array": arrays, "string": texts, "integer": integers, "number": numbers, "boolean": booleans,
	"null": nulls,
}

// maxShapeDepth bounds the arrays and objects in each other that are recognized.
const maxShapeDepth = 16

// shapeOf returns the shape of a schema, nil if it has anything that a shape does not know.
func shapeOf(schema json.RawMessage) *shape { return newShape(schema, maxShapeDepth) }

func newShape(schema json.RawMessage, depth int) *shape {
	if depth == 0 {
		return nil
	}
	s := &shape{}
	var required []string
	closed := false
	for keyword, value := range mcp.Object(schema).All() {
		ok := true
		switch keyword {
		case "title", "description":
		case "type":
			s.types, ok = readTypes(value)
		case "properties":
			ok = s.addProperties(value, depth)
		case "required":
			ok = json.Unmarshal(value, &required) == nil
		case "additionalProperties":
			closed = string(value) == "false"
			ok = closed
		case "items":
			s.items = newShape(value, depth-1)
			ok = s.items != nil
		default:
			ok = false
		}
		if !ok {
			return nil
		}
	}
	if first := jsonscan.Space(schema, 0); first == len(schema) || schema[first] != '{' || s.types&objects != 0 &&
		!closed {
		return nil
	}
	return s.require(required)
}

func readTypes(value json.RawMessage) (t shapeTypes, ok bool) {
	var names []string
	if json.Unmarshal(value, &names) != nil {
		names = make([]string, 1)
		if json.Unmarshal(value, &names[0]) != nil {
			return 0, false
		}
	}
	for _, name := range names {
		if typeNames[name] == 0 {
			return 0, false
		}
		t |= typeNames[name]
	}
	return t, t != 0
}

// addProperties adds the properties of an object: no more than can be told to have been seen.
func (s *shape) addProperties(value json.RawMessage, depth int) bool {
	for name, schema := range mcp.Object(value).All() {
		inner := newShape(schema, depth-1)
		if inner == nil || len(s.properties) == 64 {
			return false
		}
		s.properties = append(s.properties, property{name, inner})
	}
	return true
}

// require notes which properties must be there; nil is returned if one of them may not.
func (s *shape) require(names []string) *shape {
	for _, name := range names {
		i := s.index([]byte(name))
		if i < 0 {
			return nil
		}
		s.required.Again(uint(i))
	}
	return s
}

func (s *shape) index(name []byte) int {
	for i := range s.properties {
		if s.properties[i].name == string(name) {
			return i
		}
	}
	return -1
}

// matches reports whether text, a JSON value, is recognized.
func (s *shape) matches(text []byte) bool {
	end, ok := s.match(text, 0)
	return ok && jsonscan.Rest(text, end) == nil
}

// match recognizes the value at b[i] and returns the offset behind it.
func (s *shape) match(b []byte, i int) (end int, ok bool) {
	i = jsonscan.Space(b, i)
	if i == len(b) || s.types == 0 {
		return i, false
	}
	switch c := b[i]; c {
	case '{':
		if s.types&objects != 0 {
			return s.matchObject(b, i)
		}
		return i, false
	case '[':
		if s.types&arrays != 0 {
			return s.matchArray(b, i)
		}
		return i, false
	default:
		end, err := jsonscan.Value(b, i)
		return end, err == nil && s.types&scalarTypes(b[i:end]) != 0
	}
}

func (s *shape) matchObject(b []byte, i int) (end int, ok bool) {
	var seen jsonscan.Seen
	o := jsonscan.ObjectAt(b, i)
	for o.Next() {
		p := s.index(o.Key())
		if p < 0 || seen.Again(uint(p)) {
			return 0, false
		}
		end, ok := s.properties[p].shape.match(b, o.At())
		if !ok {
			return 0, false
		}
		o.Take(end, nil)
	}
	return o.End(), o.Err() == nil && seen&s.required == s.required
}

func (s *shape) matchArray(b []byte, i int) (end int, ok bool) {
	if s.items == nil {
		return 0, false
	}
	a := jsonscan.ArrayAt(b, i)
	for a.Next() {
		end, ok := s.items.match(b, a.At())
		if !ok {
			return 0, false
		}
		a.Take(end, nil)
	}
	return a.End(), a.Err() == nil
}

// scalarTypes returns the types that a string, a number or a literal belongs to for certain.
func scalarTypes(raw []byte) shapeTypes {
	switch raw[0] {
	case '"':
		return texts
	case 't', 'f':
		return booleans
	case 'n':
		return nulls
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil { // as encoding/json reads it
		return integers | numbers
	}
	if _, ok := jsonscan.Float(raw); ok {
		return numbers
	}
	return 0
}
