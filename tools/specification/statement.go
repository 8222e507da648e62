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

// Revisions are the revisions in the table, newest first. The older ones have fewer statements of the same kind.
var Revisions = []string{"2026-07-28", "2025-11-25"}

// A Statement is a sentence of the specification with MUST.
type Statement struct {
	Section string   `json:"section"`         // heading above it
	Text    string   `json:"text"`            // without markup
	Who     string   `json:"who"`             // the responsible party, one of roles
	Tests   []string `json:"tests,omitempty"` // directory, dot, name; a subtest after a slash
	Why     string   `json:"why,omitempty"`   // reason for the absence of a test, or a remark
}

// roles are the parties of statements. The last three are outside of this project: their statements are duties of the
// programs around it, and Why describes the project's support, if any.
var roles = map[string]string{
	"client":               "client",
	"server":               "server",
	"both":                 "both",
	"host":                 "host application",
	"authorization server": "authorization server",
	"author":               "author of an extension or a later revision",
}

// isOurs reports whether the project itself has to fulfil s.
func (s *Statement) isOurs() bool { return s.Who == "client" || s.Who == "server" || s.Who == "both" }

// A Page is one page of the specification.
type Page struct {
	Revision, Path string // such as 2026-07-28, basic/index
	Statements     []Statement
}

func (p *Page) String() string { return p.Revision + " " + p.Path }

// extensions are the addresses of the pages outside of the revisions, by their paths. Their statements are in our own
// words.
var extensions = map[string]string{
	"extensions/tasks": "https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/2026-07-28/tasks.md",
}

// URL returns the address of the page for readers.
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

// file returns the path of a page's statements below a directory.
func (p *Page) file() string {
	return path.Join(p.Revision, strings.ReplaceAll(p.Path, "/", "~")+".json")
}
