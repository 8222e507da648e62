package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Object is a JSON object kept as text, so that unknown members survive unchanged. Nil is an absent object. A non-nil
// empty Object is encoded as {}, so Object{} declares support for a feature.
//
// Reading an Object searches the text, which is fast because such an object has few members. Methods that change an
// Object return a new Object. If a name occurs twice, the first member counts.
type Object []byte

// Lookup returns the value of the member with this name.
func (o Object) Lookup(name string) (json.RawMessage, bool) {
	for k, v := range o.All() {
		if k == name {
			return v, true
		}
	}
	return nil, false
}

// Decode decodes the value of the member with this name into v, by the rules of [Decode]. If the member is missing or
// null, it returns false and does not change v.
func (o Object) Decode(name string, v any) (found bool, err error) {
	raw, found := o.Lookup(name)
	if !found || string(raw) == "null" {
		return false, nil
	}
	if _, err := Decode(raw, v); err != nil {
		return true, within(name, err)
	}
	return true, nil
}

// All returns the members in their order. It stops at invalid JSON, which a decoded Object never contains.
func (o Object) All() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		walk := jsonscan.ObjectAt(o, 0)
		for walk.Next() {
			name := string(walk.Key())
			value := walk.Raw()
			if walk.Err() != nil || !yield(name, value) {
				return
			}
		}
	}
}

// With returns a copy of o in which the member with this name has the JSON encoding of value. An existing member keeps
// its place; a new member becomes the last. With uses a value of type [json.RawMessage] unchanged.
func (o Object) With(name string, value any) (Object, error) {
	if len(o) > 0 {
		if err := jsonscan.Valid(o); err != nil {
			return nil, err
		}
	}
	text, err := appendValue(nil, value)
	if err != nil {
		return nil, within(name, err)
	}
	w := openObject(nil)
	replaced := false
	for k, v := range o.All() {
		if k == name && replaced {
			continue
		}
		if k == name {
			v, replaced = text, true
		}
		w.raw(k, v)
	}
	if !replaced {
		w.raw(name, text)
	}
	return w.close()
}

// Without returns a copy of o without the member of this name. It returns o itself if the member is missing.
func (o Object) Without(name string) Object {
	if _, found := o.Lookup(name); !found {
		return o
	}
	w := openObject(nil)
	for k, v := range o.All() {
		if k != name {
			w.raw(k, v)
		}
	}
	b, _ := w.close() // the loop above has validated each value
	return b
}

// MarshalJSON returns the text, or {} for an empty Object. It returns an error if the text is not a JSON object.
func (o Object) MarshalJSON() ([]byte, error) { return appendObject(nil, o) }

// UnmarshalJSON stores a copy of the text. A null becomes an absent Object; any other value that is not an object is
// an error.
func (o *Object) UnmarshalJSON(text []byte) error {
	switch kind(text) {
	case '{':
		*o = bytes.Clone(text)
	case 'n':
		*o = nil
	default:
		return errNotObject
	}
	return nil
}

var errNotObject = errors.New("not a JSON object")

// kind returns the first byte of the JSON value in text, which determines its type, or 0 for an empty text.
func kind(text []byte) byte {
	if i := jsonscan.Space(text, 0); i < len(text) {
		return text[i]
	}
	return 0
}
