package main

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/tools/testnames"
)

// TestTestsNamedInPagesExist checks that every test in the tables of these pages exists. Each row names a test.
func TestTestsNamedInPagesExist(t *testing.T) {
	all, err := testnames.Of("../..")
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for name := range all {
		exists[strings.TrimPrefix(path.Ext(name), ".")] = true
	}
	name := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)
	for page, rows := range map[string]int{
		"SECURITY.md": 40, "docs/telemetry/conventions.md": 34, "docs/track-record.md": 25,
	} {
		text, err := os.ReadFile(path.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		found, of := 0, ""
		for line := range strings.Lines(string(text)) {
			switch {
			case strings.HasPrefix(line, "|--"):
			case strings.HasPrefix(line, "| ") && (strings.Contains(line, "| test |") || strings.Contains(line, "| tests |")):
				of = line // the head of a table with tests
			case !strings.HasPrefix(line, "| "):
				of = ""
			case of != "":
				found++
				tests := name.FindAllString(line, -1)
				if len(tests) == 0 {
					t.Errorf("%s: no test in the row %s", page, line)
				}
				for _, test := range tests {
					if !exists[test] {
						t.Errorf("%s: there is no test %s", page, test)
					}
				}
			}
		}
		if found < rows {
			t.Errorf("%s: %d rows with tests, want at least %d", page, found, rows)
		}
	}
}
