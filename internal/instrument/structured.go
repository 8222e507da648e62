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
	maxContent      = 8 << 10 // maximum size of each content on a span, in bytes
	maxContentDepth = 32      // maximum number of nested objects and arrays
)

// omittedMark marks omitted content, as the key of a member or as the start of an element.
const omittedMark = "…"

// structured returns JSON content as a structured attribute value, so that backends can search it. Text that is neither
// a JSON object nor a JSON array stays a string. The value holds the first 8 KiB. A truncated value is well-formed,
// with all objects and arrays closed, and contains a note.
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
		return attribute.StringValue(truncate(text, maxContent)) // more text follows the value
	}
	if err != nil {
		return attribute.StringValue(truncate(text, maxContent))
	}
	return v
}

// contentReader reads JSON until its budget of bytes is used up. It ignores the rest.
type contentReader struct {
	d    *json.Decoder
	left int  // remaining bytes
	full bool // the budget is used up
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
			return attribute.StringValue(omittedMark), nil
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
		members = append(members, attribute.String(omittedMark, cutAt))
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
		elements = append(elements, attribute.StringValue(omittedMark+" "+cutAt))
	}
	return attribute.SliceValue(elements...), r.end()
}

var cutAt = "cut at " + strconv.Itoa(maxContent) + " bytes"

// end reads the end of an object or array. If a part of it was omitted, there is no end to read.
func (r *contentReader) end() error {
	if r.full {
		return nil
	}
	_, err := r.d.Token()
	return err
}

// text returns the part of a string that fits into the budget.
func (r *contentReader) text(s string) string {
	kept := truncate(s, max(r.left, 0))
	if r.spend(len(s) + len(`""`)); r.full {
		kept += omittedMark
	}
	return kept
}

// number returns a number without loss. If neither attribute type can hold it, the number becomes a text.
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

// spend subtracts n bytes of JSON, and one for a comma, from the budget.
func (r *contentReader) spend(n int) {
	r.left -= n + 1
	r.full = r.full || r.left < 0
}
