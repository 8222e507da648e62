package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fake writes a program that prints one benchmark's CPU time, as a test binary does.
func fake(t *testing.T, ns string) *binaryOf {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fake.test")
	text := "#!/bin/sh\necho 'BenchmarkA/peer=ours-2 10 " + ns + " cpu-ns/op 4 allocs/op'\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return &binaryOf{path: path, dir: t.TempDir()}
}

func TestGuardFailsOnlyBeyondATenth(t *testing.T) {
	for now, fails := range map[string]bool{"1000": false, "1090": false, "1110": true, "500": false} {
		var out bytes.Buffer
		worse, err := compareRow(t.Context(), &out, &row{title: "a row"}, ".", fake(t, "1000"), fake(t, now))
		if err != nil {
			t.Fatal(err)
		}
		if len(worse) > 0 != fails {
			t.Errorf("1000 ns became %s: want a failure %t, got %q", now, fails, worse)
		}
		if tries := strings.Count(out.String(), "again"); fails && tries != len(turns)-1 {
			t.Errorf("want %d further tries, got %d", len(turns)-1, tries)
		}
	}
}

func TestARowThatTheOlderCommitLacksIsLeftOut(t *testing.T) {
	old := fake(t, "1000")
	if err := os.WriteFile(old.path, []byte("#!/bin/sh\necho PASS\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	worse, err := compareRow(t.Context(), new(bytes.Buffer), &row{}, ".", old, fake(t, "1"))
	if err != nil || worse != nil {
		t.Errorf("want nothing, got %q, %v", worse, err)
	}
}
