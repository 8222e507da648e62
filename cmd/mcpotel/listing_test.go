package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// listsTools starts a server that answers tools/list with this result for any cursor, and calls with "called".
func listsTools(t *testing.T, result string) (url string) {
	t.Helper()
	answers := map[string]json.RawMessage{
		mcp.MethodListTools: json.RawMessage(result),
		mcp.MethodCallTool:  json.RawMessage(`{"resultType":"complete","content":[{"type":"text","text":"called"}]}`),
	}
	s := mcpserver.New(mcp.Implementation{Name: "odd", Version: "1.0"}, &mcpserver.Options{
		Capabilities: mcp.ServerCapabilities{Tools: &mcp.ListCapability{}},
		Middleware: []func(mcpserver.RequestHandler) mcpserver.RequestHandler{
			func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
				return func(ctx context.Context, r *mcpserver.Request) (any, error) {
					if answer, ok := answers[r.Method]; ok {
						return answer, nil
					}
					return next(ctx, r)
				}
			},
		},
	})
	server := httptest.NewServer(s.HTTPHandler(nil))
	t.Cleanup(server.Close)
	return server.URL
}

// oddTool is a tool with one argument.
func oddTool(name, description string) string {
	return `{"name":"` + name + `","description":"` + description + `","inputSchema":{"type":"object","properties":` +
		`{"n":{"type":"integer"}}}}`
}

// TestValidPartOfAMalformedToolListIsShown runs all commands that list tools, with one server and with the servers of a
// file.
func TestValidPartOfAMalformedToolListIsShown(t *testing.T) {
	noCollector(t)
	const fresh = `"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	four := `{"tools":[` + oddTool("a", "one") + "," + oddTool("b", "two") + "," + oddTool("c", "three") + "," +
		oddTool("d", "four")
	for name, tc := range map[string]struct{ result, says string }{
		"a cursor twice": {four + `],"nextCursor":"x",` + fresh,
			`the list is incomplete, because its cursors cannot be followed: ` +
				`the server returned the cursor "x" twice; the received elements are used`},
		"a name twice": {four + `,` + oddTool("d", "another") + `],` + fresh,
			`lists more than one tool with the name "d"`},
		"a tool that cannot be read": {four + `,{"name":"e"}],` + fresh, `lists a tool "e" that cannot be used: `},
	} {
		t.Run(name, func(t *testing.T) {
			url, dir := listsTools(t, tc.result), t.TempDir()
			file := filepath.Join(dir, "mcp.json")
			text := `{"mcpServers":{"odd":{"url":` + quoted(t, url) + `}}}`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for prefix, server := range map[string][]string{"": {"--url", url}, "odd_": {"--config", file}} {
				baseline := filepath.Join(dir, prefix+"tools.json")
				for command, want := range map[string]string{
					"tools": prefix + "a(n? integer)", "cost": prefix + "d", "describe " + prefix + "d": "n: integer",
					"check --update --baseline " + baseline: "4 tools are in ", "call " + prefix + "d n=1": "called",
				} {
					code, out, stderr := runs(t, slices.Concat(strings.Fields(command), server)...)
					if code != exitOK || strings.Count(out, want) != 1 && command != "cost" || strings.Count(stderr, tc.says) != 1 {
						t.Errorf("%s %s: want exit code 0, %q, and %q once on standard error, got %d:\n%s\n%s", command, server[0],
							want, tc.says, code, out, stderr)
					}
				}
			}
		})
	}
}
