package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestAFileIsChangedAsAWholeOrNotAtAll(t *testing.T) {
	atHome(t)
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
		{"another program writes meanwhile", func([]byte) ([]byte, error) {
			return []byte("4"), os.WriteFile(path, []byte("theirs"), 0o640)
		}, errChanged, "theirs"},
		{"another program removes it meanwhile", func([]byte) ([]byte, error) {
			return []byte("5"), os.Remove(path)
		}, errChanged, ""},
	} {
		err := changeFile(path, 0, c.edit)
		if got, _ := os.ReadFile(path); !errors.Is(err, c.err) || string(got) != c.want {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, got, err, c.want, c.err)
		}
	}
	if runtime.GOOS == "windows" {
		return // where links need rights, and modes say nothing of others
	}
	if err := os.WriteFile(path, []byte("6"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := changeFile(link, 0, to("7")); err != nil || content(t, path) != "7" || modeOf(t, path) != 0o640 {
		t.Errorf("through a link: got %q with %v, %v", content(t, path), modeOf(t, path), err)
	}
	if err := changeFile(path, 0o600, to("8")); err != nil || modeOf(t, path) != 0o600 {
		t.Errorf("with a mode: got %v, %v", modeOf(t, path), err)
	}
	if left := files(t, dir); len(left) != 2 {
		t.Errorf("got %v, want the file and the link", left)
	}
}
