package e2e

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

const filesystem = "@modelcontextprotocol/server-filesystem/dist/index.js"

// TestEveryToolOfFilesystem calls every tool of server-filesystem, which offers only tools, and only over stdio.
func TestEveryToolOfFilesystem(t *testing.T) {
	t.Parallel()
	dir := directory(t)
	x := explore(t, withDir(npm(filesystem))(t, dir), &mcpclient.Options{})
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	type arguments = map[string]any

	x.gives("list_allowed_directories", nil, `{"content":"Allowed directories:\n`+dir+`"}`)
	x.gives("read_text_file", arguments{"path": in("hello.txt")}, `{"content":"hello\n"}`)
	x.gives("read_text_file", arguments{"path": in("main.go"), "head": 1}, `{"content":"package main"}`)
	x.gives("read_text_file", arguments{"path": in("main.go"), "tail": 2}, `{"content":"func main() {}\n"}`)
	x.gives("read_file", arguments{"path": in("hello.txt")}, `{"content":"hello\n"}`)
	x.gives("read_multiple_files", arguments{"paths": []string{in("hello.txt"), in("none")}},
		`{"content":"`+in("hello.txt")+`:\nhello\n*"}`)
	x.gives("create_directory", arguments{"path": in("a", "b")}, `{"content":"Successfully created*"}`)
	x.gives("write_file", arguments{"path": in("a", "new.txt"), "content": "one\ntwo\n"},
		`{"content":"Successfully wrote*"}`)
	x.gives("edit_file", arguments{"path": in("a", "new.txt"), "dryRun": true,
		"edits": []arguments{{"oldText": "two", "newText": "2"}}}, "{\"content\":\"```diff*\"}")
	x.file(in("a", "new.txt"), "one\ntwo\n")
	x.gives("edit_file", arguments{"path": in("a", "new.txt"), "edits": []arguments{{"oldText": "two", "newText": "2"}}},
		"{\"content\":\"```diff*\"}")
	x.file(in("a", "new.txt"), "one\n2\n")
	x.gives("move_file", arguments{"source": in("a", "new.txt"), "destination": in("a", "b", "moved.txt")},
		`{"content":"Successfully moved*"}`)
	x.file(in("a", "b", "moved.txt"), "one\n2\n")
	x.gives("list_directory", arguments{"path": in("a")}, `{"content":"[DIR] b"}`)
	x.gives("list_directory_with_sizes", arguments{"path": in("a", "b"), "sortBy": "size"},
		`{"content":"[FILE] moved.txt*"}`)
	x.gives("directory_tree", arguments{"path": in("a")},
		`{"content":"[\n  {\n    \"name\": \"b\",\n    \"type\": \"directory\",\n    \"children\": [*"}`)
	x.gives("search_files", arguments{"path": dir, "pattern": "**/moved.*"}, `{"content":"`+in("a", "b", "moved.txt")+`"}`)
	x.gives("get_file_info", arguments{"path": in("hello.txt")}, `{"content":"size: 6\n*"}`)
	x.media(dir)

	x.refuses("read_text_file", arguments{"path": "/etc/passwd"}, "Access denied")
	x.refuses("edit_file", arguments{"path": in("hello.txt"), "edits": []arguments{{"oldText": "absent", "newText": ""}}},
		"Could not find exact match")
	x.refuses("read_text_file", arguments{}, "Input validation error")
	x.done()
}

// file checks the content of a file that a tool has written.
func (x *explorer) file(path, want string) {
	x.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		x.Errorf("%s: want %q, got %q, %v", path, want, got, err)
	}
}

// media reads a file as each kind of content.
func (x *explorer) media(dir string) {
	x.Helper()
	const data = "\x00\x01\x02"
	encoded := base64.StdEncoding.EncodeToString([]byte(data))
	for name, want := range map[string]mcp.Content{
		"a.png": &mcp.ImageContent{Data: encoded, MIMEType: "image/png"},
		"a.wav": &mcp.AudioContent{Data: encoded, MIMEType: "audio/wav"},
		"a.bin": &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI: "file://" + filepath.ToSlash(filepath.Join(dir, "a.bin")), MIMEType: "application/octet-stream", Blob: &encoded,
		}},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			x.Fatal(err)
		}
		x.gives("read_media_file", map[string]any{"path": path}, `{"content":["*"]}`)
		r := x.call("read_media_file", map[string]any{"path": path})
		equal(x.T, name, mcp.ContentList{want}, r.Content)
	}
}

// TestFilesystemUsesClientRoots checks that the client's roots replace the server's own directories, at the start and
// after a change.
func TestFilesystemUsesClientRoots(t *testing.T) {
	t.Parallel()
	own, first, second := directory(t), directory(t), directory(t)
	x := explore(t, withDir(npm(filesystem))(t, own), &mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseRoots(&mcp.Root{URI: "file://" + first, Name: "first"})},
	})
	x.until("the first root is allowed", func() bool {
		return strings.HasSuffix(x.call("list_allowed_directories", nil).Text(), "\n"+first)
	})
	if err := x.client.SetRoots(x.ctx, &mcp.Root{URI: "file://" + second}); err != nil {
		t.Fatal(err)
	}
	x.until("the second root is allowed", func() bool {
		return strings.HasSuffix(x.call("list_allowed_directories", nil).Text(), "\n"+second)
	})
	x.refuses("read_text_file", map[string]any{"path": filepath.Join(first, "hello.txt")}, "Access denied")
	x.gives("read_text_file", map[string]any{"path": filepath.Join(second, "hello.txt")}, `{"content":"hello\n"}`)
}
