package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/mcp"
)

// files returns the names of the files in dir.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestOutputSavesBinaryContent(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	dir := filepath.Join(t.TempDir(), "new", "results")
	code, out, stderr := runs(t, "call", "--url", url, "show", "--output", dir)
	if code != exitOK || !strings.Contains(out, "A text.\n") ||
		!strings.Contains(out, "[image image/png, 70 bytes: saved as "+filepath.Join(dir, "show.png")+"]\n") {
		t.Errorf("call: got exit code %d, want the text and the path of the image: %s%s", code, out, stderr)
	}
	code, out, stderr = runs(t, "call", "--url", url, "show", "--json", "--output", dir)
	if code != exitOK || !strings.Contains(out, `"type": "image"`) ||
		!strings.Contains(stderr, "saved as "+filepath.Join(dir, "show-2.png")+"]\n") {
		t.Errorf("call --json: got exit code %d, want the whole result, and the path of the image on standard error: %s%s",
			code, out, stderr)
	}
	code, out, stderr = runs(t, "read", "--url", url, "demo://pixel", "-o", dir)
	if code != exitOK || out != "[resource demo://pixel, 70 bytes: saved as "+filepath.Join(dir, "pixel.png")+"]\n" {
		t.Errorf("read: got exit code %d and %q, want the path of the image: %s", code, out, stderr)
	}
	want := []string{"pixel.png", "show-2.png", "show-2.wav", "show.png", "show.wav"}
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("files: got %v, want %v", got, want)
	}
	for _, name := range []string{"pixel.png", "show.png", "show-2.png"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.HasPrefix(string(data), "\x89PNG") {
			t.Errorf("%s: got %q, %v, want an image", name, data, err)
		}
	}
	file := filepath.Join(dir, "show.png")
	if code, _, stderr := runs(t, "call", "--url", url, "show", "--output", file); code != exitUsage ||
		!strings.Contains(stderr, "--output: ") {
		t.Errorf("a file as the directory: got exit code %d and %q, want %d", code, stderr, exitUsage)
	}
}

func TestNothingIsSavedOutsideOfTheDirectory(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "in")
	s := saver{dir}
	if err := s.make(); err != nil {
		t.Fatal(err)
	}
	blob := &mcp.ResourceContents{MIMEType: "application/octet-stream", Blob: new("bmV3")}
	if runtime.GOOS != "windows" {
		if err := os.WriteFile(filepath.Join(outside, "victim"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(outside, "victim"), filepath.Join(dir, "link.bin")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(outside, "absent"), filepath.Join(dir, "dangling.bin")); err != nil {
			t.Fatal(err)
		}
	}
	for _, uri := range []string{
		"file:///../../victim", "file:///..", "file:///a/..", "x:../../victim", "file:///etc/passwd", `file:///..\..\victim`,
		"file:///%2e%2e%2fvictim", "file:///a%00b", "file:///a%0ab", "x:/", "", "file:///link.bin", "file:///dangling.bin",
		"file:///.bashrc", "x://" + strings.Repeat("a", 500), "file:///CON", "file:///con.txt", "file:///nul.tar.gz", "%zz",
	} {
		blob.URI = uri
		if saved, err := s.resource("tool", blob); err != nil || !strings.Contains(saved, "saved as "+dir) {
			t.Errorf("%q: got %q, %v, want a file in the directory", uri, saved, err)
		}
	}
	for _, name := range files(t, dir) {
		if strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\:\x00\n") || len(name) > 255 {
			t.Errorf("%q is not a safe name", name)
		}
	}
	want := []string{"in"}
	if runtime.GOOS != "windows" {
		want = append(want, "victim")
		if data, err := os.ReadFile(filepath.Join(outside, "victim")); err != nil || string(data) != "old" {
			t.Errorf("target of the link: got %q, %v, want it unchanged", data, err)
		}
	}
	if got := files(t, outside); !slices.Equal(got, want) {
		t.Errorf("files next to the directory: got %v, want %v", got, want)
	}
}

// TestLongNamesAreSaved saves several files with one name that is longer than file systems allow.
func TestLongNamesAreSaved(t *testing.T) {
	s := saver{t.TempDir()}
	for _, r := range []string{"a", "é", "漢", "𝔞"} {
		for range 3 {
			saved, err := s.write(fileName(strings.Repeat(r, 300), "application/json"), []byte("x"))
			if name := filepath.Base(saved); err != nil || len(name) > 255 || len(name) < 240 || !utf8.ValidString(name) {
				t.Errorf("%s: got %q of %d bytes, %v", r, name, len(name), err)
			}
		}
	}
}

func TestFileNamesAreSafe(t *testing.T) {
	for _, tc := range []struct{ name, mimeType, want string }{
		{"show", "image/png", "show.png"}, {"show.png", "image/png", "show.png"}, {"a.JPG", "", "a.JPG"},
		{"report.v2", "application/pdf; x=y", "report.pdf"}, {"a b/c", "", "a-b-c.bin"}, {"..", "", "result.bin"},
		{"été", "text/plain", "été.txt"}, {"con", "text/plain", "_con.txt"}, {"COM1", "", "_COM1.bin"},
		{"x.superlongextension", "", "x.bin"}, {"", "IMAGE/PNG", "result.png"}, {".hidden", "", "hidden.bin"},
	} {
		if got := fileName(tc.name, tc.mimeType); got != tc.want {
			t.Errorf("%q of type %q: got %q, want %q", tc.name, tc.mimeType, got, tc.want)
		}
	}
}
