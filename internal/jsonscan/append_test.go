package jsonscan_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/jsonscan/jsontest"
)

func TestAppendLineRemovesLineBreaks(t *testing.T) {
	for _, tt := range []struct{ raw, want, err string }{
		{`{}`, `{}`, ""}, {" {\n\"a\" :\r\n1}\n", `{ "a" :  1}`, ""}, {`"a\nb"`, `"a\nb"`, ""}, {"\t12 ", `12`, ""},
		{"", "", "unexpected end of JSON at offset 0"}, {`{} {}`, "", "invalid character '{' at offset 3"},
		{"\"a\nb\"", "", `invalid character '\n' at offset 2`},
		{`{}}`, "", "invalid character '}' at offset 2"},
	} {
		got, err := jsonscan.AppendLine([]byte("<"), []byte(tt.raw))
		if text := errorText(err); string(got) != "<"+tt.want || text != tt.err {
			t.Errorf("AppendLine(%q) appends %q, %q, want %q, %q", tt.raw, got[1:], text, tt.want, tt.err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// checkLine asserts that AppendLine changes only line breaks between tokens.
func checkLine(t interface{ Errorf(string, ...any) }, raw []byte) {
	got, err := jsonscan.AppendLine(nil, raw)
	if (err == nil) != (jsonscan.Valid(raw) == nil) {
		t.Errorf("AppendLine(%q): %v, Valid: %v", raw, err, jsonscan.Valid(raw))
	}
	if err != nil {
		return
	}
	breaks := strings.NewReplacer("\n", " ", "\r", " ")
	if want := strings.TrimSpace(breaks.Replace(string(raw))); strings.TrimSpace(string(got)) != want {
		t.Errorf("AppendLine(%q) = %q, want %q", raw, got, want)
	}
	if bytes.ContainsAny(got, "\n\r") || jsonscan.Valid(got) != nil {
		t.Errorf("AppendLine(%q) = %q, which is not one valid line", raw, got)
	}
}

func TestAppendLineKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkLine(t, jsontest.Value(choose(t))) })
}

func FuzzAppendLine(f *testing.F) {
	f.Add([]byte("{\n\"a\" : [1,\r\n2]}"))
	f.Add([]byte("\"a\nb\""))
	f.Fuzz(func(t *testing.T, raw []byte) { checkLine(t, raw) })
}
