package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// write creates a directory with these files.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	return dir
}

// small is a library with an example of everything that is counted.
var small = map[string]string{
	"go.mod": "module small\n",
	"mcp/a.go": `// Package mcp has a comment of
// two lines, and nobody reads it.
package mcp

/* A Client is for whoever
   needs one. */
type Client struct {
	a, b int
	Inner
}

type Inner struct{} // behind code

const One, two = 1, 2

func (c *Client) Call()    {}
func (c *Client) take()    {}
func (c Inner) take()      {}
func (c Inner) begin() {
	c.take()
}

func (c generic[T]) Next() {}

type generic[T any] []T
`,
	"mcp/internal/wide/b.go": "package wide\n\n// Äh is " + strings.Repeat("ä", 112) + "\n" +
		"var Äh = \"" + strings.Repeat("x", 121) + "\"\n",
	"mcp/a_test.go":       "package mcp\n\nfunc (c *Client) leave() {}\n",
	"mcp/testdata/c.go":   "no Go",
	"cmd/x/main.go":       "no Go",
	"examples/main.go":    "no Go",
	"nested/go.mod":       "module nested\n",
	"nested/d.go":         "no Go",
	".hidden/e.go":        "no Go",
	"node_modules/f/f.go": "no Go",
}

func TestTableCountsOnlyTheLibrary(t *testing.T) {
	var out strings.Builder
	if err := run(&out, write(t, small), nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| **the library** | 2 | 29 | 4 / 25 / 25 | 1 / 3 / 3 | 2 (mcp.Client) | 4 | 17 % | 2 / 1 | 2 |",
		"| mcp | 2 | 29 | 4 / 25 / 25 | 1 / 3 / 3 | 2 (mcp.Client) | 4 | 17 % | 2 / 1 | 2 |",
		"| mcpclient | 0 | 0 | 0 / 0 / 0 | 0 / 0 / 0 | – | 0 | 0 % | 0 / 0 | 0 |",
		"- directories: mcp",
		"- most methods, exported + private: mcp.Client 1 + 1, mcp.Inner 0 + 2, mcp.generic 1 + 0",
		"- most fields: mcp.Client 3, mcp.Inner 0",
		"- private methods with most receivers: take 2, begin 1",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("the table has no line\n%s\ngot\n%s", want, &out)
		}
	}
}

func TestOtherLibrariesHaveTheSameColumns(t *testing.T) {
	dir := filepath.Join(write(t, small), "mcp")
	var out strings.Builder
	if err := run(&out, "elsewhere", []string{dir, dir}); err != nil {
		t.Fatal(err)
	}
	const row = "| mcp | 2 | 29 | 4 / 25 / 25 | 1 / 3 / 3 | 2 (mcp.Client) | 4 | 17 % | 2 / 1 | 2 |\n"
	if got := strings.Count(out.String(), row); got != 2 {
		t.Errorf("rows of two directories: want 2 times\n%s\ngot\n%s", row, &out)
	}
	if err := run(&out, "elsewhere", []string{filepath.Join(dir, "nowhere")}); err == nil {
		t.Error("a directory that is not there: want an error, got none")
	}
}

func TestAQuantileIsTheNearestRank(t *testing.T) {
	sorted := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for q, want := range map[float64]int{0: 1, 0.5: 6, 0.9: 10, 1: 11} {
		if got := quantile(sorted, q); got != want {
			t.Errorf("quantile %v: want %d, got %d", q, want, got)
		}
	}
}
