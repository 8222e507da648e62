package specification

import (
	"fmt"
	"strings"
)

// openMark marks the reason of a statement that does not hold yet.
const openMark = "Open:"

// document returns docs/conformance.md; files has the directories of its tests.
func document(pages []Page, files map[string]string) string {
	var b strings.Builder
	b.WriteString(
		`<!-- Written by go -C tools generate ./specification from tools/specification/statements. Do not edit. -->

# The specification, statement by statement

This page lists each sentence of revisions 2026-07-28 and 2025-11-25 with MUST, MUST NOT or REQUIRED. For each sentence it names the
responsible party, and the test in this repository or the reason why there is none. If the party is a "host application", an
"authorization server" or an "author", the duty belongs to a program outside of this project. The older revisions have fewer
sentences of the same kind. The section "schema" has the sentences in the comments of the schema. Pages that only repeat other
pages (the overview, the changes) are left out. The section of the tasks extension has the rules of this extension in our own words.

A reason that begins with "Open" marks a rule that this project does not fulfil yet.

| Page | Statements | Of client or server | With a test | Open |
|---|--:|--:|--:|--:|
`)
	for i := range pages {
		p := &pages[i]
		ours, tested, open := 0, 0, 0
		for j := range p.Statements {
			s := &p.Statements[j]
			if strings.Contains(s.Why, openMark) {
				open++
			}
			if s.isOurs() {
				ours++
				if len(s.Tests) > 0 {
					tested++
				}
			}
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %d | %d | %d | %d |\n", p, anchor(p.String()), len(p.Statements), ours, tested, open)
	}
	for i := range pages {
		p := &pages[i]
		fmt.Fprintf(&b, "\n## %s\n\n[The page](%s).\n\n| Section | Statement | Who | Test, or reason |\n|---|---|---|---|\n",
			p, p.URL())
		for j := range p.Statements {
			s := &p.Statements[j]
			held := make([]string, 0, len(s.Tests)+1)
			for _, test := range s.Tests {
				held = append(held, fmt.Sprintf("[%s](../%s)", name(test), files[function(test)]))
			}
			if s.Why != "" {
				held = append(held, escape(s.Why))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", escape(s.Section), escape(s.Text), roles[s.Who], strings.Join(held, ", "))
		}
	}
	return b.String()
}

// name returns a test's name on the page: the part after its directory.
func name(test string) string { return test[strings.LastIndexByte(test, '/')+1:] }

func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`).Replace(s)
}

// anchor returns GitHub's anchor of a heading.
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", "/", "").Replace(strings.ToLower(heading))
}
