package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// TestNoLinkIsBroken checks each link of a page to a file of the repository, and to a heading of a page. It does not
// follow links to other hosts.
func TestNoLinkIsBroken(t *testing.T) {
	problems, links, err := brokenLinks(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
	if links < 200 {
		t.Errorf("%d links were followed, want those of all pages", links)
	}
}

// TestTheIndexHasEveryPage compares docs/README.md with the pages of docs.
func TestTheIndexHasEveryPage(t *testing.T) {
	root := os.DirFS("../..")
	index, err := fs.ReadFile(root, "docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{"docs/README.md": true}
	for _, target := range linksOf(string(index)) {
		name, _, _ := strings.Cut(target, "#")
		linked[path.Join("docs", name)] = true
	}
	for _, dir := range []string{"docs", "docs/guides", "docs/telemetry"} {
		pages, err := fs.Glob(root, dir+"/*.md")
		if err != nil || len(pages) == 0 {
			t.Fatalf("pages of %s: %v, %v", dir, pages, err)
		}
		for _, page := range pages {
			if !linked[page] {
				t.Errorf("docs/README.md has no link to %s", page)
			}
		}
	}
}

// brokenLinks reads all pages, and returns the broken links and the number of checked links.
func brokenLinks(root fs.FS) (problems []string, links int, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		page, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, target := range linksOf(string(page)) {
			if strings.Contains(target, ":") { // another host
				continue
			}
			links++
			if problem := follow(root, name, target); problem != "" {
				problems = append(problems, fmt.Sprintf("%s: the link %s leads to %s", name, target, problem))
			}
		}
		return nil
	})
	return problems, links, err
}

// follow returns the error of a link, empty if the link is valid.
func follow(root fs.FS, page, target string) (missing string) {
	file, heading, toHeading := strings.Cut(target, "#")
	name := page
	if file != "" {
		name = path.Join(path.Dir(page), file)
	}
	if _, err := fs.Stat(root, name); err != nil {
		return "no file"
	}
	if !toHeading || path.Ext(name) != ".md" {
		return ""
	}
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err.Error()
	}
	if !anchorsOf(string(text))[heading] {
		return "no heading"
	}
	return ""
}

var (
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline = regexp.MustCompile("`[^`\n]*`")
	link   = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	attrib = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	title  = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	named  = regexp.MustCompile(`<a id="([^"]+)"></a>`)
)

// linksOf returns the targets of a page's links and pictures, except those in code.
func linksOf(page string) (targets []string) {
	page = inline.ReplaceAllString(fenced.ReplaceAllString(page, ""), "")
	for _, pattern := range []*regexp.Regexp{link, attrib} {
		for _, m := range pattern.FindAllStringSubmatch(page, -1) {
			targets = append(targets, m[1])
		}
	}
	return targets
}

// anchorsOf returns the anchors of the headings of a page, by GitHub's rule (letters in lower case; digits, hyphens and
// underscores stay; spaces become hyphens; a duplicate gets a number), and the page's own anchors, <a id="name"></a>.
func anchorsOf(page string) map[string]bool {
	anchors := map[string]bool{}
	page = fenced.ReplaceAllString(page, "")
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		anchors[m[1]] = true
	}
	for _, m := range title.FindAllStringSubmatch(page, -1) {
		text := link.ReplaceAllString(m[1], "")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, text)
		unique := name
		for n := 1; anchors[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		anchors[unique] = true
	}
	return anchors
}

func TestLinksToHeadingsAreChecked(t *testing.T) {
	root := fstest.MapFS{
		"README.md": {Data: []byte("# Title\n[a](docs/a.md) [b](docs/a.md#what-is-not-lost-and-what-is) [c](#title)\n" +
			"[d](docs) ![e](docs/x.png) [f](https://example.com/x.md) <a href=\"docs/a.md#a-b\"></a>\n" +
			"`[in code](nowhere)`\n```sh\n[in a block](nowhere)\n```\n")},
		"docs/a.md": {Data: []byte("## What is not lost, and what is\n### `a_b` \n### `a_b`\n## a-b\n" +
			"[up](../README.md#title) [second](#a_b-1) <a id=\"a.b\"></a> [named](#a.b)\n" +
			"[file](b.md)\n[heading](a.md#none)\n[block](#no-heading)\n" +
			"```sh\n# no heading\n```\n")},
		"docs/x.png":        {},
		"testdata/other.md": {Data: []byte("[no page](nowhere)")},
	}
	problems, links, err := brokenLinks(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"docs/a.md: the link b.md leads to no file",
		"docs/a.md: the link a.md#none leads to no heading",
		"docs/a.md: the link #no-heading leads to no heading",
	}
	if strings.Join(problems, "\n") != strings.Join(want, "\n") {
		t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(problems, "\n"))
	}
	if links != 12 {
		t.Errorf("%d links were followed, want 12", links)
	}
}
