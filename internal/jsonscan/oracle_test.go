package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/jsonscan/jsontest"
)

// choose lets rapid make the choices of jsontest.
func choose(t *rapid.T) jsontest.Choose {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
}

type tester interface {
	Helper()
	Fatalf(string, ...any)
}

// checkOracles asserts that Valid agrees with two other implementations, except for these differences:
//
//   - Depth. Both allow 10,000 levels, Valid allows 1,024.
//   - Invalid UTF-8. jsontext and Valid reject it; encoding/json replaces it.
//   - Escaped lone surrogates. encoding/json and Unquote replace them; jsontext rejects them unless it allows invalid
//     UTF-8, and then it also accepts raw invalid UTF-8.
//   - Duplicate names. jsontext rejects them by default; Valid and encoding/json leave them to the decoder.
func checkOracles(t tester, text []byte) {
	t.Helper()
	err := jsonscan.Valid(text)
	if syntax, ok := errors.AsType[*jsonscan.SyntaxError](err); ok {
		if syntax.Offset < 0 || syntax.Offset > len(text) {
			t.Fatalf("Valid(%q): offset %d is outside of the text", text, syntax.Offset)
		}
		if syntax.Reason == jsonscan.TooDeep {
			return
		}
	}
	isUTF8 := utf8.Valid(text)
	if want := json.Valid(text) && isUTF8; (err == nil) != want {
		t.Fatalf("Valid(%q) = %v, encoding/json says valid: %v", text, err, want)
	}
	tolerant := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if want := tolerant && isUTF8; (err == nil) != want {
		t.Fatalf("Valid(%q) = %v, jsontext says valid: %v", text, err, want)
	}
	if jsontext.Value(text).IsValid() && err != nil {
		t.Fatalf("Valid(%q) = %v, jsontext takes it even without any tolerance", text, err)
	}
}

func TestValidAgreesWithTheOraclesOnValidText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsontest.Value(choose(t))
		checkOracles(t, text)
		if err := jsonscan.Valid(text); err != nil {
			t.Fatalf("Valid(%q) = %v, want valid", text, err)
		}
	})
}

func TestValidAgreesWithTheOraclesOnInvalidText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkOracles(t, jsontest.Mutate(choose(t), jsontest.Value(choose(t)))) })
}

func FuzzValid(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e3,true,null,"é\n\ud83d"]}`, `[[[[]]]]`, `{"a":1,"a":2}`, " [ ] ", "\"\xed\xa0\x80\"", `"\ud83d\ude00"`,
		"\ufeff{}",
		strings.Repeat("[", 1100), `{"abcdefgh":"abcdefgh\\"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkOracles(t, text) })
}

// checkWalk asserts that iterating over an object finds the same members as an independent token reader.
func checkWalk(t tester, text []byte) {
	t.Helper()
	o := jsonscan.ObjectAt(text, 0)
	var names []string
	var values [][]byte
	for o.Next() {
		names = append(names, string(o.Key()))
		values = append(values, o.Raw())
	}
	if o.Err() != nil {
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) && jsonscan.Valid(text) == nil {
			t.Fatalf("walk over %q: %v, but it is valid", text, o.Err())
		}
		return
	}
	text = text[:o.End()]
	if err := jsonscan.Valid(text); err != nil {
		if syntax, ok := errors.AsType[*jsonscan.SyntaxError](err); ok && syntax.Reason == jsonscan.TooDeep {
			return // each skipped member may have the whole depth again
		}
		t.Fatalf("walk over %q found %q, but it is not valid: %v", text, names, err)
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		t.Fatalf("jsontext on %q: %v", text, err)
	}
	for i := range names {
		name, err := d.ReadToken()
		if err != nil {
			t.Fatalf("jsontext on %q, name %d: %v", text, i, err)
		}
		if got := name.String(); got != names[i] {
			t.Fatalf("walk over %q: name %d is %q, want %q", text, i, names[i], got)
		}
		value, err := d.ReadValue()
		if err != nil || !bytes.Equal(value, values[i]) {
			t.Fatalf("walk over %q: value %d is %q, want %q (%v)", text, i, values[i], value, err)
		}
	}
	if token, err := d.ReadToken(); err != nil || token.Kind() != '}' {
		t.Fatalf("walk over %q ended after %d members, jsontext goes on with %v (%v)", text, len(names), token, err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		t.Fatalf("walk over %q: something is behind the object: %v", text, err)
	}
}

func TestObjectAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsontest.Object(choose(t))
		checkWalk(t, text)
		checkWalk(t, jsontest.Mutate(choose(t), text))
	})
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"a":1,"\u0062":{"c":[]}}`, ` { } `, `{"a":1}x`, `{"\ud83d":"\ude00"}`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkWalk(t, text) })
}
