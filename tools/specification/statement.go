package specification

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Revisions are those whose statements are in the table, newest first. The older ones say less of the same.
var Revisions = []string{"2026-07-28", "2025-11-25"}

// A Statement is a sentence of the specification that says MUST.
type Statement struct {
	Section string   `json:"section"`         // heading it stands under
	Text    string   `json:"text"`            // without markup
	Who     string   `json:"who"`             // has to do it, one of those in roles
	Tests   []string `json:"tests,omitempty"` // directory, dot, name; a subtest behind a slash
	Why     string   `json:"why,omitempty"`   // there is no test, or what is to be known beside them
}

// roles are who a statement is about. Those in the second half are not this project: what a statement asks of them is a
// duty of the programs around it, and Why says what the project does for it, if anything.
var roles = map[string]string{
	"client":               "client",
	"server":               "server",
	"both":                 "both",
	"host":                 "host application",
	"authorization server": "authorization server",
	"author":               "author of an extension or a later revision",
}

// isOurs reports whether the project itself has to do what s says.
func (s *Statement) isOurs() bool { return s.Who == "client" || s.Who == "server" || s.Who == "both" }

// A Page is one page of the specification.
type Page struct {
	Revision, Path string // such as 2026-07-28, basic/index
	Statements     []Statement
}

func (p *Page) String() string { return p.Revision + " " + p.Path }

// extensions are the pages that stand in no revision, by their paths, and where people read them. Their statements are
// in our own words.
var extensions = map[string]string{
	"extensions/tasks": "https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/2026-07-28/tasks.md",
}

// URL is where people read the page.
func (p *Page) URL() string {
	if url := extensions[p.Path]; url != "" {
		return url
	}
	return "https://modelcontextprotocol.io/specification/" + p.Revision + "/" + strings.TrimSuffix(p.Path, "/index")
}

// Pages reads the pages in directory dir, in the order of Revisions and paths.
func Pages(dir string) ([]Page, error) {
	var pages []Page
	for _, revision := range Revisions {
		files, err := filepath.Glob(filepath.Join(dir, revision, "*.json"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			p := Page{Revision: revision, Path: strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".json"), "~", "/")}
			d := json.NewDecoder(bytes.NewReader(data))
			d.DisallowUnknownFields()
			if err := d.Decode(&p.Statements); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			pages = append(pages, p)
		}
	}
	return pages, nil
}

// file is where a page's statements are, below a directory.
func (p *Page) file() string {
	return path.Join(p.Revision, strings.ReplaceAll(p.Path, "/", "~")+".json")
}
