//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestEachBlockRunsOrGivesAReason reads the pages of the repository and fails for an unknown clause in a comment.
func TestEachBlockRunsOrGivesAReason(t *testing.T) {
	pages, err := pagesOf("../..")
	if err != nil {
		t.Fatal(err)
	}
	run, left := 0, map[string]bool{}
	for _, p := range pages {
		for _, b := range p.blocks {
			if b.reason == "" {
				run++
			}
			left[b.reason] = true
		}
	}
	if run < 12 {
		t.Errorf("%d blocks are run, want those of the pages", run)
	}
	for _, r := range reasons {
		if !left[r] {
			t.Errorf("no block has the reason %q: take it out of the list", r)
		}
	}
}

func TestCommentConfiguresHowABlockRuns(t *testing.T) {
	const code = "```sh\nls\n```\n"
	for _, test := range []struct {
		page  string
		want  block
		fails string
	}{
		{code, block{code: "ls\n"}, ""},
		{"<!-- sh: in a checkout; prints \"a b\"; stays -->\n" + code,
			block{code: "ls\n", checkout: true, prints: "a b", stays: true}, ""},
		{"<!-- sh: the program above is main.go -->\n" + code, block{code: "ls\n", program: true}, ""},
		{"<!-- sh: in a module of yours -->\n" + code, block{code: "ls\n", module: true}, ""},
		{"<!-- sh: not run: needs Docker -->\n" + code, block{code: "ls\n", reason: "needs Docker"}, ""},
		{"<!-- sh: not run: it is late -->\n" + code, block{}, "unknown clause"},
		{"<!-- sh: stays -->\n" + code, block{}, "needs a clause with the output"},
		{"- x\n  ```sh\n  ls\n  ```\n", block{}, "indented"},
	} {
		blocks, err := blocksOf(test.page)
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%q: got %v, want %q", test.page, err, test.fails)
			}
			continue
		}
		if err != nil || len(blocks) != 1 || blocks[0] != test.want {
			t.Errorf("%q: got %+v, %v, want %+v", test.page, blocks, err, test.want)
		}
	}
}

func TestProgramIsTheLastGoBlock(t *testing.T) {
	got, err := programOf("```go\npackage a\n```\nthen\n```go\npackage b\n```\n")
	if err != nil || got != "package b\n" {
		t.Errorf("got %q, %v, want the second", got, err)
	}
	if _, err := programOf("no block"); err == nil {
		t.Error("want an error where there is no block")
	}
}
