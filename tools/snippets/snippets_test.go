package snippets

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the blocks of all pages anew")

const root = "../.."

func pages(t *testing.T) []string {
	t.Helper()
	pages := []string{root + "/README.md"}
	for _, pattern := range []string{"/docs/*.md", "/docs/guides/*.md"} {
		docs, err := filepath.Glob(root + pattern)
		if err != nil || len(docs) == 0 {
			t.Fatalf("pages of %s: %v, %v", pattern, docs, err)
		}
		pages = append(pages, docs...)
	}
	return pages
}

func TestGoBlocksMatchTestedCode(t *testing.T) {
	for _, name := range pages(t) {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		renewed, err := Renew(string(page), func(file string) (string, error) {
			source, err := os.ReadFile(filepath.Join(root, file))
			return string(source), err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if renewed == string(page) {
			continue
		}
		if !*update {
			t.Errorf("%s: a block is not what its part is; run go -C tools generate ./snippets", name)
			continue
		}
		if err := os.WriteFile(name, []byte(renewed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBlockIsCopiedFromItsPart(t *testing.T) {
	const source = "package x\n\nfunc f() {\n\t// docs:a\n\n\tif true {\n\t\tg()\n\t}\n\n\th()\n\t// docs:end\n}\n"
	read := func(string) (string, error) { return source, nil }
	for _, test := range []struct{ name, page, want, fails string }{
		{"a page without code", "# Title\n", "# Title\n", ""},
		{"a block", "x\n<!-- go: f.go#a -->\n```go\nold\n```\ny\n",
			"x\n<!-- go: f.go#a -->\n```go\nif true {\n\tg()\n}\n\nh()\n```\ny\n", ""},
		{"another language", "```sh\nls\n```\n", "```sh\nls\n```\n", ""},
		{"a block from nowhere", "```go\nold\n```\n", "", "no comment with its source"},
		{"a block in a list", "- x\n  ```go\n  old\n  ```\n", "", "is indented"},
		{"a part that is not there", "<!-- go: f.go#b -->\n```go\n```\n", "", `part "b" not found`},
	} {
		got, err := Renew(test.page, read)
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: got %v, want %s", test.name, err, test.fails)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%s: got %q and %v, want %q", test.name, got, err, test.want)
		}
	}
}
