package toolargs

import (
	"strings"
	"testing"
)

func TestInvalidObjectErrorMarksThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":6 "b":3}`: "x: not a JSON object: line 1, column 8: invalid character '\"' after object value " +
			"(expecting ',' or '}')\n{\"a\":6 \"b\":3}\n       ^",
		"{\n\t\"ü\": ä}": "x: not a JSON object: line 2, column 7: invalid character 'ä' at start of value\n" +
			" \"ü\": ä}\n      ^",
		`{"a":1,"a":2}`: "x: not a JSON object: line 1, column 8: duplicate object member name\n{\"a\":1,\"a\":2}\n       ^",
		`{"a":`:         "x: not a JSON object: line 1, column 6: unexpected end of the text\n{\"a\":\n     ^",
		``:              "x: not a JSON object: line 1, column 1: unexpected end of the text\n\n^",
		`{} {}`:         "x: not a JSON object: line 1, column 3: more than one value\n{} {}\n  ^",
		`[6,3]`:         "x: not a JSON object, but an array: [6,3]\n^",
		`{"a":"` + strings.Repeat("y", 100) + `",}` + strings.Repeat(" ", 50): "x: not a JSON object: line 1, column 109: " +
			"invalid character '}' at start of string (expecting '\"')\n…" + strings.Repeat("y", 38) + `",}` +
			strings.Repeat(" ", 39) + "…\n" + strings.Repeat(" ", 41) + "^",
		"{\"a\":\"\x1b[2J\"}": "x: not a JSON object: line 1, column 7: invalid character '\\x1b' in string (expecting " +
			"non-control character)\n{\"a\":\"\ufffd[2J\"}\n      ^",
	} {
		if err := CheckObject("x", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %q\nwant %q", text, err, want)
		}
	}
	for _, text := range []string{`{}`, " {\"a\":1}\n"} {
		if err := CheckObject("x", []byte(text)); err != nil {
			t.Errorf("%q: got %v, want no error", text, err)
		}
	}
}
