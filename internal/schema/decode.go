package schema

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// decode reads data as exactly one JSON value, nested at most depth deep.
// Repeated names and invalid UTF-8 are errors; an escaped lone surrogate
// becomes U+FFFD, as on the wire. A number is what number makes of its text.
// The error is the meter's.
func (m *meter) decode(data []byte, depth int, number func(string) (any, error)) (any, *Problem, error) {
	if !utf8.Valid(data) {
		return nil, &Problem{Message: "not JSON: invalid UTF-8"}, nil
	}
	d := m.decoder(data, depth, number)
	v, err := d.value()
	if err == nil {
		if _, err = d.dec.ReadToken(); err == io.EOF {
			return v, nil, nil
		}
		err = cmp.Or(err, errMore)
	}
	if m.err != nil {
		return nil, nil, m.err
	}
	return nil, d.problem(err), nil
}

type decoder struct {
	meter  *meter
	dec    *jsontext.Decoder
	depth  int
	number func(string) (any, error)
}

// decoder returns one for data, whose UTF-8 is valid.
func (m *meter) decoder(data []byte, depth int, number func(string) (any, error)) decoder {
	return decoder{
		meter:  m,
		dec:    jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true)),
		depth:  depth,
		number: number,
	}
}

func (d *decoder) value() (any, error) {
	if !d.meter.pay(1) {
		return nil, d.meter.err
	}
	tok, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return text(tok.String()), nil
	case '0':
		return d.number(tok.String())
	case '[':
		return d.array()
	case '{':
		return d.object()
	default:
		return nil, nil
	}
}

// Why a text is refused that may be JSON.
var (
	errMore  = errors.New("more than one value")
	errDeep  = errors.New("nested too deep")
	errRange = errors.New("number out of range")
)

func (d *decoder) array() (any, error) {
	if d.dec.StackDepth() > d.depth {
		return nil, errDeep
	}
	a := array{}
	for d.dec.PeekKind() != ']' {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := d.dec.ReadToken()
	return a, err
}

func (d *decoder) object() (any, error) {
	if d.dec.StackDepth() > d.depth {
		return nil, errDeep
	}
	o := object{}
	for d.dec.PeekKind() != '}' {
		tok, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		if o[name], err = d.value(); err != nil {
			return nil, err
		}
	}
	_, err := d.dec.ReadToken()
	return o, err
}

// rounded keeps integers up to 64 bits exact. Any other number is the nearest
// float64, which has no fraction from 2^53 on, so every larger integer is
// still an integer.
func rounded(s string) (any, error) {
	if !strings.ContainsAny(s, ".eE") {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return i, nil
		}
		if u, err := strconv.ParseUint(s, 10, 64); err == nil {
			return u, nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, errRange
	}
	return f, nil
}

// verbatim keeps a number as its text. Such a value can be written again, but
// not validated.
func verbatim(s string) (any, error) { return jsontext.Value(s), nil }

// problem tells where decoding stopped and why.
func (d *decoder) problem(err error) *Problem {
	at, message := d.dec.StackPointer(), err.Error()
	if se, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, message = se.JSONPointer, "not JSON: "+se.Err.Error()
	}
	if err == io.EOF {
		message = "not JSON: empty"
	}
	var path strings.Builder
	for name := range at.Tokens() {
		path.WriteString(token(clip(name, maxShown)))
	}
	return &Problem{Instance: path.String(), Message: clip(message, maxText)}
}
