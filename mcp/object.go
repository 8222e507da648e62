package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Object is a JSON object kept as its text, so that what this package does not know survives, byte for byte.
// Nil is an absent object; an empty one that is not nil is written {}, so Object{} declares support for something.
//
// Reading an Object searches its text, which is quick for the few members such an object has. Methods that change one
// return a new Object and leave the old one alone. If a name occurs twice, the first member counts.
type Object []byte

// Lookup returns the value of the member called name.
func (o Object) Lookup(name string) (json.RawMessage, bool) {
	for k, v := range o.All() {
		if k == name {
			return v, true
		}
	}
	return nil, false
}

// Decode decodes the value of the member called name into v, as [Decode] does. It reports false, and leaves v alone, if
// there is no such member or if it is null.
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

// All yields the members in their order. It ends early where the text is not valid JSON, which an Object that was
// decoded never is.
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

// With returns an Object in which the member called name has the JSON of value, in its old place or as the last member.
// A value of type [json.RawMessage] is taken as it is.
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

// Without returns an Object that lacks the member called name. If there is none, it is o itself.
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
	b, _ := w.close() // each value has just been validated
	return b
}

// MarshalJSON returns the text, {} for an empty Object. It is an error if the text is not a JSON object.
func (o Object) MarshalJSON() ([]byte, error) { return appendObject(nil, o) }

// UnmarshalJSON keeps a copy of the text. A null makes an absent Object; anything else but an object is an error.
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

var errNotObject = errors.New("no object")

// kind returns the first byte of the JSON value in text, which tells its kind, 0 if there is none.
func kind(text []byte) byte {
	if i := jsonscan.Space(text, 0); i < len(text) {
		return text[i]
	}
	return 0
}
