package instrument

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

const (
	maxContent      = 8 << 10 // bytes of each content on a span
	maxContentDepth = 32      // objects and arrays in each other
)

// leftOut is the key of a member, or the beginning of an element, that says that others are left out.
const leftOut = "…"

// structured returns a content as the value of an attribute: what its JSON says, so that a backend can look into it, or
// the text as it is if that is no JSON object or array. The first 8 KiB are kept of it. Where they end, the value ends
// with all objects and arrays closed, and says so.
func structured(text string) attribute.Value {
	if first := strings.TrimLeft(text, " \t\r\n"); first == "" || first[0] != '{' && first[0] != '[' {
		return attribute.StringValue(truncate(text, maxContent))
	}
	r := contentReader{d: json.NewDecoder(strings.NewReader(text)), left: maxContent}
	r.d.UseNumber()
	v, err := r.value(0)
	if err == nil && !r.full {
		if _, err = r.d.Token(); err == io.EOF {
			return v
		}
		return attribute.StringValue(truncate(text, maxContent)) // there is more behind the value
	}
	if err != nil {
		return attribute.StringValue(truncate(text, maxContent))
	}
	return v
}

// contentReader reads JSON until so much of it is kept as there is room for. What comes behind is not looked at.
type contentReader struct {
	d    *json.Decoder
	left int  // bytes
	full bool // no more is kept
}

func (r *contentReader) value(depth int) (attribute.Value, error) {
	t, err := r.d.Token()
	if err != nil {
		return attribute.Value{}, err
	}
	switch t := t.(type) {
	case json.Delim:
		switch r.spend(len("[]")); {
		case r.full || depth == maxContentDepth:
			r.full = true
			return attribute.StringValue(leftOut), nil
		case t == '{':
			return r.object(depth)
		}
		return r.array(depth)
	case string:
		return attribute.StringValue(r.text(t)), nil
	case json.Number:
		return r.number(t.String()), nil
	case bool:
		r.spend(len("false"))
		return attribute.BoolValue(t), nil
	}
	r.spend(len("null"))
	return attribute.Value{}, nil
}

func (r *contentReader) object(depth int) (attribute.Value, error) {
	var members []attribute.KeyValue
	for !r.full && r.d.More() {
		key, err := r.d.Token()
		if err != nil {
			return attribute.Value{}, err
		}
		name := key.(string) // the keys of an object are strings
		if r.spend(len(name) + len(`"":`)); r.full {
			break
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return attribute.Value{}, err
		}
		members = append(members, attribute.KeyValue{Key: attribute.Key(name), Value: v})
	}
	if depth == 0 && r.full {
		members = append(members, attribute.String(leftOut, cutAt))
	}
	return attribute.MapValue(members...), r.end()
}

func (r *contentReader) array(depth int) (attribute.Value, error) {
	var elements []attribute.Value
	for !r.full && r.d.More() {
		v, err := r.value(depth + 1)
		if err != nil {
			return attribute.Value{}, err
		}
		elements = append(elements, v)
	}
	if depth == 0 && r.full {
		elements = append(elements, attribute.StringValue(leftOut+" "+cutAt))
	}
	return attribute.SliceValue(elements...), r.end()
}

var cutAt = "cut at " + strconv.Itoa(maxContent) + " bytes"

// end reads the end of an object or array, if everything in it was kept.
func (r *contentReader) end() error {
	if r.full {
		return nil
	}
	_, err := r.d.Token()
	return err
}

// text returns what there is room for of a string.
func (r *contentReader) text(s string) string {
	kept := truncate(s, max(r.left, 0))
	if r.spend(len(s) + len(`""`)); r.full {
		kept += leftOut
	}
	return kept
}

// number returns a number as it is: as text if neither of the types of attributes holds it.
func (r *contentReader) number(s string) attribute.Value {
	r.spend(len(s))
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return attribute.Int64Value(n)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(f, 0) && strings.ContainsAny(s, ".eE") {
		return attribute.Float64Value(f)
	}
	return attribute.StringValue(truncate(s, max(r.left, 64)))
}

// spend makes room for so many bytes of JSON and the comma behind them.
func (r *contentReader) spend(n int) {
	r.left -= n + 1
	r.full = r.full || r.left < 0
}
