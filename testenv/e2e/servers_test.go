package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// server is a real server, and one call that works offline.
type server struct {
	name    string
	command func(t *testing.T, dir string) transport.Stdio // dir is the server's own directory
	version mcp.Version                                    // negotiated revision
	tools   int                                            // minimum number of listed tools

	tool      string
	arguments func(dir string) string
	want      string // part of the result's text

	warned []string // checks of the doctor that warn about the server
}

// slowStart is Timeouts.Init for clients that start a process and expect a certain revision. With the default of 10 s,
// a client sends initialize 2.5 s after the probe. On a busy machine a server may take longer to start. A server of
// both eras then finds both messages in its input, and may start a legacy session.
const slowStart = time.Minute

// fixed returns a function that ignores its argument, to shorten the table below.
func fixed(arguments string) func(string) string { return func(string) string { return arguments } }

// servers are the servers of testenv/servers/README.md.
var servers = []server{
	{
		name: "everything", command: npm("@modelcontextprotocol/server-everything/dist/index.js"),
		version: mcp.Version20251125, tools: 12,
		tool: "echo", arguments: fixed(`{"message":"hi"}`), want: "Echo: hi",
	},
	{
		name: "filesystem", command: withDir(npm("@modelcontextprotocol/server-filesystem/dist/index.js")),
		version: mcp.Version20251125, tools: 14,
		tool: "read_text_file", arguments: func(dir string) string {
			return `{"path":"` + dir + `/hello.txt"}`
		}, want: "hello",
	},
	{
		name: "memory", command: withEnv(npm("@modelcontextprotocol/server-memory/dist/index.js"), func(dir string) []string {
			return []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")}
		}),
		version: mcp.Version20251125, tools: 9,
		tool: "create_entities", arguments: fixed(
			`{"entities":[{"name":"Ada","entityType":"person","observations":["wrote notes"]}]}`),
		want: "wrote notes",
	},
	{
		name: "sequential-thinking", command: npm("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
		version: mcp.Version20251125, tools: 1,
		tool:      "sequentialthinking",
		arguments: fixed(`{"thought":"one","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`),
		want:      "thoughtHistoryLength",
	},
	{
		name: "git", command: withEnv(npm("@cyanheads/git-mcp-server/dist/index.js"), func(dir string) []string {
			return []string{"MCP_TRANSPORT_TYPE=stdio", "GIT_BASE_DIR=" + dir, "MCP_LOG_LEVEL=error"}
		}),
		version: mcp.Version20251125, tools: 28,
		tool: "git_status", arguments: func(dir string) string { return `{"path":"` + dir + `"}` }, want: "",
	},
	{
		name: "gopls", command: inDir(binary("gopls", "mcp")),
		version: mcp.Version20251125, tools: 8,
		tool: "go_workspace", arguments: fixed(`{}`), want: "module",
	},
	{
		name: "mcp-grafana", command: withEnv(binary("mcp-grafana"), func(string) []string {
			return []string{"GRAFANA_URL=http://127.0.0.1:1"}
		}),
		version: mcp.Version20260728, tools: 80,
		tool: "generate_deeplink", arguments: fixed(`{"resourceType":"dashboard","dashboardUid":"abc"}`),
		want: "http://127.0.0.1:1/d/abc",
	},
	{
		name: "gosdk-everything", command: binary("gosdk-everything"),
		version: mcp.Version20260728, tools: 10,
		tool: "greet", arguments: fixed(`{"name":"Ada"}`), want: "Hi Ada",
		warned: []string{"tools"}, // names with spaces
	},
	{
		name: "gosdk-memory", command: func(t *testing.T, dir string) transport.Stdio {
			return binary("gosdk-memory", "-memory", filepath.Join(dir, "memory.json"))(t, dir)
		},
		version: mcp.Version20260728, tools: 9,
		tool: "create_entities", arguments: fixed(
			`{"entities":[{"name":"Ada","entityType":"person","observations":["wrote notes"]}]}`),
		want: "",
	},
	{
		name: "gosdk-sequentialthinking", command: binary("gosdk-sequentialthinking"),
		version: mcp.Version20260728, tools: 3,
		tool: "start_thinking", arguments: fixed(`{"problem":"2+2","sessionId":"s1","estimatedSteps":2}`), want: "s1",
	},
	{
		name: "gosdk-hello", command: binary("gosdk-hello"),
		version: mcp.Version20260728, tools: 1,
		tool: "greet", arguments: fixed(`{"name":"Ada"}`), want: "Hi Ada",
	},
	{
		name: "gosdk-toolschemas", command: binary("gosdk-toolschemas"),
		version: mcp.Version20260728, tools: 5,
		tool: "simple greeting", arguments: fixed(`{"name":"Ada"}`), want: "Ada",
		warned: []string{"tools"}, // names with spaces
	},
	{
		name: "gosdk-conformance", command: binary("gosdk-conformance"),
		version: mcp.Version20260728, tools: 28,
		tool: "test_simple_text", arguments: fixed(`{}`), want: "",
	},
	{
		name: "typescript", command: npm("../dual.mjs"),
		version: mcp.Version20260728, tools: 1,
		tool: "add", arguments: fixed(`{"a":1,"b":2}`), want: "1 + 2 = 3",
	},
	{
		name: "mcpgo", command: binary("mcpgo-server"),
		version: mcp.Version20260728, tools: 1,
		tool: "add", arguments: fixed(`{"a":1,"b":2}`), want: "1 + 2 = 3",
	},
}

// installed returns the directory of the servers.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MCPOTEL_SERVERS")
	if dir == "" {
		t.Fatal("MCPOTEL_SERVERS is not set: run testenv/servers/install and set it to the printed directory")
	}
	return dir
}

// environment returns the environment of this process without variables that make a server export its own telemetry.
func environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GOFLAGS=-mod=mod", "GOPROXY=off"},
		more...)
}

type commandFunc = func(t *testing.T, dir string) transport.Stdio

func npm(script string, args ...string) commandFunc {
	return func(t *testing.T, dir string) transport.Stdio {
		path := filepath.Join(installed(t), "npm", "node_modules", script)
		return transport.Stdio{Command: "node", Args: append([]string{path}, args...), Env: environment()}
	}
}

func binary(name string, args ...string) commandFunc {
	return func(t *testing.T, dir string) transport.Stdio {
		return transport.Stdio{Command: filepath.Join(installed(t), "bin", name), Args: args, Env: environment()}
	}
}

// withDir passes the server its directory as an argument; inDir makes it the working directory.
func withDir(c commandFunc) commandFunc {
	return func(t *testing.T, dir string) transport.Stdio {
		s := c(t, dir)
		s.Args = append(s.Args, dir)
		return s
	}
}

func inDir(c commandFunc) commandFunc {
	return func(t *testing.T, dir string) transport.Stdio {
		s := c(t, dir)
		s.Dir = dir
		return s
	}
}

func withEnv(c commandFunc, env func(dir string) []string) commandFunc {
	return func(t *testing.T, dir string) transport.Stdio {
		s := c(t, dir)
		s.Env = append(s.Env, env(dir)...)
		return s
	}
}

// directory creates a directory with the things that the servers need: a file, a Go module, a git repository.
func directory(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"hello.txt": "hello\n", "go.mod": "module example.com/hello\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}
