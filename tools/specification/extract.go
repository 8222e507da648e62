package specification

import (
	"html"
	"io/fs"
	"regexp"
	"strings"
)

var (
	frontMatter = regexp.MustCompile(`(?s)\A---\n.*?\n---\n`)
	codeBlock   = regexp.MustCompile("(?s)```.*?```")
	heading     = regexp.MustCompile(`^#+ (.*)`)
	item        = regexp.MustCompile(`^([-*]|\d+\.) `)
	link        = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	tag         = regexp.MustCompile(`</?[A-Za-z][^>]*>`)
	space       = regexp.MustCompile(`\s+`)
	sentence    = regexp.MustCompile(`[.;]\s+[A-Z"(]`)
	must        = regexp.MustCompile(`\b(MUST|REQUIRED|SHALL)\b`)
	comment     = regexp.MustCompile(`(?s)/\*\*(.*?)\*/\s*([^\n]*)`)
	margin      = regexp.MustCompile(`(?m)^\s*\* ?(@.*)?`)
	reference   = regexp.MustCompile(`\{@link (?:[^|}]*\| *)?([^}]*)\}`)
	declaration = regexp.MustCompile(`^export (?:interface|type|const) (\w+)`)
	member      = regexp.MustCompile(`^"?([\w./]+)"?\??:`)
)

// leftOut are pages whose statements also appear on other pages: the changelog, the overview, and the reference of
// types, which is generated from the schema.
var leftOut = map[string]bool{"changelog": true, "index": true, "schema": true}

// Extract reads the statements of the specification, a directory with a subdirectory for each revision.
func Extract(specification fs.FS) ([]Page, error) {
	var pages []Page
	for _, revision := range Revisions {
		err := fs.WalkDir(specification, revision, func(file string, _ fs.DirEntry, err error) error {
			name, isPage := strings.CutSuffix(strings.TrimPrefix(file, revision+"/"), ".mdx")
			if err != nil || !isPage || leftOut[name] {
				return err
			}
			text, err := fs.ReadFile(specification, file)
			if err != nil {
				return err
			}
			if s := statements(string(text)); len(s) > 0 {
				pages = append(pages, Page{Revision: revision, Path: name, Statements: s})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// ExtractSchema reads the statements in the comments of the schema, a directory with a subdirectory for each revision.
// Some of these statements appear on no page.
func ExtractSchema(schema fs.FS) ([]Page, error) {
	var pages []Page
	for _, revision := range Revisions {
		text, err := fs.ReadFile(schema, revision+"/schema.ts")
		if err != nil {
			return nil, err
		}
		p := Page{Revision: revision, Path: "schema"}
		of := ""
		for _, m := range comment.FindAllStringSubmatch(string(text), -1) {
			section := of
			if d := declaration.FindStringSubmatch(m[2]); d != nil {
				of, section = d[1], d[1]
			} else if d := member.FindStringSubmatch(m[2]); d != nil {
				section += "." + d[1]
			}
			for _, s := range statements(reference.ReplaceAllString(margin.ReplaceAllString(m[1], ""), "$1")) {
				p.Statements = append(p.Statements, Statement{Section: section, Text: s.Text})
			}
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// statements returns the statements of a page's text.
func statements(text string) []Statement {
	text = codeBlock.ReplaceAllString(frontMatter.ReplaceAllString(text, ""), "")
	var found []Statement
	section, paragraph := "", ""
	// indent is the indentation of this list item, -1 outside of items. announced is the indentation of the statement that
	// introduces the following items, -2 for none.
	indent, announced := -1, -2
	end := func() {
		text := plain(paragraph)
		paragraph = ""
		if text == "" {
			return
		}
		if announced < -1 || indent <= announced {
			announced = -2
		} else if !must.MatchString(text) {
			found[len(found)-1].Text += " - " + text
			return
		}
		for _, s := range sentences(text) {
			if must.MatchString(s) {
				found = append(found, Statement{Section: section, Text: s})
				if strings.HasSuffix(s, ":") {
					announced = indent
				}
			}
		}
	}
	for line := range strings.Lines(text) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		line = strings.TrimSpace(line)
		h := heading.FindStringSubmatch(line)
		if line == "" || h != nil || item.MatchString(line) || line[0] == '|' || line[0] == '<' {
			end()
		}
		if h != nil {
			section, announced = plain(h[1]), -2
			continue
		}
		if paragraph == "" {
			if indent = -1; item.MatchString(line) {
				indent = depth
			}
		}
		paragraph += " " + item.ReplaceAllString(line, "")
	}
	end()
	return found
}

// plain removes the markup.
func plain(s string) string {
	s = link.ReplaceAllString(s, "$1")
	s = strings.NewReplacer("**", "", "`", "").Replace(s)
	return strings.TrimSpace(space.ReplaceAllString(html.UnescapeString(tag.ReplaceAllString(s, "")), " "))
}

// sentences divides a paragraph into its sentences.
func sentences(s string) []string {
	var all []string
	begin := 0
	for _, at := range sentence.FindAllStringIndex(s, -1) {
		end := at[0] + 1
		if one := s[begin:end]; strings.Count(one, "(") == strings.Count(one, ")") {
			all = append(all, strings.TrimSpace(one))
			begin = end
		}
	}
	return append(all, strings.TrimSpace(s[begin:]))
}
