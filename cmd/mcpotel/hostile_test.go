package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// evil is the text that the hostile server sends wherever a text is possible. It contains terminal control sequences,
// and lines that look like a tool, a message of the command, or a log record.
const evil = "x\nmcpotel: forged\rmcpotel: " +
	"forged\nforged(tool)\u2028forged\u0085forged\x1b]0;title\a\x1b[2J\u009b31m\x7f\u202eforged\u2066y"

// hostile is a modern server that answers every request, with the text evil in every answer.
type hostile struct{ t *testing.T }

func (h hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name           string          `json:"name"`
			URI            string          `json:"uri"`
			InputResponses json.RawMessage `json:"inputResponses"`
			Meta           map[string]any  `json:"_meta"`
		} `json:"params"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // watch ended while it was sending its next subscription
	}
	if err := json.Unmarshal(body, &m); err != nil {
		h.t.Errorf("the client sent invalid JSON: %v: %q", err, body)
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Params.Name == "status" {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, evil)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if m.Method == mcp.MethodSubscriptionsListen {
		about := map[string]any{"io.modelcontextprotocol/subscriptionId": m.ID}
		h.notify(w, mcp.NotificationSubscriptionsAcknowledged, map[string]any{"_meta": about, "notifications": map[string]any{
			"toolsListChanged": true, "resourceSubscriptions": []string{"demo://x"}}})
		h.notify(w, mcp.NotificationResourceUpdated, map[string]any{"_meta": about, "uri": "demo://x"})
		h.notify(w, "notifications/"+evil, map[string]any{"_meta": about, "text": evil})
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	if token := m.Params.Meta["progressToken"]; token != nil {
		h.notify(w, mcp.NotificationProgress,
			map[string]any{"progressToken": token, "status": 1, "total": 2, "message": evil})
	}
	if m.Params.Meta["io.modelcontextprotocol/logLevel"] != nil {
		h.notify(w, mcp.NotificationMessage, map[string]any{"level": "error", "logger": evil, "data": evil})
		h.notify(w, mcp.NotificationMessage, map[string]any{"level": "error", "data": map[string]any{evil: evil}})
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Params.Name == "refuse" || strings.HasPrefix(m.Params.URI, "refuse") {
		answer["error"] = map[string]any{"code": -32000, "message": evil, "data": map[string]any{evil: evil}}
	} else {
		answer["result"] = h.result(m.Method, m.Params.Name, m.Params.InputResponses != nil)
	}
	h.event(w, answer)
}

func (h hostile) notify(w io.Writer, method string, params any) {
	h.event(w, map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (h hostile) event(w io.Writer, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		h.t.Error(err)
	}
	fmt.Fprintf(w, "data: %s\n\n", raw)
}

// result returns a result for each method, and for each tool name of tools/call.
func (h hostile) result(method, name string, asked bool) map[string]any {
	r := map[string]any{
		"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
		"_meta": map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{"name": evil, "version": evil,
			"title": evil}},
	}
	object := map[string]any{"type": "object",
		"properties": map[string]any{evil: map[string]any{"type": evil, "description": evil}}}
	text := []any{map[string]any{"type": "text", "text": evil}}
	resource := map[string]any{"uri": "demo://" + evil, "mimeType": evil, "text": evil}
	task := map[string]any{
		"taskId": evil, "status": "completed", "statusMessage": evil, "createdAt": evil, "lastUpdatedAt": evil, "ttlMs": nil,
	}
	switch method {
	case mcp.MethodDiscover:
		r["supportedVersions"], r["instructions"] = []string{"2026-07-28"}, evil
		r["capabilities"] = map[string]any{
			"tools": map[string]any{"listChanged": true}, "prompts": map[string]any{}, "completions": map[string]any{},
			"logging":    map[string]any{},
			"resources":  map[string]any{"subscribe": true},
			"extensions": map[string]any{mcp.ExtensionTasks: map[string]any{}},
		}
	case mcp.MethodListTools:
		r["tools"] = []any{map[string]any{"name": evil, "title": evil, "description": evil, "inputSchema": object}}
	case mcp.MethodListPrompts:
		r["prompts"] = []any{map[string]any{"name": evil, "description": evil,
			"arguments": []any{map[string]any{"name": evil}}}}
	case mcp.MethodListResources:
		r["resources"] = []any{map[string]any{"uri": "demo://" + evil, "name": evil, "title": evil, "description": evil,
			"mimeType": evil}}
	case mcp.MethodListResourceTemplates:
		r["resourceTemplates"] = []any{
			map[string]any{"uriTemplate": "demo://" + evil, "name": evil, "description": evil, "mimeType": evil}}
	case mcp.MethodReadResource:
		r["contents"] = []any{resource, resource}
	case mcp.MethodGetPrompt:
		r["messages"] = []any{map[string]any{"role": evil, "content": text[0]},
			map[string]any{"role": "user", "content": map[string]any{"type": "resource", "resource": resource}}}
	case mcp.MethodComplete:
		r["completion"] = map[string]any{"values": []string{evil}, "total": 9}
	case mcp.MethodGetTask:
		maps.Copy(r, task)
		r["result"] = map[string]any{"content": text}
	case mcp.MethodCallTool:
		ask := func(params map[string]any) {
			r["resultType"] = "input_required"
			r["inputRequests"] = map[string]any{"q": map[string]any{"method": mcp.MethodElicit, "params": params}}
		}
		switch {
		case name == "form" && !asked:
			ask(map[string]any{"mode": "form", "message": evil, "requestedSchema": map[string]any{
				"type": "object", "required": []string{"a"}, "properties": map[string]any{
					"a": map[string]any{"type": "string", "title": evil, "description": evil, "default": evil},
					"b": map[string]any{"type": "string", "title": evil, "enum": []string{evil, "b"}, "default": evil},
				}}})
		case name == "page" && !asked:
			ask(map[string]any{"mode": "url", "message": evil, "url": "https://example.com/?q=" + "\u202e",
				"elicitationId": evil})
		case name == "task":
			r["resultType"] = "task"
			maps.Copy(r, task)
		case name == "error":
			r["content"], r["isError"] = text, true
		case name == "structured":
			r["content"], r["structuredContent"] = []any{}, map[string]any{evil: evil}
		default:
			r["content"] = []any{
				text[0], map[string]any{"type": "image", "data": "AAAA", "mimeType": evil},
				map[string]any{"type": "audio", "data": "AAAA", "mimeType": evil},
				map[string]any{"type": "resource_link", "uri": "demo://" + evil, "name": evil},
				map[string]any{"type": "resource", "resource": resource},
			}
		}
	}
	return r
}

// TestHostileServerCannotForgeOutput runs every command that connects to servers, with each of its flags, against a
// hostile server.
func TestHostileServerCannotForgeOutput(t *testing.T) {
	noCollector(t)
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("SSH_CONNECTION", "far away")
	server := httptest.NewServer(hostile{t})
	defer server.Close()
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers":{"one":{"url":`+quoted(t, server.URL)+`}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	baseline := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(baseline, []byte(`{"version":1,"tools":{"a":{}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	spoken := map[string]bool{}
	for _, args := range [][]string{
		{"check", "--baseline", baseline},
		{"tools"}, {"cost"}, {"describe", evil}, {"resources"}, {"prompts"}, {"ping"}, {"doctor"},
		{"watch", "--for", "300ms", "--uri", "demo://x"},
		{"read", "demo://x"}, {"read", "refuse://x"}, {"prompt", "x"}, {"prompt", "refuse"}, {"complete", "x", "a=b"},
		{"call", "text"}, {"call", "error"}, {"call", "structured"}, {"call", "refuse"}, {"call", "status"},
		{"call", "form"}, {"call", "page"}, {"call", "task"}, {"call", "--task", "task"},
		{"call", "--level", "debug", "text"},
		{"call", "--root", ".", "text"}, {"call", "--timeout", "5s", "text"}, {"call", "--header", "A=b", "text"},
		{"call", "--pin-version", "2026-07-28", "text"},
		{"task", "get", evil}, {"task", "wait", evil}, {"task", "cancel", evil},
	} {
		spoken[args[0]] = true
		for _, flags := range [][]string{nil, {"--json"}, {"--trace"}, {"-v"}} {
			behind := 1
			if args[0] == "task" {
				behind = 2
			}
			full := slices.Concat(args[:behind], []string{"--url", server.URL}, flags, args[behind:])
			inFile := slices.Concat(args[:behind], []string{"--config", file, "--server", "one"}, flags, args[behind:])
			for _, full := range [][]string{full, inFile} {
				if slices.Contains(full, "--config") && slices.Contains(full, "--header") {
					continue // these flags belong to --url
				}
				t.Run(visible.Line(strings.Join(full, " ")), func(t *testing.T) {
					began := time.Now()
					_, out, stderr := typed(t, "\n\n\n\nyes\n", full...)
					if time.Since(began) > 30*time.Second {
						t.Error("the command took too long")
					}
					harmless(t, "standard error", stderr, true)
					if args[0] == "read" && !slices.Contains(flags, "--json") {
						return // read prints the exact bytes if standard output is not a terminal
					}
					harmless(t, "standard output", out, args[0] != "call" && !(args[0] == "task" && args[1] == "wait"))
				})
			}
		}
	}
	for _, c := range newTree(streams{}).Commands() {
		local := []string{"demo", "view", "serve-demo", "version", "help", "completion", "man", "add", "list", "remove", "install",
			"wrap", "unwrap", "__complete",
			"proxy", "mock", "mcp", // the standard output of these commands is for a host, not for people
			"inspect", // prints only addresses; the tests of its package have a hostile server
			"shell",   // only its commands print
			"explain", // the tests of package receiver have hostile alerts and peers
			"probe",   // answers with numbers, and with the names of checks and of servers from the command line
			"audit",   // prints numbers, times and hashes
			"replay", "diff", "gameday",
			"tail", // reads files; its tests have a hostile recording
		}
		if !spoken[c.Name()] && !slices.Contains(local, c.Name()) {
			t.Errorf("the command %s is not tested against the hostile server", c.Name())
		}
	}
}

// harmless checks the output of one command. Only the result of a tool may have as many lines as the server chooses.
func harmless(t *testing.T, stream, text string, ownLines bool) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if i := strings.IndexFunc(line, func(r rune) bool { return !visible.Rune(r) && r != '\t' }); i >= 0 {
			t.Errorf("%s: %U in %q", stream, []rune(line[i:])[0], line)
		}
		if ownLines && (strings.HasPrefix(line, "forged") || strings.HasPrefix(line, "mcpotel: forged")) {
			t.Errorf("%s: a forged line: %q", stream, line)
		}
	}
}

// TestOnlyEscapingFunctionsWriteOutput finds calls that write output without escaping it.
func TestOnlyEscapingFunctionsWriteOutput(t *testing.T) {
	ways := map[string][]string{ // by file, the functions that may write
		"print.go":    {"printLine", "printText", "printJSON", "printBytes", "Write"},
		"terminal.go": {"print", "wipe", "status"},
		"help.go":     {"helpOf", "commandLines"}, // writes to a string
		"version.go":  {"String"},                 // writes to a string
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || slices.Contains(ways[file], f.Name.Name) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && writes(s) {
					t.Errorf("%s: %s writes with %s: want printLine, printText, printJSON or a console", file, f.Name.Name, s.Sel.Name)
				}
				return true
			})
		}
	}
}

func writes(s *ast.SelectorExpr) bool {
	pkg, ok := s.X.(*ast.Ident)
	switch {
	case s.Sel.Name == "Write":
		return true
	case !ok:
		return false
	}
	return pkg.Name == "fmt" && (strings.HasPrefix(s.Sel.Name, "Fprint") || strings.HasPrefix(s.Sel.Name, "Print")) ||
		pkg.Name == "io" && (s.Sel.Name == "WriteString" || s.Sel.Name == "Copy")
}
