package main

import (
	"fmt"
	"strings"
	"testing"
)

// synthetic is made-up benchmark output.
type synthetic struct{ strings.Builder }

func output() *synthetic {
	s := new(synthetic)
	s.WriteString("go: go1.99\ncommit: 0123456789ab\ndate: 2001-02-03\ngoos: plan9\ngoarch: arm\ncpu: Abacus & " +
		"Sons\ncores: 2\ngomaxprocs: 2\ngogc: 100\nbenchtime: 300ms\n")
	return s
}

func (s *synthetic) pass(n int, load float64) *synthetic {
	fmt.Fprintf(s, "pass: %d\nload: %g\n", n, load)
	return s
}

// line writes one result; pairs are values and units.
func (s *synthetic) line(name string, pairs ...any) *synthetic {
	fmt.Fprintf(s, "Benchmark%s-2 \t 1000", name)
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(s, "\t %v %s", pairs[i], pairs[i+1])
	}
	s.WriteByte('\n')
	return s
}

func (s *synthetic) parsed(t *testing.T) *measurements {
	t.Helper()
	m, err := parse([]byte(s.String()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// theCase returns the only case that a pattern matches.
func theCase(t *testing.T, m *measurements, pattern string) *benchCase {
	t.Helper()
	found := m.matching(pattern)
	if len(found) != 1 {
		t.Fatalf("want one case that matches %s, got %d", pattern, len(found))
	}
	return found[0]
}
