package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mcpotel/mcpotel/internal/atomicfile"
)

func TestReplace(t *testing.T) {
	refused := errors.New("refused")
	for name, tt := range map[string]struct {
		before string // content of the file; empty for no file
		mode   fs.FileMode
		check  error
		want   string
	}{
		"a new file":                   {"", 0o600, nil, "new"},
		"a file is replaced":           {"old", 0o644, nil, "new"},
		"a check fails":                {"old", 0o600, refused, "old"},
		"a check fails without a file": {"", 0o600, refused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := atomicfile.Replace(t.Context(), path, []byte("new"), tt.mode, func() error { return tt.check })
			if !errors.Is(err, tt.check) {
				t.Errorf("got error %v, want %v", err, tt.check)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.want {
				t.Errorf("the file has %q, want %q", got, tt.want)
			}
			if info, err := os.Stat(path); err == nil && tt.check == nil && runtime.GOOS != "windows" &&
				info.Mode().Perm() != tt.mode {
				t.Errorf("the file has mode %v, want %v", info.Mode().Perm(), tt.mode)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) > 1 {
				t.Errorf("%d files are left, want 1 at most", len(entries))
			}
		})
	}
}

func TestReplaceReportsAMissingDirectory(t *testing.T) {
	err := atomicfile.Replace(t.Context(), filepath.Join(t.TempDir(), "none", "file"), nil, 0, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}
