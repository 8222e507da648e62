package glob

import (
	"path"
	"testing"

	"pgregory.net/rapid"
)

func TestPatternsMatchWholeNames(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"read_*", []string{"read_", "read_file", "read_a/b"}, []string{"Read_file", "xread_file", "read"}},
		{"*", []string{"", "a/b", "a\nb"}, nil},
		{"a?c", []string{"abc", "a/c", "aéc"}, []string{"ac", "abbc"}},
		{"[a-c]x", []string{"ax", "cx"}, []string{"dx", "-x"}},
		{"[^a-c]x", []string{"dx", "/x"}, []string{"ax", "x"}},
		{`[\]\-]`, []string{"]", "-"}, []string{`\`}},
		{"[z-a]", nil, []string{"z", "a", "m"}},
		{"[^z-a]", []string{"z", "m"}, nil},
		{`\*.+`, []string{"*.+"}, []string{"a.+", "*xx"}},
		{"fs/*", []string{"fs/read", "fs/a/b"}, []string{"fs"}},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		for _, name := range c.yes {
			if !p.MatchString(name) {
				t.Errorf("%q does not match %q", c.pattern, name)
			}
		}
		for _, name := range c.no {
			if p.MatchString(name) {
				t.Errorf("%q matches %q", c.pattern, name)
			}
		}
	}
	for _, bad := range []string{"", "[", "[]", "a[b", `a\`, "[a-]", "[-z]"} {
		if _, err := Compile(bad); err == nil {
			t.Errorf("%q is a pattern, want an error", bad)
		}
	}
}

func TestPatternsAgreeWithPathMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune(`ab.*?[]^-\é`)), 1, 8, -1).Draw(t, "pattern")
		name := rapid.StringOfN(rapid.SampledFrom([]rune(`ab.*[]^-\é`)), 0, 6, -1).Draw(t, "name")
		want, bad := path.Match(pattern, name)
		p, err := Compile(pattern)
		if (err != nil) != (bad != nil) {
			t.Fatalf("%q: got %v, path.Match says %v", pattern, err, bad)
		}
		if err == nil && p.MatchString(name) != want {
			t.Errorf("%q matches %q: got %v, path.Match says %v", pattern, name, !want, want)
		}
	})
}
