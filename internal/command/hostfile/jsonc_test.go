package hostfile

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan/jsontest"
)

func choose(t *rapid.T) jsontest.Choose {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
}

func TestCommentsAndCommasBecomeSpaces(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                `{"a":1}`,
		"{\"a\":1} // x":         "{\"a\":1}     ",
		"// x\r\n[1]":            "    \r\n[1]",
		"// x\r[1]":              "    \r[1]", // \r ends a comment in editors, too
		"[/* ] \n \" */1,]":      "[     \n     1 ]",
		"[1 , /* x */ ]":         "[1           ]",
		`["//",/**/"/*","\"//"]`: `["//",    "/*","\"//"]`,
		`{"a":[{"b":1,},],}`:     `{"a":[{"b":1 } ] }`,
		"\uFEFF{}":               "   {}",
		`["a,]",]`:               `["a,]" ]`,
		// Other syntax errors stay.
		"[,]": "[,]", "[1,,]": "[1,,]", "{,}": "{,}", `{"a":,}`: `{"a":,}`,
		"/* [1]": "/* [1]", "[1] /": "[1] /", "[/*/1]": "[/*/1]",
		`["a`: `["a`, `["a\`: `["a\`, ",]": ",]",
	} {
		if got := string(plain([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestPlainTextKeepsItsLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsontest.Value(choose(t))
		if got := plain(text); !bytes.Equal(got, text) {
			t.Errorf("JSON: got %q, want %q unchanged", got, text)
		}
		text = jsontest.Mutate(choose(t), []byte(strings.ReplaceAll(string(text), ",", ",/*\n*/ // ,\n")))
		if got := plain(text); len(got) != len(text) || bytes.Count(got, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Errorf("got %q, want the same number of bytes and lines as in %q", got, text)
		}
	})
}

func TestMemberOffsetsAreCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsontest.Object(choose(t))
		members, err := membersOf(text)
		if err != nil {
			return // an object has a name twice, or a name has half a surrogate pair
		}
		for _, m := range members {
			name, err := membersOf([]byte("{" + string(text[m.at:m.nameEnd]) + ":1}"))
			if err != nil || name[0].name != m.name || string(text[m.from:m.end()]) != string(m.value) {
				t.Errorf("%q in %q: got %q and %q there, %v", m.name, text, text[m.at:m.nameEnd], text[m.from:m.end()], err)
			}
		}
	})
	for _, text := range []string{
		`{} 1`, `{}{}`, `{"a":1,"a":2}`, `{1:2}`, `{"a"}`, `{"a":1`, `{]`, `[]`, ``, `{"a":1 "b":2}`,
	} {
		if _, err := membersOf([]byte(text)); err == nil {
			t.Errorf("%s: got no error", text)
		}
	}
}
