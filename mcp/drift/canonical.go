package drift

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// role is the role of a value within a schema. It determines the arrays in which the order matters.
type role uint8

const (
	data         role = iota // the order of all arrays matters
	schema                   // an object of keywords, or an ordered array of such objects
	schemas                  // an object with schemas as values
	choice                   // an array of schemas in any order
	set                      // an array of data in any order
	requirements             // an object with sets as values
)

// keywords lists the keywords of JSON Schema 2020-12 and draft-07 whose values are not data.
var keywords = map[string]role{
	"required": set, "enum": set, "type": set, "dependentRequired": requirements,
	"allOf": choice, "anyOf": choice, "oneOf": choice,
	"properties": schemas, "patternProperties": schemas, "$defs": schemas, "definitions": schemas,
	"dependentSchemas": schemas, "dependencies": schemas,
	"items": schema, "prefixItems": schema, "additionalItems": schema, "contains": schema, "unevaluatedItems": schema,
	"additionalProperties": schema, "propertyNames": schema, "unevaluatedProperties": schema,
	"not": schema, "if": schema, "then": schema, "else": schema, "contentSchema": schema,
}

// maxInline is the size in bytes up to which an array or object is copied into its parent. A digest replaces a larger
// value. So the copying is bounded at any depth, and the output is never larger than the text.
const maxInline = 256

// canonical returns the canonical form of a schema: equivalent schemas have the same form. It returns text unchanged
// if it is not JSON.
func canonical(text []byte) []byte {
	if jsonscan.Valid(text) != nil {
		return text
	}
	w := writer{text: text}
	w.value(jsonscan.Space(text, 0), schema)
	return w.out
}

type writer struct {
	text, out, joined []byte
	items             []item // items of all open arrays and objects
}

// item is a part of out: an element of an array or a member of an object. Its fields are offsets.
type item struct{ begin, keyEnd, end int }

// value appends the value at i and returns the offset of its end in text, which is valid JSON.
func (w *writer) value(i int, r role) (end int) {
	switch w.text[i] {
	case '{':
		return w.object(i, r)
	case '[':
		return w.array(i, r)
	case '"':
		end, escaped, _ := jsonscan.String(w.text, i)
		s := w.text[i+1 : end-1]
		if escaped {
			// a lone surrogate becomes U+FFFD; the error is ignored
			s, _ = jsontext.AppendUnquote(nil, w.text[i:end])
		}
		w.out = jsonscan.AppendString(w.out, string(s))
		return end
	}
	end, _ = jsonscan.Value(w.text, i)
	if c := w.text[i]; c == '-' || '0' <= c && c <= '9' {
		w.out = appendNumber(w.out, w.text[i:end])
	} else {
		w.out = append(w.out, w.text[i:end]...)
	}
	return end
}

func (w *writer) object(i int, r role) (end int) {
	first, begin := len(w.items), len(w.out)
	o := jsonscan.ObjectAt(w.text, i)
	for o.Next() {
		m := item{begin: len(w.out)}
		key := string(o.Key())
		w.out = append(jsonscan.AppendString(w.out, key), ':')
		m.keyEnd = len(w.out)
		o.Take(w.value(o.At(), r.member(key)), nil)
		m.end = len(w.out)
		w.items = append(w.items, m)
	}
	// a stable sort, because the order of two members with the same name matters
	slices.SortStableFunc(w.items[first:], func(a, b item) int {
		return bytes.Compare(w.out[a.begin:a.keyEnd], w.out[b.begin:b.keyEnd])
	})
	w.finish('{', '}', begin, first)
	return o.End()
}

func (w *writer) array(i int, r role) (end int) {
	first, begin := len(w.items), len(w.out)
	a := jsonscan.ArrayAt(w.text, i)
	for a.Next() {
		m := item{begin: len(w.out)}
		a.Take(w.value(a.At(), r.element()), nil)
		m.end = len(w.out)
		w.items = append(w.items, m)
	}
	if r == set || r == choice {
		slices.SortFunc(w.items[first:], func(a, b item) int {
			return bytes.Compare(w.out[a.begin:a.end], w.out[b.begin:b.end])
		})
	}
	w.finish('[', ']', begin, first)
	return a.End()
}

// finish replaces the output from offset begin with the items from index first on, or with their digest.
func (w *writer) finish(open, close byte, begin, first int) {
	w.joined = append(w.joined[:0], open)
	for i, m := range w.items[first:] {
		if i > 0 {
			w.joined = append(w.joined, ',')
		}
		w.joined = append(w.joined, w.out[m.begin:m.end]...)
	}
	w.joined = append(w.joined, close)
	w.items, w.out = w.items[:first], w.out[:begin]
	if len(w.joined) <= maxInline {
		w.out = append(w.out, w.joined...)
		return
	}
	sum := sha256.Sum256(w.joined)
	w.out = append(append(w.out, '#'), sum[:]...) // no JSON value begins with this byte
}

// member returns the role of an object's member.
func (r role) member(key string) role {
	switch r {
	case schema:
		return keywords[key]
	case schemas:
		return schema
	case requirements:
		return set
	}
	return data
}

// element returns the role of an array's element.
func (r role) element() role {
	if r == schema || r == choice {
		return schema
	}
	return data
}

// appendNumber appends a number as its significant digits and a power of ten, for example 15e-1, 1e2, 0. It is exact.
func appendNumber(out, text []byte) []byte {
	mantissa, power, _ := bytes.Cut(bytes.ToLower(text), []byte("e"))
	exponent, err := strconv.ParseInt("0"+string(bytes.TrimLeft(power, "+-")), 10, 32)
	if err != nil {
		return append(out, text...)
	}
	if bytes.HasPrefix(power, []byte("-")) {
		exponent = -exponent
	}
	mantissa, negative := bytes.CutPrefix(mantissa, []byte("-"))
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits := bytes.TrimLeft(slices.Concat(whole, fraction), "0")
	exponent -= int64(len(fraction))
	trimmed := bytes.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(trimmed))
	if len(trimmed) == 0 {
		return append(out, '0')
	}
	if negative {
		out = append(out, '-')
	}
	out = append(out, trimmed...)
	if exponent != 0 {
		out = strconv.AppendInt(append(out, 'e'), exponent, 10)
	}
	return out
}
