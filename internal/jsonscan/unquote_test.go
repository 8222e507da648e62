package jsonscan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func TestUnquoteReplacesEscapesInPlace(t *testing.T) {
	long := strings.Repeat("x", 37)
	for _, tt := range []struct{ contents, want string }{
		{``, ""}, {`plain`, "plain"}, {`\n`, "\n"}, {`\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t"},
		{`a\u0062c`, "abc"}, {`\u00e9`, "é"}, {`\u00E9`, "é"}, {`\u89b3`, "観"}, {`\u0000`, "\x00"}, {`\uffff`, "\uffff"},
		{`\ud83d\ude00`, "😀"}, {`\uD83D\uDE00!`, "😀!"}, {`\udbff\udfff`, "\U0010ffff"},
		{`\ud83d`, "\ufffd"}, {`\ude00`, "\ufffd"}, {`\ud83dx`, "\ufffdx"}, {`\ud83d\n`, "\ufffd\n"},
		{`\ud83d\u0041`, "\ufffdA"},
		{`\ud83d\ud83d\ude00`, "\ufffd😀"}, {`\ude00\ud83d`, "\ufffd\ufffd"},
		{long + `\t` + long, long + "\t" + long}, {`\t` + long + `\u0041` + long, "\t" + long + "A" + long},
		{strings.Repeat(`1234567\"`, 20), strings.Repeat(`1234567"`, 20)},
		{strings.Repeat(`\\`, 50), strings.Repeat(`\`, 50)},
	} {
		b := []byte(tt.contents)
		got := jsonscan.Unquote(b)
		if string(got) != tt.want {
			t.Errorf("Unquote(%q) = %q, want %q", tt.contents, got, tt.want)
		}
		if cap(got) != len(got) {
			t.Errorf("Unquote(%q): capacity is %d, want %d, so that appending cannot overwrite the frame", tt.contents, cap(got),
				len(got))
		}
	}
}

// unquoted returns the result of decoding the string text, quotes included, with jsonscan, and whether jsonscan accepts
// it.
func unquoted(text string) (string, bool) {
	s, end, err := jsonscan.Text([]byte(text), 0)
	return s, err == nil && end == len(text)
}

// checkValidating asserts that Text, which validates and decodes in one pass, accepts the same strings as String,
// rejects others for the same reason, and does not change the bytes behind the string.
func checkValidating(t interface{ Fatalf(string, ...any) }, text string) {
	b := []byte(text)
	_, end, err := jsonscan.Text(b, 0)
	wantEnd, _, wantErr := jsonscan.String([]byte(text), 0)
	if end != wantEnd || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("Text(%q) = %d, %v; want %d, %v", text, end, err, wantEnd, wantErr)
	}
	if string(b[end:]) != text[end:] {
		t.Fatalf("Text(%q): %q is behind it now, want that left alone", text, b[end:])
	}
}

// checkText compares Text with encoding/json. Both replace lone surrogates; encoding/json also replaces invalid UTF-8,
// which Text rejects.
func checkText(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	checkValidating(t, text)
	got, ok := unquoted(text)
	if !ok {
		return // other tests cover validity
	}
	var want string
	if err := json.Unmarshal([]byte(text), &want); err != nil || got != want {
		t.Fatalf("Text(%q) = %q, want %q (%v)", text, got, want, err)
	}
	if again, ok := unquoted(string(jsonscan.AppendString(nil, got))); !ok || again != got {
		t.Fatalf("AppendString(%q) says %q, %v", got, again, ok)
	}
}

func TestTextMatchesEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			"a", "12345678", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\ud83d`, `\ude00`, `\uD83D\uDE00`, "é", "観", "😀",
			"\xed\xa0\x80", "\xff", "\n", `\x`, `\u00g0`, `"`, strings.Repeat("x", 30),
		})).Draw(t, "pieces")
		checkText(t, `"`+strings.Join(pieces, "")+`"`)
	})
}

func FuzzUnquote(f *testing.F) {
	for _, s := range []string{``, `a\u0041`, `\ud83d\ude00`, `\ud83d`, `\\\"`, "é\\n観", strings.Repeat(`\t12345678`, 5)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, contents string) { checkText(t, `"`+contents+`"`) })
}

func TestTextDistinguishesWrongTypesFromBrokenStrings(t *testing.T) {
	for _, tt := range []struct {
		text     string
		mistyped bool
		want     string
	}{
		{` 12`, true, "no string at offset 1"}, {`{}`, true, "no string at offset 0"},
		{`"a`, false, "unexpected end of JSON at offset 2"},
		{``, false, "unexpected end of JSON at offset 0"}, {"\x00", false, `invalid character '\x00' at offset 0`},
	} {
		_, _, err := jsonscan.Text([]byte(tt.text), 0)
		_, mistyped := errors.AsType[*jsonscan.TypeError](err)
		if err == nil || err.Error() != tt.want || mistyped != tt.mistyped {
			t.Errorf("Text(%q): error %v (%T), want %q, a TypeError: %v", tt.text, err, err, tt.want, tt.mistyped)
		}
	}
}

func TestAppendStringEscapesSpecialCharacters(t *testing.T) {
	for _, tt := range []struct{ s, want string }{
		{"", `""`}, {"plain é 観 😀", `"plain é 観 😀"`}, {"\"\\\n\r\t", `"\"\\\n\r\t"`},
		{"a\x00b\x1fc\x7f", `"a\u0000b\u001fc` + "\x7f\""},
		{"a\xffb\xed\xa0\x80", `"a` + "\ufffdb\ufffd\ufffd\ufffd\""}, {"\ufffd", "\"\ufffd\""},
		{strings.Repeat("x", 40) + "\"", `"` + strings.Repeat("x", 40) + `\""`},
	} {
		if got := string(jsonscan.AppendString([]byte("<"), tt.s)); got != "<"+tt.want {
			t.Errorf("AppendString(%q) appends %s, want %s", tt.s, got, tt.want)
		}
	}
}
