package visible

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestControlCharactersAreReplaced(t *testing.T) {
	for name, tc := range map[string]struct{ text, line, several, indented string }{
		"plain":           {"a b", "a b", "a b", "a b"},
		"a second line":   {"a\nb", "a b", "a\nb", "a\n    b"},
		"other breaks":    {"a\u2028b\u0085c\vd\fe", "a b c d e", "a�b�c�d�e", "a�b�c�d�e"},
		"carriage return": {"a\r\nb\rc", "a b c", "a\nb�c", "a\n    b�c"},
		"escape":          {"\x1b[31mred", "�[31mred", "�[31mred", "�[31mred"},
		"C1 and DEL":      {"\u009b31m\x7f", "�31m�", "�31m�", "�31m�"},
		"bidirectional":   {"a\u202eb\u2066c\u200f", "a�b�c�", "a�b�c�", "a�b�c�"},
		"joined":          {"👩\u200d💻", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"},
		"invalid":         {"a\xffb", "a�b", "a�b", "a�b"},
		"marks": {"e" + strings.Repeat("\u0301", 9) + "e\u0301", "e" + strings.Repeat("\u0301", 4) + "e\u0301",
			"e" + strings.Repeat("\u0301", 4) + "e\u0301", "e" + strings.Repeat("\u0301", 4) + "e\u0301"},
	} {
		if got := Line(tc.text); got != tc.line {
			t.Errorf("%s: Line(%q) = %q, want %q", name, tc.text, got, tc.line)
		}
		if got := Text(tc.text); got != tc.several {
			t.Errorf("%s: Text(%q) = %q, want %q", name, tc.text, got, tc.several)
		}
		if got := Indented(tc.text); got != tc.indented {
			t.Errorf("%s: Indented(%q) = %q, want %q", name, tc.text, got, tc.indented)
		}
	}
	if got := FirstLine("\n a\tb \nc"); got != "a b" {
		t.Errorf("FirstLine = %q, want %q", got, "a b")
	}
}

func TestLineHasNoHiddenCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Mn))).
			Draw(t, "text")
		for _, r := range Line(s) {
			if !Rune(r) {
				t.Fatalf("Line(%q) has %U", s, r)
			}
		}
		for _, r := range Text(s) {
			if !Rune(r) && r != '\n' && r != '\t' {
				t.Fatalf("Text(%q) has %U", s, r)
			}
		}
	})
}

func TestEscapedJSONKeepsItsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value")
		raw, err := json.MarshalIndent(map[string]any{key: value, "all": []string{"\u0085\x7f\u202e\U000e0001", value}}, "\r",
			"\t")
		if err != nil {
			t.Fatal(err)
		}
		shown := JSON(raw)
		var want, got any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(shown, &got); err != nil || !reflect.DeepEqual(want, got) {
			t.Fatalf("JSON(%q) = %q: %v", raw, shown, err)
		}
		for _, r := range string(shown) {
			if !Rune(r) && r != '\n' && r != '\t' {
				t.Fatalf("JSON(%q) has %U", raw, r)
			}
		}
	})
}
