package explain

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOwnWordsOmitsQuotations(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"connection refused": "connection refused",
		`exited; its last output: "no such host"`: "exited; its last output: ",
		`a "b" c "d" e`:                          "a  c  e",
		`said "\"connection refused\"" and left`: "said  and left",
		`said "connection refused`:               "said ",
		`said "\`:                                "said ",
	} {
		if got := ownWords(text); got != want {
			t.Errorf("ownWords(%q): got %q, want %q", text, got, want)
		}
	}
}

func TestQuotedTextDoesNotAffectTheCause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.String().Draw(t, "said")
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(said)
		if got := ownWords(`before "` + quoted + `" behind`); got != "before  behind" {
			t.Fatalf("got %q", got)
		}
	})
}

func TestShownTextStaysWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		got := shown(text, n)
		if len(got) > n+len("…") || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\x1b\u202e") {
			t.Fatalf("got %q of %d bytes", got, len(got))
		}
	})
}
