package mirror

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Value is the value of one header, before [Encode].
type Value struct {
	Header string // Header of the [Param]
	Value  string
}

// Values returns the header values of a call with these arguments, which are JSON text or empty. The result has the
// order of params, the result of [Params]. An argument that is absent or null has no header.
//
// Values returns an error if an argument does not have the type of its parameter, if an integer is beyond ±(2^53−1), if
// an object on the way to an argument has a duplicate name, or if all values together are longer than [MaxValues].
// Errors quote names, not values.
func Values(params []Param, arguments []byte) ([]Value, error) {
	if len(params) == 0 || len(arguments) == 0 {
		return nil, nil
	}
	r := reading{text: arguments, params: params, values: make([]Value, len(params))}
	end, err := r.value(jsonscan.Space(arguments, 0), 0, 1<<len(params)-1)
	if err == nil {
		err = jsonscan.Rest(arguments, end)
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.values, func(v Value) bool { return v.Header == "" }), nil
}

// Headers returns the result of [Values] as a map from header to value.
func Headers(params []Param, arguments []byte) (map[string]string, error) {
	values, err := Values(params, arguments)
	if err != nil {
		return nil, err
	}
	headers := make(map[string]string, len(values))
	for _, v := range values {
		headers[v.Header] = v.Value
	}
	return headers, nil
}

// set is a set of parameters, one bit each.
type set uint64

// reading extracts the mirrored values from the arguments of one call.
type reading struct {
	text   []byte
	params []Param
	values []Value // one for each parameter; zero if the argument is absent or null
	size   int     // bytes of all values
}

// value reads the value at text[i]. some contains the parameters whose paths begin with the path to this value, which
// has level names.
func (r *reading) value(i, level int, some set) (end int, err error) {
	var deeper set
	for n, p := range r.params {
		switch {
		case some>>n&1 == 0:
		case len(p.Path) > level:
			deeper |= 1 << n
		default:
			if err := r.take(n, i); err != nil {
				return i, err
			}
		}
	}
	if deeper != 0 && i < len(r.text) && r.text[i] == '{' {
		return r.object(i, level, deeper)
	}
	return jsonscan.Value(r.text, i)
}

// object reads the object at text[i]. For each parameter in some, Path[level] is the name of the member to read.
func (r *reading) object(i, level int, some set) (end int, err error) {
	var met set
	o := jsonscan.ObjectAt(r.text, i)
	for o.Next() {
		var here set
		for n, p := range r.params {
			if some>>n&1 != 0 && p.Path[level] == string(o.Key()) {
				here |= 1 << n
			}
		}
		switch {
		case here&met != 0:
			o.Fail(fmt.Errorf("argument %s occurs twice in one object", quote(string(o.Key()))))
		case here != 0:
			met |= here
			o.Take(r.value(o.At(), level+1, here))
		}
	}
	return o.End(), o.Err()
}

// take stores the value at text[i] for parameter n, unless it is null.
func (r *reading) take(n, i int) error {
	end, err := jsonscan.Value(r.text, i)
	if err != nil {
		return err
	}
	raw := r.text[i:end]
	if string(raw) == "null" {
		return nil
	}
	p := &r.params[n]
	text, ok := convert(p.Type, raw)
	if !ok {
		return fmt.Errorf("argument %s is mirrored in %s and must be %s", quote(strings.Join(p.Path, ".")), p.Header,
			wanted[p.Type])
	}
	if r.size += len(text); r.size > MaxValues {
		return fmt.Errorf("the arguments that are mirrored in headers together have more than %d bytes", MaxValues)
	}
	r.values[n] = Value{Header: p.Header, Value: text}
	return nil
}

// wanted describes the valid arguments, by the type of the parameter.
var wanted = map[string]string{
	"string": "a string", "boolean": "true or false", "integer": "an integer within ±(2^53−1)",
}

// convert returns the text form of raw, a JSON value. It reports false if raw is not of the type.
func convert(kind string, raw []byte) (text string, ok bool) {
	switch kind {
	case "string":
		b := unquoted(raw)
		return string(b), b != nil
	case "boolean":
		return string(raw), string(raw) == "true" || string(raw) == "false"
	default:
		return integer(string(raw))
	}
}

// Equal reports whether a header has the same value as the arguments for p: header comes from [Decode], body from
// [Values]. Integers are compared by value: 42.0 equals 42. (specification 2026-07-28,
// basic/transports/streamable-http, "Server Validation")
func Equal(p Param, header, body string) bool {
	if p.Type != "integer" {
		return header == body
	}
	h, hok := integer(header)
	b, bok := integer(body)
	return hok && bok && h == b
}
