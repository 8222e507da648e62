package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// manyTypes returns a schema with an argument of each type that the command line supports.
func manyTypes(t *testing.T) string {
	return content(t, filepath.Join("..", "..", "internal", "command", "toolargs", "testdata", "manytypes.json"))
}

// echoes serves a tool with this schema, which returns its arguments.
func echoes(t *testing.T, schema string) (url string) {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "echo", Version: "1.0"}, nil)
	if err := s.AddTool(&mcp.Tool{Name: "echo", Description: "Say it.", InputSchema: json.RawMessage(schema)},
		func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(string(r.Arguments))}}, nil
		}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.HTTPHandler(nil))
	t.Cleanup(server.Close)
	return server.URL
}

func TestArgumentsAreAcceptedInEveryForm(t *testing.T) {
	noCollector(t)
	url := echoes(t, manyTypes(t))
	demo, _ := serves(t, "0")
	file := filepath.Join(t.TempDir(), "arguments.json")
	if err := os.WriteFile(file, []byte(`{"text":"from the file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		in             string
		args           []string
		code           int
		stdout, stderr string
	}{
		"by name": {"", []string{"call", "--url", url, "echo", "text=a", "count=2", "tags=x", "tags=y"}, exitOK,
			`{"count":2,"tags":["x","y"],"text":"a"}`, ""},
		"as JSON": {"", []string{"call", "--url", url, "echo", `{"text":"a"}`}, exitOK, `{"text":"a"}`, ""},
		"nested":  {"", []string{"call", "--url", url, "echo", "where.city=Oslo"}, exitOK, `{"where":{"city":"Oslo"}}`, ""},
		"one from a file": {"", []string{"call", "--url", url, "echo", "where=@" + file}, exitOK,
			`{"where":{"text":"from the file"}}`, ""},
		"one on standard input": {"3\n", []string{"call", "--url", url, "echo", "count=@-"}, exitOK, `{"count":3}`, ""},
		"two on standard input": {"3\n", []string{"call", "--url", url, "echo", "count=@-", "text=@-"}, exitUsage, "",
			"text: standard input is already the value of another argument"},
		"with a literal @": {"", []string{"call", "--url", url, "echo", "text=@@ada"}, exitOK, `{"text":"@ada"}`, ""},
		"one from a missing file": {"", []string{"call", "--url", url, "echo", "text=@/no/file"}, exitUsage, "",
			"text: open /no/file: no such file or directory; write text=@@/no/file for the text @/no/file"},
		"one from a large file": {strings.Repeat("x", 16<<20+1), []string{"call", "--url", url, "echo", "text=@-"},
			exitUsage, "", "standard input: more than 16777216 bytes"},
		"on standard input": {`{"text":"typed"}`, []string{"call", "--url", url, "echo", "-"}, exitOK, `"typed"`, ""},
		"in a file":         {"", []string{"call", "--url", url, "echo", "@" + file}, exitOK, `"from the file"`, ""},
		"unknown": {"", []string{"call", "--url", url, "echo", "txt=a"}, exitUsage, "",
			`unknown argument "txt" (did you mean text?)`},
		"of another type": {"", []string{"call", "--url", url, "echo", "count=x"}, exitUsage, "", "not an integer"},
		"of an unknown tool": {"", []string{"call", "--url", url, "ecoh", "text=a"}, exitTool, "",
			`no tool "ecoh" (did you mean echo?)`},
		"in a missing file": {"", []string{"call", "--url", url, "echo", "@/does/not/exist"}, exitUsage, "", "no such file"},
		"invalid JSON on standard input": {"{\n  'a': 1}", []string{"call", "--url", url, "echo", "-"}, exitUsage, "",
			"standard input: not a JSON object: line 2, column 3: "},
		"no JSON": {"", []string{"call", "--url", url, "echo", `{"text":}`}, exitUsage, "",
			"line 1, column 9: invalid character '}' at start of value\n    {\"text\":}\n            ^\n"},
		"by name and as JSON": {"", []string{"call", "--url", url, "echo", "text=a", `{}`}, exitUsage, "",
			"unexpected argument"},
		"of a prompt":             {"", []string{"prompt", "--url", demo, "pack", "city=Rome"}, exitOK, "I go to Rome", ""},
		"of a prompt, from input": {"Rome", []string{"prompt", "--url", demo, "pack", "city=@-"}, exitOK, "I go to Rome", ""},
		"of a prompt, not text": {"\xff", []string{"prompt", "--url", demo, "pack", "city=@-"}, exitUsage, "",
			"city: not UTF-8 text"},
		"of a prompt, as JSON":  {"", []string{"prompt", "--url", demo, "pack", `{"city":"Rome"}`}, exitOK, "to Rome", ""},
		"of a prompt, on input": {`{"city":"Rome"}`, []string{"prompt", "--url", demo, "pack", "-"}, exitOK, "to Rome", ""},
		"of a prompt, not a string": {"", []string{"prompt", "--url", demo, "pack", `{"city":1}`}, exitUsage, "", "must be " +
			"strings"},
		"of a prompt, unknown": {"", []string{"prompt", "--url", demo, "pack", "town=Rome"}, exitUsage, "",
			`unknown argument "town"; known: city, days`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var out, stderr buffer
			code := run(ctx, streams{strings.NewReader(tc.in), &out, &stderr, false}, tc.args)
			if code != tc.code || !strings.Contains(out.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("got exit code %d, want %d; want %q on standard output and %q on standard error, got:\n%s\n%s", code,
					tc.code, tc.stdout, tc.stderr, out.String(), stderr.String())
			}
		})
	}
}
