package jsonscan_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func TestValidReportsErrorAndOffset(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{}`, ""}, {`[]`, ""}, {` [ ] `, ""}, {`{"a":[{},[],{"b":{}}],"c":1}`, ""},
		{`0`, ""}, {`-0`, ""}, {`-0.0e+00`, ""}, {`12.5E-3`, ""}, {`"x"`, ""}, {`true`, ""}, {`false`, ""}, {`null`, ""},
		{"\t\r\n {\n\"a\" :\t1 ,\r\"b\": [ 1 , 2 ] } \n", ""},
		{`"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"`, ""}, {`"\ud83d"`, ""},
		{"\"\u007f\u0080\u07ff\u0800\uffff\U00010000\U0010ffff\"", ""},
		{`{"a":1,"a":2}`, ""},

		{``, "unexpected end of JSON at offset 0"}, {"  ", "unexpected end of JSON at offset 2"},
		{`{`, "unexpected end of JSON at offset 1"}, {`[1,`, "unexpected end of JSON at offset 3"},
		{`{"a"`, "unexpected end of JSON at offset 4"}, {`{"a":`, "unexpected end of JSON at offset 5"},
		{`{"a":1`, "unexpected end of JSON at offset 6"}, {`"abc`, "unexpected end of JSON at offset 4"},
		{`"abcdefgh`, "unexpected end of JSON at offset 9"}, {`"a\`, "unexpected end of JSON at offset 3"},
		{`"\u12`, "unexpected end of JSON at offset 5"}, {`-`, "unexpected end of JSON at offset 1"},
		{`1.`, "unexpected end of JSON at offset 2"}, {`1e`, "unexpected end of JSON at offset 2"},
		{`tru`, "unexpected end of JSON at offset 3"},

		{`]`, "invalid character ']' at offset 0"}, {`[}`, "invalid character '}' at offset 1"},
		{`{]`, "invalid character ']' at offset 1"},
		{`[1}`, "invalid character '}' at offset 2"}, {`[1 2]`, "invalid character '2' at offset 3"},
		{`[1,]`, "invalid character ']' at offset 3"},
		{`{"a":1,}`, "invalid character '}' at offset 7"}, {`{"a" 1}`, "invalid character '1' at offset 5"},
		{`{1:1}`, "invalid character '1' at offset 1"},
		{`{"a":}`, "invalid character '}' at offset 5"}, {`{"a":1 "b":2}`, `invalid character '"' at offset 7`},
		{`[[1],{"a":2]]`, "invalid character ']' at offset 11"},
		{`01`, "invalid character '1' at offset 1"}, {`+1`, "invalid character '+' at offset 0"},
		{`.5`, "invalid character '.' at offset 0"},
		{`-a`, "invalid character 'a' at offset 1"}, {`1.x`, "invalid character 'x' at offset 2"},
		{`1e+x`, "invalid character 'x' at offset 3"},
		{`0x10`, "invalid character 'x' at offset 1"}, {`NaN`, "invalid character 'N' at offset 0"},
		{`Infinity`, "invalid character 'I' at offset 0"},
		{`nule`, "invalid character 'e' at offset 3"}, {`trux`, "invalid character 'x' at offset 3"},
		{`falsy`, "invalid character 'y' at offset 4"},
		{`truetrue`, "invalid character 't' at offset 4"}, {`1 2`, "invalid character '2' at offset 2"},
		{`{}{}`, "invalid character '{' at offset 2"},
		{`'a'`, `invalid character '\'' at offset 0`}, {`//`, "invalid character '/' at offset 0"},
		{"[1\v]", `invalid character '\v' at offset 2`},
		{"\"a\nb\"", `invalid character '\n' at offset 2`}, {"\"abcdefgh\x00\"", `invalid character '\x00' at offset 9`},
		{"\x00", `invalid character '\x00' at offset 0`},
		{"{}\x00", `invalid character '\x00' at offset 2`}, {`"\x"`, "invalid character 'x' at offset 2"},
		{`"\u00g0"`, "invalid character 'g' at offset 5"},
		{"\ufeff{}", `invalid character '\ufeff' at offset 0`}, {"[é]", "invalid character 'é' at offset 1"},
		{"[\xff]", "invalid UTF-8 at offset 1"},
		{"\"\x80\"", "invalid UTF-8 at offset 1"}, {"\"\xc1\xbf\"", "invalid UTF-8 at offset 1"},
		{"\"\xc3\"", "invalid UTF-8 at offset 1"},
		{"\"\xe0\x9f\xbf\"", "invalid UTF-8 at offset 1"}, {"\"\xed\xa0\x80\"", "invalid UTF-8 at offset 1"},
		{"\"\xe2\x82\"", "invalid UTF-8 at offset 1"},
		{"\"\xf0\x8f\xbf\xbf\"", "invalid UTF-8 at offset 1"}, {"\"\xf4\x90\x80\x80\"", "invalid UTF-8 at offset 1"},
		{"\"\xf5\x80\x80\x80\"", "invalid UTF-8 at offset 1"},
		{"\"é\xe2\x82", "invalid UTF-8 at offset 3"}, {"\"\xf0\x9f\x98", "invalid UTF-8 at offset 1"},
	} {
		got := ""
		if err := jsonscan.Valid([]byte(tt.text)); err != nil {
			got = err.Error()
			if _, ok := errors.AsType[*jsonscan.SyntaxError](err); !ok {
				t.Errorf("Valid(%q): error is a %T, want a *SyntaxError", tt.text, err)
			}
		}
		if got != tt.want {
			t.Errorf("Valid(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestStringsAreScannedCorrectlyAtEveryAlignment(t *testing.T) {
	for n := range 80 {
		pad := strings.Repeat("x", n)
		for _, tt := range []struct {
			contents string
			valid    bool
		}{
			{"", true}, {`\n`, true}, {`\u0041`, true}, {"é", true}, {"観測", true}, {"😀", true}, {"\x7f", true}, {"~!#[]", true},
			{"\x1f", false}, {"\x00", false}, {"\n", false}, {"\x80", false}, {"\xc3", false}, {"\xe8\xa6", false},
			{"\xf0\x9f\x98", false}, {`\q`, false}, {`\u004`, false},
		} {
			for _, behind := range []string{"", pad} {
				text := `"` + pad + tt.contents + behind + `"`
				if err := jsonscan.Valid([]byte(text)); (err == nil) != tt.valid {
					t.Errorf("Valid(%q) = %v, want valid %v", text, err, tt.valid)
				}
			}
		}
	}
}

func TestNestingIsLimitedWithoutRecursion(t *testing.T) {
	nested := func(n int, open, closing string) []byte {
		return []byte(strings.Repeat(open, n) + "1" + strings.Repeat(closing, n))
	}
	for _, tt := range []struct {
		name string
		text []byte
		ok   bool
	}{
		{"1024 arrays", nested(jsonscan.MaxDepth, "[", "]"), true},
		{"1024 objects", nested(jsonscan.MaxDepth, `{"a":`, "}"), true},
		{"512 of both", nested(jsonscan.MaxDepth/2, `[{"a":`, "}]"), true},
		{"1025 arrays", nested(jsonscan.MaxDepth+1, "[", "]"), false},
		{"1025 objects", nested(jsonscan.MaxDepth+1, `{"a":`, "}"), false},
		{"8 Mi levels", nested(8<<20, "[", "]"), false},
		{"16 Mi brackets", bytes.Repeat([]byte("["), 16<<20), false},
	} {
		err := jsonscan.Valid(tt.text)
		if tt.ok {
			if err != nil {
				t.Errorf("%s: %v, want no error", tt.name, err)
			}
			continue
		}
		if syntax, ok := errors.AsType[*jsonscan.SyntaxError](err); !ok || syntax.Reason != jsonscan.TooDeep {
			t.Errorf("%s: %v, want the reason %q", tt.name, err, jsonscan.TooDeep)
		}
	}
}

func TestValueStopsAfterTheValue(t *testing.T) {
	for _, tt := range []struct {
		text    string
		at, end int
	}{
		{`{"a":[1, 2]} , 3`, 0, 12}, {`{"a":[1, 2]} , 3`, 5, 11}, {`  12,`, 0, 4}, {`"x"garbage`, 0, 3}, {`nullnull`, 4, 8},
		{`-1.5e3}`, 0, 6},
	} {
		if end, err := jsonscan.Value([]byte(tt.text), tt.at); err != nil || end != tt.end {
			t.Errorf("Value(%q, %d) = %d, %v, want %d", tt.text, tt.at, end, err, tt.end)
		}
	}
	for _, at := range []int{3, 4} {
		if _, err := jsonscan.Value([]byte("[1]"), at); err == nil {
			t.Errorf("Value behind the end, at %d, is valid", at)
		}
	}
}
