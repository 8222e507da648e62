package mcpotel_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachDefenceHasItsTests holds the tables of SECURITY.md against the tests there are.
func TestEachDefenceHasItsTests(t *testing.T) {
	page, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	if err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			there[string(m[1])] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 50 {
		t.Errorf("SECURITY.md names %d tests, want at least 50", len(named))
	}
	for _, m := range named {
		if !there[m[1]] {
			t.Errorf("SECURITY.md names %s, which is no test", m[1])
		}
	}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && !strings.Contains(line, "---") &&
			!strings.Contains(line, "| tests |") && !strings.Contains(cells[3], "`") {
			t.Errorf("a threat without a test: %s", line)
		}
	}
}
