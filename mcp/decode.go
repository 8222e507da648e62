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

// Decode decodes the JSON value that data begins with, space in front of it allowed, into v, and returns how many bytes
// of data it took. Whatever follows the value is not looked at: the caller who expects nothing there compares n with
// len(data). All n bytes have been validated if there is no error.
//
// v is a pointer to a zero value: of a type of this package, of a [json.RawMessage], or of any type of the user's own
// that JSON can be decoded into. A nil v only validates.
//
// Decode leaves data as it is, and what it decodes shares no memory with it: for the types that [DecodeInPlace] would
// have point into data, it works on a copy.
//
// An integer of a type of this package may be written with a fraction or an exponent (1.0, 1e3), and a hint that is no
// integer (ttlMs, size, total, pollInterval) is absent.
//
// JSON is taken strictly otherwise: valid UTF-8 in strings, no member twice, names exactly as the protocol spells them,
// nesting of 1024 levels at most. What is decoded into types of this package has 100,000 objects at most, each null
// counted as one. A lone surrogate, which only an escape can spell, becomes U+FFFD. Inside of raw JSON that is kept as
// it is, members that occur twice are not looked for.
//
// Little text can be much memory: nine bytes of {"a":1} are 400 in a value of type any. So a text is not decoded if
// that would take more than 128 MiB, or eight bytes for each of its own if that is more. What is in a struct of your
// own or in a list of numbers is cheap; what is in any, in maps and in lists of pointers is not.
//
// An error about the value names the part that is wrong, such as "tools[3].name is missing". After an error, what v
// holds and what n says mean nothing.
func Decode(data []byte, v any) (n int, err error) {
	switch v.(type) {
	case *json.RawMessage, *CallToolResult, *ListToolsResult, *GetPromptResult, *ReadResourceResult, *CallToolParams:
		data = bytes.Clone(data)
	}
	return DecodeInPlace(data, v)
}

// DecodeInPlace is [Decode] for a caller that owns data and gives it up: nothing is copied. Strings and raw JSON in
// what it decodes into a [*CallToolResult], [*ListToolsResult], [*GetPromptResult], [*ReadResourceResult],
// [*CallToolParams] or [*json.RawMessage] point into data, and data is overwritten on the way. A text of which the
// escapes are gone looks like any other JSON, so data must not be read again, whether there was an error or not: what
// has to be known before, such as the type of a result, [ResultTypeOf] says. And a string of ten bytes keeps all of
// data in memory: [strings.Clone] it.
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
	return n, settle(v)
}

// maxObjects bounds the objects in what is decoded into types of this package: two bytes of text can become a struct of
// hundreds. No list of the protocol is as long.
const maxObjects = 100_000

var errTooMany = fmt.Errorf("has more than %d objects, or strings in lists", maxObjects)

// decoding makes the JSON library replace lone surrogates. It would replace invalid UTF-8 too, but that has been ruled
// out before. A time.Duration is a number of nanoseconds, as [encoding] has it.
var decoding = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsonv1.FormatDurationAsNano(true))

// decodeValue decodes text, which has been validated, into v by means of the JSON library.
func decodeValue(text []byte, v any) error {
	if objects(text) > maxObjects && ofThisPackage(v) {
		return errTooMany
	}
	if err := weigh.Decoding(text, v); err != nil {
		return err
	}
	if r, ok := v.(*CompleteResult); ok {
		return pointedOut(r.decode(text))
	}
	if ofThisPackage(v) {
		return pointedOut(jsonv2.Unmarshal(text, v, decoding, jsonv2.WithUnmarshalers(integers)))
	}
	return pointedOut(jsonv2.Unmarshal(text, v, decoding))
}

// integers makes the JSON library read integers of this package as [jsonscan.Int] does, and hints that are no integers
// as absent.
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

// pointedOut says of an error of the JSON library which part of the value is wrong.
func pointedOut(err error) error {
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

// objects returns how many objects there may be in text: a null may stand for one, which takes as much room in a list
// or a map.
func objects(text []byte) int {
	return bytes.Count(text, []byte("{")) + bytes.Count(text, []byte("null"))
}

func ofThisPackage(v any) bool {
	t := reflect.TypeOf(v)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == thisPackage
}

// semanticCause puts what the JSON library found wrong with one value into the words of the decoders in this package.
func semanticCause(err *jsonv2.SemanticError) error {
	if err.Err == nil || errors.Is(err.Err, strconv.ErrSyntax) || errors.Is(err.Err, strconv.ErrRange) {
		return &jsonscan.TypeError{Offset: int(err.ByteOffset), Want: jsonKind(err.GoType)}
	}
	return err.Err
}

// jsonKind says which JSON goes into a value of type t.
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

// withinPointer says that err is about the value to which p points.
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
