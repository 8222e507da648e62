package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/skill"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func newCatalog(t *testing.T) *Catalog {
	t.Helper()
	c, err := Serve(mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &mcpserver.Options{
		Capabilities: mcp.ServerCapabilities{Extensions: Capability()}, Telemetry: telemetry.Off(),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func manifest(name string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: does " + name + "\n---\n")}
}

func (c *Catalog) all() []string {
	var uris []string
	for _, s := range c.list {
		uris = append(uris, s.URI)
	}
	return uris
}

func TestNestedSkillIsAlsoASkillOfItsOwn(t *testing.T) {
	c := newCatalog(t)
	err := c.Add("acme/outer", fstest.MapFS{
		"SKILL.md": manifest("outer"), "a.md": {}, "deep/inner/SKILL.md": manifest("inner"), "deep/inner/b.md": {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(c.all()),
		"[skill://acme/outer/SKILL.md skill://acme/outer/deep/inner/SKILL.md]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for uri, files := range map[string]int{"skill://acme/outer/SKILL.md": 4, "skill://acme/outer/deep/inner/SKILL.md": 2} {
		if got := len(c.byURI[uri].Resources); got != files {
			t.Errorf("%s has %d files, want %d", uri, got, files)
		}
	}
	if !c.Remove("acme/outer") || c.Remove("acme/outer") || len(c.list)+len(c.dirs) != 0 {
		t.Errorf("got %v and %v after removing, want nothing, once", c.all(), c.dirs)
	}
	if err := c.Add("acme/outer", fstest.MapFS{"SKILL.md": manifest("outer")}); err != nil {
		t.Errorf("added again: %v", err)
	}
}

func TestInvalidSkillsAreRejected(t *testing.T) {
	many := fstest.MapFS{"SKILL.md": manifest("a")}
	for i := range skill.MaxFiles {
		many[fmt.Sprintf("%d.md", i)] = &fstest.MapFile{}
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := t.TempDir()
	if err := os.WriteFile(filepath.Join(linked, "SKILL.md"), manifest("a").Data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(linked, "link.md")); err != nil {
		t.Fatal(err)
	}
	linkedDirectory := t.TempDir()
	if err := os.WriteFile(filepath.Join(linkedDirectory, "SKILL.md"), manifest("a").Data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(linkedDirectory, "dir")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(linked)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()

	c := newCatalog(t)
	if err := c.Add("taken/a", fstest.MapFS{"SKILL.md": manifest("a")}); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(c.all())
	for _, test := range []struct {
		path, want string
		add        func(path string) error
	}{
		{"a", "it has no SKILL.md", func(p string) error { return c.Add(p, fstest.MapFS{"a.md": {}}) }},
		{"b", `the name "a" differs`, func(p string) error { return c.Add(p, fstest.MapFS{"SKILL.md": manifest("a")}) }},
		{"../a", "want a path of names", func(p string) error { return c.Add(p, fstest.MapFS{"SKILL.md": manifest("a")}) }},
		{"a", "first line", func(p string) error { return c.Add(p, fstest.MapFS{"SKILL.md": {Data: []byte("# A")}}) }},
		{"a", "x/SKILL.md", func(p string) error {
			return c.Add(p, fstest.MapFS{"SKILL.md": manifest("a"), "x/SKILL.md": manifest("y")})
		}},
		{"a", "more than 512 files", func(p string) error { return c.Add(p, many) }},
		{"a", "more than 16777216 bytes", func(p string) error {
			return c.Add(p, fstest.MapFS{"SKILL.md": manifest("a"), "b": {Data: make([]byte, skill.MaxBytes)}})
		}},
		{"a", "link.md is a symbolic link", func(p string) error { return c.Add(p, root.FS()) }},
		{"a", "link.md is a symbolic link", func(p string) error { return c.Add(p, os.DirFS(linked)) }},
		{"a", "dir is a symbolic link", func(p string) error { return c.Add(p, os.DirFS(linkedDirectory)) }},
		{"taken/a", "overlaps with", func(p string) error { return c.Add(p, fstest.MapFS{"SKILL.md": manifest("a")}) }},
		{"taken/a/b", "overlaps with", func(p string) error { return c.Add(p, fstest.MapFS{"SKILL.md": manifest("b")}) }},
		{"taken", "overlaps with", func(p string) error { return c.Add(p, fstest.MapFS{"SKILL.md": manifest("taken")}) }},
	} {
		if err := test.add(test.path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.path, err, test.want)
		}
	}
	if got := fmt.Sprint(c.all()); got != before {
		t.Errorf("got %s, want %s", got, before)
	}
}

// The test adds and removes skills between pages. Every skill that remains must be listed exactly once.
func TestPagesStayConsistentWhileSkillsChange(t *testing.T) {
	uri := func(s string) string { return s }
	var all []string
	for i := range 3 * pageSize {
		all = append(all, fmt.Sprintf("skill://%03d/SKILL.md", 2*i))
	}
	some, next, err := page(all, nil, uri)
	if err != nil || len(some) != pageSize || next == nil {
		t.Fatalf("got %d entries, %v, %v", len(some), next, err)
	}
	// the last skill of the page has been removed
	changed := append([]string{"skill://000/SKILL.md", "skill://001/SKILL.md"}, all[pageSize:]...)
	rest, next, err := page(changed, next, uri)
	if err != nil || len(rest) != pageSize || rest[0] != all[pageSize] || next == nil {
		t.Errorf("got %v, %v, %v, want the page from %s", rest, next, err, all[pageSize])
	}
	if last, next, err := page(changed, next, uri); err != nil || len(last) != pageSize || next != nil {
		t.Errorf("got %d entries, %v, %v, want the last page", len(last), next, err)
	}
	for _, cursor := range []string{"", "x", "%", "c2tpbGw"} {
		if _, _, err := page(all, &cursor, uri); err == nil {
			t.Errorf("the cursor %q is taken", cursor)
		}
	}
	if none, next, err := page(nil, nil, uri); none == nil || next != nil || err != nil {
		t.Errorf("got %v, %v, %v, want an empty list", none, next, err)
	}
}
