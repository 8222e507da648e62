package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// linkedCache creates a module cache that shares the modules of others with another cache, by links, and has no version
// of ours: the proof releases other sources under the same version each time.
func linkedCache(t *testing.T, shared string) string {
	t.Helper()
	dir := t.TempDir()
	for _, below := range []string{"", filepath.Join("cache", "download")} {
		from, to := filepath.Join(shared, below), filepath.Join(dir, below)
		linkAll(t, from, to, "cache", "github.com")
		linkAll(t, filepath.Join(from, "github.com"), filepath.Join(to, "github.com"), "mcpotel")
	}
	return dir
}

// linkAll creates directory to with a link to each entry of directory from, except some. from may be missing.
func linkAll(t *testing.T, from, to string, except ...string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if slices.Contains(except, e.Name()) {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}
