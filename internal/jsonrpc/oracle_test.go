package jsonrpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/jsonscan/jsontest"
)

// members splits a frame with an independent tokenizer. It accepts duplicate names and escaped lone surrogates, but not
// invalid UTF-8.
func members(frame []byte) (names []string, values []jsontext.Value, ok bool) {
	if !utf8.Valid(frame) {
		return nil, nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(frame), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return nil, nil, false
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, nil, false
		}
		names = append(names, name.String())
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil, false
		}
		values = append(values, value.Clone())
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, false
	}
	_, err := d.ReadToken()
	return names, values, errors.Is(err, io.EOF)
}

// oracle returns the kind of a frame by the rules of the specification, or "" if it is not a message.
func oracle(frame []byte) string {
	names, values, ok := members(frame)
	if !ok {
		return ""
	}
	known := map[string]string{}
	for i, name := range names {
		switch name {
		case "jsonrpc", "id", "method", "params", "result", "error":
			if _, twice := known[name]; twice {
				return ""
			}
			known[name] = string(values[i])
		}
	}
	for _, name := range []string{"params", "result", "error"} {
		if value, ok := known[name]; ok && value[0] != '{' {
			return ""
		}
	}
	text := func(name string) (s string, ok bool) {
		ok = json.Unmarshal([]byte(known[name]), &s, jsontext.AllowInvalidUTF8(true)) == nil && known[name][0] == '"'
		return s, ok
	}
	if version, ok := known["jsonrpc"]; !ok || version != `"2.0"` {
		return ""
	}
	rawID, hasID := known["id"]
	id := "none"
	if hasID && rawID != "null" {
		n, err := strconv.ParseInt(rawID, 10, 64)
		switch s, isText := text("id"); {
		case isText:
			id = strconv.Quote(s)
		case err == nil:
			id = strconv.FormatInt(n, 10)
		default:
			return ""
		}
	}
	_, hasResult := known["result"]
	_, hasError := known["error"]
	_, hasMethod := known["method"]
	_, hasParams := known["params"]
	switch {
	case hasResult && !hasError && !hasMethod && !hasParams && id != "none":
		return fmt.Sprintf("response %s  %s", id, known["result"])
	case hasError && !hasResult && !hasMethod && !hasParams:
		return fmt.Sprintf("error %s  %s", id, known["error"])
	case hasMethod && !hasResult && !hasError && (!hasID || id != "none"):
		method, ok := text("method")
		if !ok || method == "" {
			return ""
		}
		kind := "request"
		if !hasID {
			kind = "notification"
		}
		return fmt.Sprintf("%s %s %s %s", kind, id, method, known["params"])
	}
	return ""
}

// describe formats a message like oracle.
func describe(m jsonrpc.Message) string {
	id := "none"
	if s, ok := m.ID.Text(); ok {
		id = strconv.Quote(s)
	} else if !m.ID.IsZero() {
		id = m.ID.String()
	}
	return fmt.Sprintf("%s %s %s %s", m.Kind, id, m.Method, m.Middle())
}

// decodeInPlace consumes the value at b[i] like a decoder: it visits every string and overwrites it.
func decodeInPlace(b []byte, i int) (end int, err error) {
	i = jsonscan.Space(b, i)
	if i == len(b) {
		return jsonscan.Value(b, i)
	}
	switch b[i] {
	case '"':
		_, end, err = jsonscan.Text(b, i)
		return end, err
	case '{':
		o := jsonscan.ObjectAt(b, i)
		for o.Next() {
			o.Take(decodeInPlace(b, o.At()))
		}
		return o.End(), o.Err()
	case '[':
		a := jsonscan.ArrayAt(b, i)
		for a.Next() {
			a.Take(decodeInPlace(b, a.At()))
		}
		return a.End(), a.Err()
	}
	return jsonscan.Value(b, i)
}

// refusedByDesign reports whether the frame has the one form that only Consume rejects; see Message.Consume.
func refusedByDesign(frame []byte, err error) bool {
	v, ok := errors.AsType[*jsonrpc.Violation](err)
	if !ok || v.Reason != jsonrpc.InvalidEnvelope || v.ID.IsZero() {
		return false
	}
	names, values, _ := members(frame)
	params, id := slices.Index(names, "params"), slices.Index(names, "id")
	return 0 <= params && params < id && slices.ContainsFunc(values[id:], func(v jsontext.Value) bool {
		return v.Kind() == '{'
	})
}

