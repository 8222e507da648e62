//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// reasons are the permitted reasons for not running a block.
var reasons = []string{
	"a step of .ci/run does",
	"needs Docker",
	"measures for an hour",
	"takes minutes to build",
	"raises alerts for half an hour",
}

// page is a page with its blocks of shell commands.
type page struct {
	name   string // from the root of the repository
	text   string
	blocks []block
}

// block is a block of shell commands.
type block struct {
	at       int    // position in the page
	code     string // the lines
	checkout bool   // run in a checkout instead of the page's folder
	module   bool   // the folder has a module
	program  bool   // the preceding block of Go is main.go of the folder
	stays    bool   // runs until the page ends; the next block starts after the expected output
	prints   string // expected output, empty for anything
	reason   string // why it is not run, empty if it is run
}

// shell matches a block with the comment before it, if there is one.
var shell = regexp.MustCompile("(?m)^(?:<!-- sh: (.*) -->\n)?```sh\n((?:.*\n)*?)```$")

// pagesOf reads the pages with commands, in a reader's order.
func pagesOf(root string) ([]page, error) {
	guides, err := filepath.Glob(filepath.Join(root, "docs/guides/*.md"))
	if err != nil {
		return nil, err
	}
	first := filepath.Join(root, "docs/guides/getting-started.md")
	rest := slices.DeleteFunc(guides, func(name string) bool { return name == first })
	var pages []page
	for _, file := range slices.Concat([]string{first, filepath.Join(root, "README.md")}, rest) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		blocks, err := blocksOf(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(blocks) > 0 {
			pages = append(pages, page{name, string(text), blocks})
		}
	}
	return pages, nil
}

// blocksOf returns the blocks of shell commands of a page. Each runs in a shell of its own, in the folder of the page,
// and must exit with 0. A comment before it may change that, in clauses between semicolons:
//
//	<!-- sh: in a checkout; prints "http://"; stays -->
//	<!-- sh: the program above is main.go -->
//	<!-- sh: not run: needs Docker -->
//
// A block that stays runs until the page ends; the next block starts after the expected output. [reasons] has the
// permitted reasons for not running a block.
func blocksOf(text string) (blocks []block, err error) {
	for _, at := range shell.FindAllStringSubmatchIndex(text, -1) {
		b := block{at: at[0], code: text[at[4]:at[5]]}
		if at[2] >= 0 {
			for clause := range strings.SplitSeq(text[at[2]:at[3]], "; ") {
				if err := b.obey(clause); err != nil {
					return nil, fmt.Errorf("%w, before:\n%s", err, b.code)
				}
			}
		}
		if b.stays && b.prints == "" {
			return nil, fmt.Errorf("a block that stays needs a clause with the output that shows that it is ready:\n%s", b.code)
		}
		blocks = append(blocks, b)
	}
	if n := strings.Count(text, "```sh\n"); n != len(blocks) {
		return nil, fmt.Errorf("%d of %d blocks of shell commands are indented; put them behind the list", n-len(blocks), n)
	}
	return blocks, nil
}

// obey applies a clause of the comment before the block.
func (b *block) obey(clause string) error {
	reason, notRun := strings.CutPrefix(clause, "not run: ")
	text, prints := strings.CutPrefix(clause, `prints "`)
	switch {
	case notRun && slices.Contains(reasons, reason):
		b.reason = reason
	case prints && strings.HasSuffix(text, `"`):
		b.prints = strings.TrimSuffix(text, `"`)
	case clause == "in a checkout":
		b.checkout = true
	case clause == "in a module of yours":
		b.module = true
	case clause == "stays":
		b.stays = true
	case clause == "the program above is main.go":
		b.program = true
	default:
		return fmt.Errorf("unknown clause %q", clause)
	}
	return nil
}

// programOf returns the last block of Go in a text.
func programOf(text string) (string, error) {
	_, code, found := cutLast(text, "```go\n")
	program, _, ended := strings.Cut(code, "```\n")
	if !found || !ended {
		return "", fmt.Errorf("no block of Go precedes this block")
	}
	return program, nil
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
