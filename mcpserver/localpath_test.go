package mcpserver_test

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// badPaths are names that lead out of the directory, or that no handler needs.
var badPaths = []string{
	"", ".", "..", "../a", "a/..", "a/../b", "a/../../b", "./a", "a/.", "a//b", "/a", "//a", "a/", "/", "/etc/passwd",
	`..\a`, `a\..\..\b`, `C:\a`,
	"a\x00b", "a\nb", "a\x7fb", "\xff", "a\xc0\xaf..", "%2e%2e/a", "%2E%2E/a", "..%2fa", "a%2F..%2Fb", "a%5cb", "a%00b",
	"%252e%252e/a", "%0a", "a%7f",
}

func TestLocalPathRefusesPathsOutsideDirectory(t *testing.T) {
	for _, name := range badPaths {
		if got, err := mcpserver.LocalPath(name); !errors.Is(err, fs.ErrInvalid) || got != "" {
			t.Errorf("LocalPath(%q) = %q, %v, want an invalid name", name, got, err)
		}
	}
	for _, name := range []string{"a", "a/b.txt", "a b", "...", "a..b", "..a", ".hidden", "ä/ö", "100%", "100%.txt", "%zz",
		"a%20b", "a%2", "~", "$HOME"} {
		if got, err := mcpserver.LocalPath(name); err != nil || got != filepath.FromSlash(name) {
			t.Errorf("LocalPath(%q) = %q, %v, want it as it is", name, got, err)
		}
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, name := range badPaths {
		f.Add(name)
	}
	f.Add("a/b.txt")
	const root = "/srv/docs"
	f.Fuzz(func(t *testing.T, name string) {
		got, err := mcpserver.LocalPath(name)
		if err != nil {
			return
		}
		for decoded, i := got, 0; i < 3; i++ { // safe even if a handler decodes the path again
			if !filepath.IsLocal(decoded) || !strings.HasPrefix(filepath.Join(root, decoded), root+string(filepath.Separator)) {
				t.Errorf("LocalPath(%q) = %q, which is %q in the end, outside of the directory", name, got, decoded)
			}
			if decoded, err = url.PathUnescape(decoded); err != nil {
				break
			}
		}
		if again, err := mcpserver.LocalPath(filepath.ToSlash(got)); err != nil || again != got {
			t.Errorf("LocalPath(%q) = %q, of which it makes %q, %v", name, got, again, err)
		}
	})
}

// TestFileTemplateStaysInItsDirectory reads hostile URIs. The template decodes the path in them.
func TestFileTemplateStaysInItsDirectory(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "docs", "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "docs", "sub", "a b"), []byte("public"), 0o600))
	must(t, os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "docs", "link")))
	root, err := os.OpenRoot(filepath.Join(dir, "docs"))
	must(t, err)
	defer root.Close()
	s := bare(t, mcpserver.Options{})
	must(t, s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "docs", URITemplate: "file:///docs/{+path}"},
		func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			name, err := mcpserver.LocalPath(r.Variables["path"])
			if err != nil {
				return nil, mcpserver.ResourceNotFound(r.URI)
			}
			text, err := root.ReadFile(name)
			if err != nil {
				return nil, mcpserver.ResourceNotFound(r.URI)
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: string(text)}}}, nil
		}))
	synctest.Test(t, func(t *testing.T) {
		c := speak(t, s, mcp.Version20260728)
		if got := c.ask("resources/read", `"uri":"file:///docs/sub/a%20b"`); got.Error != nil ||
			!strings.Contains(string(got.Result), "public") {
			t.Errorf("a file of the directory: %+v", got)
		}
		for _, path := range []string{
			"../secret", "%2e%2e/secret", "%2e%2e%2fsecret", "%252e%252e/secret", "sub/../../secret", "sub/..%2f..%2fsecret",
			"..%5csecret", "link", "/secret",
		} {
			if got := c.ask("resources/read", `"uri":"file:///docs/`+path+`"`); got.Error == nil ||
				got.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("%s: %+v, want no such resource", path, got)
			}
		}
	})
}
