package userfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFileChangesAreAtomic(t *testing.T) {
	for _, variable := range []string{"HOME", "USERPROFILE", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(variable, t.TempDir())
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "real.json")
	to := func(text string) func([]byte) ([]byte, error) {
		return func([]byte) ([]byte, error) { return []byte(text), nil }
	}
	refuse := errors.New("refused")
	for _, c := range []struct {
		name string
		edit func(now []byte) ([]byte, error)
		err  error
		want string
	}{
		{"a new file", to("1"), nil, "1"},
		{"another text", func(now []byte) ([]byte, error) { return append(now, '2'), nil }, nil, "12"},
		{"an edit that fails", func([]byte) ([]byte, error) { return []byte("3"), refuse }, refuse, "12"},
		{"another program writes the file", func([]byte) ([]byte, error) {
			return []byte("4"), os.WriteFile(path, []byte("theirs"), 0o640)
		}, ErrChanged, "theirs"},
		{"another program removes the file", func([]byte) ([]byte, error) {
			return []byte("5"), os.Remove(path)
		}, ErrChanged, ""},
	} {
		err := Change(path, 0, c.edit)
		if got, _ := os.ReadFile(path); !errors.Is(err, c.err) || string(got) != c.want {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, got, err, c.want, c.err)
		}
	}
	if runtime.GOOS == "windows" {
		return // links need special rights there, and modes do not describe other users
	}
	if err := os.WriteFile(path, []byte("6"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := Change(link, 0, to("7")); err != nil || content(t, path) != "7" || mode(t, path) != 0o640 {
		t.Errorf("through a link: got %q with %v, %v", content(t, path), mode(t, path), err)
	}
	if err := Change(path, 0o600, to("8")); err != nil || mode(t, path) != 0o600 {
		t.Errorf("with a mode: got %v, %v", mode(t, path), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("got %v, %v, want the file and the link", left, err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