// checkFrame asserts that every way of reading a frame agrees with the oracle.
func checkFrame(t interface{ Fatalf(string, ...any) }, frame []byte) {
	want := oracle(frame)
	original := bytes.Clone(frame)

	whole, err := jsonrpc.ParseWhole(frame)
	if v, ok := errors.AsType[*jsonrpc.Violation](err); ok && v.Reason == jsonrpc.TooDeep {
		return // the oracle allows deeper nesting
	}
	if (err == nil) != (want != "") {
		t.Fatalf("scan of the whole of %q: %v, oracle says %q", frame, err, want)
	}
	if err == nil && describe(whole) != want {
		t.Fatalf("scan of the whole of %q: %q, want %q", frame, describe(whole), want)
	}

	m, err := jsonrpc.Parse(frame)
	unchecked := m
	if err == nil {
		err = m.Check()
	}
	switch {
	case err != nil && refusedByDesign(frame, err):
		return
	case (err == nil) != (want != ""):
		t.Fatalf("Parse and Check of %q: %v, oracle says %q", frame, err, want)
	case err == nil && describe(m) != want:
		t.Fatalf("Parse and Check of %q: %q, want %q", frame, describe(m), want)
	case !bytes.Equal(frame, original):
		t.Fatalf("Parse and Check changed %q to %q", original, frame)
	}
	if unchecked.Kind == 0 {
		return
	}

	err = unchecked.Consume(func(middle []byte) (int, error) {
		if middle == nil {
			return 0, nil
		}
		return decodeInPlace(middle, 0)
	})
	if unchecked.Frame != nil || unchecked.Middle() != nil || unchecked.Size() != len(original) {
		t.Fatalf("a consumed message still has %q and %q, want no bytes but the size", unchecked.Frame, unchecked.Middle())
	}
	if v, ok := errors.AsType[*jsonrpc.Violation](err); ok && !bytes.Equal(v.Head, original[:min(64, len(original))]) {
		t.Fatalf("the violation of a consumed frame says that it began with %q, want %q", v.Head,
			original[:min(64, len(original))])
	}
	if v, ok := errors.AsType[*jsonscan.SyntaxError](err); ok && v.Reason == jsonscan.TooDeep {
		return
	}
	if (err == nil) != (want != "") {
		t.Fatalf("decoding %q in place: %v, oracle says %q", original, err, want)
	}
}

// choose lets rapid make the choices of jsontest.
func choose(t *rapid.T) jsontest.Choose {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
}

// frame draws the text of an envelope with correct or nearly correct members.
func frame(t *rapid.T) []byte {
	values := map[string][]string{
		`"jsonrpc"`:       {`"2.0"`, `"2.0"`, `"2.0"`, `"1.0"`},
		`"id"`:            {`1`, `1`, `"a"`, `"\u0061"`, `null`, `1.5`, `-0`, `{}`},
		`"\u0069d"`:       {`1`},
		`"method"`:        {`"tools/call"`, `"a\/b"`, `""`, `1`},
		`"params"`:        {"", "", "", "[]", "null"},
		`"result"`:        {"", "", "", "[]", "null"},
		`"error"`:         {"", "", `"e"`},
		`"x"`:             {"", "", "null", `"}"`, `"\\\""`, "-1.5e3", "[{}]"},
		`"y\"\\"`:         {"1", ""},
		`"Result"`:        {"{}"},
		"\"re\u017Fult\"": {"{}"},
	}
	shapes := [][]string{
		{`"jsonrpc"`, `"id"`, `"result"`}, {`"result"`, `"jsonrpc"`, `"id"`}, {`"jsonrpc"`, `"id"`, `"error"`},
		{`"jsonrpc"`, `"id"`, `"method"`, `"params"`},
		{`"jsonrpc"`, `"method"`, `"params"`}, {`"method"`, `"params"`, `"jsonrpc"`, `"id"`}, {`"jsonrpc"`, `"method"`},
	}
	names := append([]string(nil), rapid.SampledFrom(shapes).Draw(t, "shape")...)
	extras := []string{`"x"`, `"x"`, `"x"`, `"y\"\\"`, `"id"`, `"\u0069d"`, `"result"`, `"error"`, `"method"`, `"Result"`,
		"\"re\u017Fult\""}
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3}).Draw(t, "extras") {
		at := rapid.IntRange(0, len(names)).Draw(t, "at")
		names = append(names[:at], append([]string{rapid.SampledFrom(extras).Draw(t, "extra")}, names[at:]...)...)
	}
	var b bytes.Buffer
	space := func() { b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\r\n"}).Draw(t, "space")) }
	space()
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		space()
		b.WriteString(name)
		space()
		b.WriteByte(':')
		space()
		if value := rapid.SampledFrom(values[name]).Draw(t, "value"); value != "" {
			b.WriteString(value)
		} else {
			b.Write(jsontest.Object(choose(t)))
		}
		space()
	}
	b.WriteByte('}')
	space()
	return b.Bytes()
}

func TestParseAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := frame(t)
		checkFrame(t, text)
		checkFrame(t, jsontest.Mutate(choose(t), text))
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a\n\"}"}]}}`,
		`{"result":{},"jsonrpc":"2.0","id":"a"}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		`{"jsonrpc":"2.0","method":"a","params":{"_meta":{}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"x":{}}`, `{"jsonrpc":"2.0","id":1,"result":{},"x":"\\\""}`,
		`{"jsonrpc":"2.0","method":"a","params":{},"id":1,"x":{}}`,
		`[]`, `{"jsonrpc":"2.0","id":1,"result":{"a":"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) { checkFrame(t, frame) })
}
