package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/weigh"
)

// Decode decodes the JSON value at the start of data into v and returns the number of bytes that it read. Data may
// have space before the value. Decode ignores everything after the value: if data must end with the value, compare n
// with len(data). If err is nil, all n bytes are valid JSON.
//
// v is a pointer to a zero value. Its type is a type of this package, [json.RawMessage], or any type into which JSON
// can be decoded. If v is nil, Decode only validates.
//
// Decode does not change data, and the decoded value shares no memory with data. For types that [DecodeInPlace] would
// leave pointing into data, Decode works on a copy.
//
// Integers in types of this package may have a fraction or an exponent (1.0, 1e3). If a hint (ttlMs, size, total,
// pollInterval) is not an integer, Decode treats it as absent.
//
// In all other respects Decode is strict: strings are valid UTF-8, no member occurs twice, member names match the
// protocol's spelling exactly, and values nest at most 1024 levels deep. A value of a type of this package may contain
// at most 100,000 objects; each null counts as an object. A lone surrogate, which only an escape can express, becomes
// U+FFFD. Decode does not look for duplicate members inside raw JSON that it keeps unchanged.
//
// A short text can need much memory: the seven bytes {"a":1} take about 400 bytes in a value of type any. Decode
// therefore fails if the value would need more than 128 MiB and more than eight times the length of the text. Structs
// and lists of numbers are cheap; any, maps and lists of pointers are expensive.
//
// An error about the value names the invalid part, for example "tools[3].name is missing". After an error, v and n are
// undefined.
func Decode(data []byte, v any) (n int, err error) {
	switch v.(type) {
	case *json.RawMessage, *CallToolResult, *ListToolsResult, *GetPromptResult, *ReadResourceResult, *CallToolParams:
		data = bytes.Clone(data)
	}
	return DecodeInPlace(data, v)
}

// DecodeInPlace is [Decode] without a copy, for a caller that gives up ownership of data. Strings and raw JSON in a
// [*CallToolResult], [*ListToolsResult], [*GetPromptResult], [*ReadResourceResult], [*CallToolParams] or
// [*json.RawMessage] point into data.
//
// DecodeInPlace overwrites data as it removes escapes, and the overwritten text may still look like valid JSON. Do not
// read data after the call, even after an error: call functions such as [ResultTypeOf] before. A decoded string of ten
// bytes keeps all of data in memory; use [strings.Clone] to keep only the string.
func DecodeInPlace(data []byte, v any) (n int, err error) {
	var d decoder
	d.b = data
	switch v := v.(type) {
	case nil:
		return jsonscan.Value(data, 0)
	case *json.RawMessage:
		start := jsonscan.Space(data, 0)
		n, err = jsonscan.Value(data, start)
		if err == nil {
			*v = data[start:n:n]
		}
		return n, err
	case *CallToolResult:
		return d.callToolResult(0, v)
	case *ListToolsResult:
		return d.listToolsResult(0, v)
	case *GetPromptResult:
		return d.getPromptResult(0, v)
	case *ReadResourceResult:
		return d.readResourceResult(0, v)
	case *CallToolParams:
		return d.callToolParams(0, v)
	}
	n, err = jsonscan.Value(data, 0)
	if err != nil {
		return n, err
	}
	if err := decodeValue(data[:n], v); err != nil {
		return n, err
	}
	return n, applyRules(v)
}

// maxObjects limits the objects in a decoded value of a type of this package, because two bytes of text can become a
// struct of hundreds of bytes. No list of the protocol is that long.
const maxObjects = 100_000

var errTooMany = fmt.Errorf("has more than %d objects or strings in lists", maxObjects)

// decodeOptions makes the JSON library replace lone surrogates. The option would also allow invalid UTF-8, but callers
// have already rejected invalid UTF-8. A time.Duration is a number of nanoseconds, as in encoding/json.
var decodeOptions = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsonv1.FormatDurationAsNano(true))

// decodeValue decodes text, which is valid JSON, into v with the JSON library.
func decodeValue(text []byte, v any) error {
	if objects(text) > maxObjects && ofThisPackage(v) {
		return errTooMany
	}
	if err := weigh.Decoding(text, v); err != nil {
		return err
	}
	if r, ok := v.(*CompleteResult); ok {
		return withPath(r.decode(text))
	}
	if ofThisPackage(v) {
		return withPath(jsonv2.Unmarshal(text, v, decodeOptions, jsonv2.WithUnmarshalers(integers)))
	}
	return withPath(jsonv2.Unmarshal(text, v, decodeOptions))
}

// integers makes the JSON library read the integers of this package with [jsonscan.Int]. A hint that is not an integer
// counts as absent.
var integers = jsonv2.JoinUnmarshalers(
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, n *int64) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		i, ok := jsonscan.Int(raw)
		if !ok {
			return strconv.ErrSyntax
		}
		*n = i
		return nil
	}),
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, hint **int64) error {
		switch d.StackPointer().LastToken() {
		case "ttlMs", "size", "total", "pollIntervalMs", "pollInterval":
		default:
			return errors.ErrUnsupported
		}
		raw, err := d.ReadValue()
		if n, ok := jsonscan.Int(raw); ok {
			*hint = &n
		}
		return err
	}),
)

// withPath adds the path of the invalid part to an error of the JSON library.
func withPath(err error) error {
	switch err := err.(type) {
	case *jsonv2.SemanticError:
		return withinPointer(err.JSONPointer, semanticCause(err))
	case *jsontext.SyntacticError:
		if err.Err == jsontext.ErrDuplicateName {
			return withinPointer(err.JSONPointer, errDuplicate)
		}
	}
	return err
}

// objects returns an upper bound for the objects in text. A null counts as an object, because it takes as much memory
// in a list or a map.
func objects(text []byte) int {
	return bytes.Count(text, []byte("{")) + bytes.Count(text, []byte("null"))
}

func ofThisPackage(v any) bool {
	t := reflect.TypeOf(v)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == thisPackage
}

// semanticCause converts an error of the JSON library about one value into an error of this package's decoders.
func semanticCause(err *jsonv2.SemanticError) error {
	if err.Err == nil || errors.Is(err.Err, strconv.ErrSyntax) || errors.Is(err.Err, strconv.ErrRange) {
		return &jsonscan.TypeError{Offset: int(err.ByteOffset), Want: jsonKind(err.GoType)}
	}
	return err.Err
}

// jsonKind returns the JSON type that decodes into a value of type t.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Pointer:
		return jsonKind(t.Elem())
	}
	return "integer"
}

// withinPointer prefixes err with the path p.
func withinPointer(p jsontext.Pointer, err error) error {
	for p != "" {
		token := p.LastToken()
		p = p.Parent()
		if i, notIndex := strconv.Atoi(token); notIndex == nil {
			err = withinElement(i, err)
		} else {
			err = within(token, err)
		}
	}
	return err
}
