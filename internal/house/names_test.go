package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testnames"
)

// TestNoTestIsLost holds the tests that there are against testdata/tests.txt. New ones need not stand there.
func TestNoTestIsLost(t *testing.T) {
	inventory, err := os.ReadFile("testdata/tests.txt")
	if err != nil {
		t.Fatal(err)
	}
	moved, err := os.ReadFile("testdata/moved.txt")
	if err != nil {
		t.Fatal(err)
	}
	now, err := testnames.Of("../..")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(inventory))
	if len(names) < 2000 {
		t.Fatalf("want an inventory of more than 2000 tests, got %d", len(names))
	}
	for _, problem := range lost(names, now, string(moved)) {
		t.Error(problem)
	}
}

// lost says which tests of an inventory are gone. One that has its name in another directory, where the inventory has
// none, has moved there; one that moved names has gone where it says.
func lost(inventory []string, now map[string]string, moved string) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	name := func(test string) string { return test[strings.LastIndexByte(test, '.')+1:] }
	known := map[string]bool{}
	for _, test := range inventory {
		known[test] = true
	}
	elsewhere := map[string]int{}
	for test := range now {
		if !known[test] {
			elsewhere[name(test)]++
		}
	}
	heirs := map[string]bool{}
	for line := range strings.Lines(moved) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		old, to, _ := strings.Cut(line, " -> ")
		heirs[old] = true
		switch {
		case !known[old]:
			complain("moved.txt: %q is not in tests.txt", old)
		case now[old] != "":
			complain("moved.txt: %s is still there", old)
		case strings.HasPrefix(to, "(") && strings.HasSuffix(to, ")") && len(to) > len("()"):
		default:
			for heir := range strings.SplitSeq(to, ", ") {
				if now[heir] == "" {
					complain("moved.txt: the promise of %s went to %q, which is not there", old, heir)
				}
			}
		}
	}
	for _, test := range inventory {
		if now[test] != "" || heirs[test] {
			continue
		}
		if elsewhere[name(test)]--; elsewhere[name(test)] < 0 {
			complain("%s is gone: bring it back, or say in testdata/moved.txt which tests hold its promise now", test)
		}
	}
	return problems
}

func TestATestThatIsGoneIsNamed(t *testing.T) {
	now := map[string]string{"a.TestKept": "x", "b.TestMoved": "x", "b.TestNew": "x", "c.TestTwin": "x"}
	inventory := []string{"a.TestKept", "a.TestMoved"}
	for name, c := range map[string]struct {
		more  []string // in the inventory
		moved string
		want  string // how the only problem begins; empty for none
	}{
		"nothing lost":                {},
		"gone":                        {more: []string{"a.TestOld"}, want: "a.TestOld is gone"},
		"one of two of a name":        {more: []string{"a.TestTwin", "c.TestTwin"}, want: "a.TestTwin is gone"},
		"both of a name, one is left": {more: []string{"a.TestTwin", "b.TestTwin"}, want: "b.TestTwin is gone"},
		"renamed":                     {more: []string{"a.TestOld"}, moved: "# why\n\na.TestOld -> b.TestNew, a.TestKept\n"},
		"renamed to nothing": {more: []string{"a.TestOld"}, moved: "a.TestOld -> b.TestNew, b.TestNone",
			want: `moved.txt: the promise of a.TestOld went to "b.TestNone"`},
		"no target": {more: []string{"a.TestOld"}, moved: "a.TestOld",
			want: `moved.txt: the promise of a.TestOld went to ""`},
		"a reason": {more: []string{"a.TestOld"}, moved: "a.TestOld -> (there is no pool any more)"},
		"no reason": {more: []string{"a.TestOld"}, moved: "a.TestOld -> ()",
			want: `moved.txt: the promise of a.TestOld went to "()"`},
		"not in the inventory": {moved: "a.TestOther -> b.TestNew", want: `moved.txt: "a.TestOther" is not in tests.txt`},
		"still there":          {moved: "a.TestKept -> b.TestNew", want: "moved.txt: a.TestKept is still there"},
	} {
		got := lost(append(slices.Clone(inventory), c.more...), now, c.moved)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: want %q, got %q", name, c.want, got)
		}
	}
}

func TestTheInventoryIsSorted(t *testing.T) {
	dir := write(t, map[string]string{
		"b/b_test.go": "package b\nfunc TestB() {}\n", "a/a_test.go": "package a\nfunc TestC() {}\nfunc FuzzA() {}\n",
	})
	var out strings.Builder
	if err := run(&out, dir, []string{"tests"}); err != nil || out.String() != "a.FuzzA\na.TestC\nb.TestB\n" {
		t.Errorf("tests: want three, sorted, got %q, %v", &out, err)
	}
}
