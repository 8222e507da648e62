package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

func TestUnseenRowsAreReported(t *testing.T) {
	dir := t.TempDir()
	rows := schemacheck.Declared().Sorted()
	write := func(name string, rows []string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1.txt", rows[:10])
	write("2.txt", rows[5:len(rows)-1])
	var out bytes.Buffer
	if code := run(dir, &out); code != 1 || !strings.Contains(out.String(), "never emitted: "+rows[len(rows)-1]+"\n") {
		t.Errorf("one row short: got code %d and %q, want 1 and the row", code, &out)
	}
	write("3.txt", rows[len(rows)-1:])
	if code := run(dir, &out); code != 0 {
		t.Errorf("all rows seen: got code %d and %q, want 0", code, &out)
	}
	if code := run("", &out); code != 2 {
		t.Errorf("no directory: got code %d, want 2", code)
	}
}

func TestAppendSeenWritesEachRowOnce(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(schemacheck.SeenVariable, dir)
	for _, rows := range []schemacheck.Set{{"a": true}, {"a": true, "b": true}} {
		if err := schemacheck.AppendSeen(func() schemacheck.Set { return rows }); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := schemacheck.ReadSeen(dir)
	if err != nil || len(seen) != 2 || !seen["a"] || !seen["b"] {
		t.Errorf("rows left: got %v, %v, want a and b", seen, err)
	}
}
