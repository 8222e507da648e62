package skill

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

const manifest = `---
name: pdf-processing
description: "Extract, fill, and assemble PDF documents"
license: Apache-2.0
metadata: { version: "2.1.0", since: 2026-01-31, stars: 12, ratio: .5, beta: yes, final: true, owner: ~ }
allowed-tools:
  - read
  - 0x1F
---

# Forms
`

func entry(t testing.TB, change func(*Skill)) *Skill {
	t.Helper()
	frontmatter, _, err := ParseManifest([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	uri := FileURI("acme/pdf-processing", Manifest)
	s := &Skill{URI: uri, Frontmatter: frontmatter, Resources: Files{
		{URI: uri, Digest: Digest([]byte(manifest)), Size: int64(len(manifest))},
		{URI: FileURI("acme/pdf-processing", "references/FORMS.md"), Digest: Digest(nil)},
	}}
	if change != nil {
		change(s)
	}
	return s
}

func TestFrontmatterBecomesJSON(t *testing.T) {
	frontmatter, body, err := ParseManifest([]byte(strings.ReplaceAll(manifest, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"allowed-tools":["read",31],"description":"Extract, fill, and assemble PDF documents",` +
		`"license":"Apache-2.0",` +
		`"metadata":{"beta":"yes","final":true,"owner":null,"ratio":0.5,"since":"2026-01-31","stars":12,"version":"2.1.0"},` +
		`"name":"pdf-processing"}`
	if string(frontmatter) != want || string(body) != "\r\n# Forms\r\n" {
		t.Errorf("got %s and %q, want %s", frontmatter, body, want)
	}
}

func TestInvalidFrontmatterIsRejected(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "first line",
		"# Title\n":                         "first line",
		"---\nname: a\n":                    "does not end",
		"---\n---\n":                        "no fields",
		"---\n- a\n---\n":                   "no fields",
		"---\na: &x 1\nb: *x\n---\n":        "aliases",
		"---\na: 1\na: 2\n---\n":            "",
		"---\n? [a]\n: 1\n---\n":            "not text",
		"---\na: .inf\n---\n":               "JSON cannot represent",
		"---\na: 1e999\n---\n":              "too large",
		"---\na: 0xFFFFFFFFFFFFFFFF\n---":   "too large",
		"---\na: [\n---\n":                  "frontmatter",
		"---\n" + deep(40) + "\n---\n":      "nested deeper",
		"---\na: " + long(70_000) + "\n---": "more than 65536 bytes",
	} {
		if _, _, err := ParseManifest([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want an error with %q", text, err, want)
		}
	}
}

func deep(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) }
func long(n int) string { return strings.Repeat("x", n) + "\n" + strings.Repeat("  x\n", 10) }

func TestValidateRejectsInvalidEntries(t *testing.T) {
	if err := entry(t, nil).Validate(); err != nil {
		t.Fatal(err)
	}
	if err := entry(t, func(s *Skill) { s.Resources = nil }).Validate(); err != nil {
		t.Errorf("files that are made on demand: %v", err)
	}
	with := func(name, value string) func(*Skill) {
		return func(s *Skill) { s.Frontmatter, _ = s.Frontmatter.With(name, value) }
	}
	for want, change := range map[string]func(*Skill){
		"does not end with /SKILL.md": func(s *Skill) { s.URI = s.Root() },
		"is not a valid name":         with("name", "PDF"),
		"differs from the directory":  with("name", "pdf"),
		"no description":              with("description", ""),
		"not in its directory":        func(s *Skill) { s.Resources[1].URI = "skill://other/SKILL.md" },
		"listed twice":                func(s *Skill) { s.Resources[1] = s.Resources[0] },
		"hexadecimal":                 func(s *Skill) { s.Resources[1].Digest = strings.ToUpper(s.Resources[1].Digest) },
		"the size is -1":              func(s *Skill) { s.Resources[1].Size = -1 },
		"is not among the files":      func(s *Skill) { s.Resources = s.Resources[1:] },
	} {
		if err := entry(t, change).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// TestURIsOutsideSkillAreRejected inserts paths into each URI of an entry. The paths lead out of a directory, or
// programs decode them in different ways.
func TestURIsOutsideSkillAreRejected(t *testing.T) {
	for _, in := range []string{
		"..", ".", "", "%2e%2e", "%2E.", ".%2e", "%2e", "%252e%252e", "%25252e%25252e", "a%2f..%2fb", "a%5c..%5cb", `a\..\b`,
		"a%252fb", "a%00b", "a%0ab", "a%7f", "a%ff", "a?", "a?b", "a#", "a#b", "%zz",
	} {
		root := func(s *Skill) {
			for i := range s.Resources {
				s.Resources[i].URI = strings.Replace(s.Resources[i].URI, "acme", "acme/"+in, 1)
			}
			s.URI = strings.Replace(s.URI, "acme", "acme/"+in, 1)
		}
		file := func(s *Skill) { s.Resources[1].URI = s.Root() + "/" + in + "/x" }
		last := func(s *Skill) { s.Resources[1].URI = s.Root() + "/" + in }
		dynamic := func(s *Skill) { root(s); s.Resources = nil }
		for name, change := range map[string]func(*Skill){"root": root, "file": file, "last": last, "dynamic": dynamic} {
			if s := entry(t, change); s.Validate() == nil {
				t.Errorf("%s: %q is valid, with %v", name, s.URI, s.Resources)
			}
		}
	}
	for _, at := range []string{"skill://..", "skill:acme/..", "skill:/..", "file:///a/..", "file:////a",
		"https://h/%2e%2e"} {
		if s := entry(t, func(s *Skill) { s.URI, s.Resources = at+"/pdf-processing/SKILL.md", nil }); s.Validate() == nil {
			t.Errorf("%q is valid", s.URI)
		}
	}
	for _, at := range []string{"skill://acme", "skill:acme", "file:///a b", "https://h:80/a%20b", "skill://a/100%25"} {
		s := entry(t, func(s *Skill) { s.URI, s.Resources = at+"/pdf-processing/SKILL.md", nil })
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
	again := entry(t, func(s *Skill) { s.Resources[1].URI = s.Root() + "/SKILL%2emd" })
	if err := again.Validate(); err == nil || !strings.Contains(err.Error(), "listed twice") {
		t.Errorf("a file twice, by two spellings: %v", err)
	}
}

func TestSkillNamesAreChecked(t *testing.T) {
	for _, name := range []string{"a", "a1", "pdf-processing", strings.Repeat("a", 64)} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "-a", "a-", "a--b", "A", "a_b", "ä", "a/b", strings.Repeat("a", 65)} {
		if CheckName(name) == nil {
			t.Errorf("%q is accepted as a name", name)
		}
	}
}

func TestVerifyManifestComparesWithTheEntry(t *testing.T) {
	if err := entry(t, nil).VerifyManifest([]byte(manifest)); err != nil {
		t.Fatal(err)
	}
	evil := strings.Replace(manifest, "# Forms", "# Evil!", 1)
	other := strings.Replace(manifest, "stars: 12", "stars: 13", 1)
	// The server may have built the entry for the changed file, except for the entry's frontmatter.
	written := func(s *Skill) {
		s.Resources[0].Digest, s.Resources[0].Size = Digest([]byte(other)), int64(len(other))
	}
	for name, c := range map[string]struct {
		entry   *Skill
		content string
		want    string
	}{
		"other bytes":        {entry(t, nil), evil, "digest"},
		"more bytes":         {entry(t, nil), manifest + "x", "bytes"},
		"other frontmatter":  {entry(t, written), other, `"metadata"`},
		"without any digest": {entry(t, func(s *Skill) { s.Resources = nil }), other, `"metadata"`},
		"an additional field": {
			entry(t, func(s *Skill) { s.Frontmatter, _ = s.Frontmatter.With("hooks", "x") }), manifest, `"hooks"`,
		},
		"a duplicate name": {
			entry(t, func(s *Skill) {
				s.Frontmatter = append(mcp.Object(`{"name":"x",`), s.Frontmatter[1:]...)
			}), manifest, "differs",
		},
		"not listed": {entry(t, func(s *Skill) { s.Resources = s.Resources[1:] }), manifest, "does not list"},
	} {
		err := c.entry.VerifyManifest([]byte(c.content))
		if !errors.Is(err, ErrUnverified) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want ErrUnverified with %q", name, err, c.want)
		}
	}
}

func TestResolvedPathsStayInTheDirectory(t *testing.T) {
	s := entry(t, nil)
	for path, want := range map[string]string{
		"references/FORMS.md": "skill://acme/pdf-processing/references/FORMS.md",
		"a b#c?.md":           "skill://acme/pdf-processing/a%20b%23c%3F.md",
	} {
		if got, err := s.Resolve(path); got != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	for _, path := range []string{"%2e%2e/x", `a\..\x`, "a\x00b", "%252E%252E/x", "a/%2fetc", "",
		"../x", "a/../../x", "/etc/passwd", "a//b", "./a", "a/."} {
		if got, err := s.Resolve(path); err == nil {
			t.Errorf("%q leads to %s, want an error", path, got)
		}
	}
}

func TestFilesAreAListOrDynamic(t *testing.T) {
	for text, ok := range map[string]bool{`"dynamic"`: true, `[]`: true, `"static"`: false, `null`: false, `{}`: false} {
		var s Skill
		err := json.Unmarshal([]byte(`{"uri":"u","frontmatter":{},"resources":`+text+`}`), &s)
		if (err == nil) != ok {
			t.Errorf("%s: got %v", text, err)
		}
		if ok {
			if again, err := json.Marshal(&s); err != nil || !strings.HasSuffix(string(again), `"resources":`+text+`}`) {
				t.Errorf("%s became %s, %v", text, again, err)
			}
		}
	}
}

// A JSON value is also YAML. In the frontmatter it keeps its value.
func TestJSONInFrontmatterIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOf(rapid.StringMatching(`[a-z]{1,8}`), rapid.OneOf(
			rapid.Map(rapid.StringMatching(`[ -~]{0,20}`), func(s string) any { return s }),
			rapid.Map(rapid.Int32(), func(i int32) any { return i }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 0, 3), func(f []float64) any { return f }),
		)).Draw(t, "fields")
		if len(fields) == 0 {
			return
		}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := ParseManifest([]byte("---\n" + string(text) + "\n---\n"))
		if err != nil {
			t.Fatal(err)
		}
		if field, same := sameFields(got, mcp.Object(text)); !same {
			t.Errorf("%s became %s, which differs in %q", text, got, field)
		}
	})
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(manifest))
	f.Add([]byte("---\na: *x\n---"))
	f.Fuzz(func(t *testing.T, content []byte) {
		frontmatter, _, err := ParseManifest(content)
		if err == nil && !json.Valid(frontmatter) {
			t.Errorf("%q became %q", content, frontmatter)
		}
	})
}
