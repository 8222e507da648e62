package e2e

import (
	"net"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// webServer is a real server over HTTP, and one call that works offline.
type webServer struct {
	name    string
	start   startFunc
	path    string
	version mcp.Version // negotiated revision
	tools   int         // minimum number of listed tools

	tool      string
	arguments func(dir string) string
	want      string // part of the result's text
}

const (
	everything = "@modelcontextprotocol/server-everything/dist/index.js"
	examples   = "@modelcontextprotocol/sdk/dist/esm/examples/server/"
)

// webServers are the HTTP servers in testenv/servers/README.md.
var webServers = []webServer{
	{
		name: "everything", start: script(everything, "streamableHttp"), path: "/mcp", version: mcp.Version20251125,
		tools: 12,
		tool:  "echo", arguments: fixed(`{"message":"hi"}`), want: "Echo: hi",
	},
	{
		name: "everything, SSE", start: script(everything, "sse"), path: "/sse", version: mcp.Version20251125, tools: 12,
		tool: "echo", arguments: fixed(`{"message":"hi"}`), want: "Echo: hi",
	},
	{
		name: "git", path: "/mcp", version: mcp.Version20251125, tools: 28,
		start: func(t *testing.T, dir, address string) *process {
			s := node(t, "@cyanheads/git-mcp-server/dist/index.js")
			s.Env = append(s.Env, "MCP_TRANSPORT_TYPE=http", "GIT_BASE_DIR="+dir, "MCP_LOG_LEVEL=error")
			return announced(t, s, address)
		},
		tool: "git_status", arguments: func(dir string) string { return `{"path":"` + dir + `"}` }, want: "",
	},
	{
		name: "sdk simple", start: script(examples + "simpleStreamableHttp.js"), path: "/mcp", version: mcp.Version20251125,
		tools: 7,
		tool:  "greet", arguments: fixed(`{"name":"Ada"}`), want: "Hello, Ada!",
	},
	{
		name: "sdk stateless", start: script(examples + "simpleStatelessStreamableHttp.js"), path: "/mcp",
		version: mcp.Version20251125, tools: 1,
		tool: "start-notification-stream", arguments: fixed(`{"interval":1,"count":3}`), want: "every 1ms",
	},
	{
		name: "sdk JSON", start: script(examples + "jsonResponseStreamableHttp.js"), path: "/mcp",
		version: mcp.Version20251125, tools: 2,
		tool: "greet", arguments: fixed(`{"name":"Ada"}`), want: "Hello, Ada!",
	},
	{
		name: "sdk compatible", start: script(examples + "sseAndStreamableHttpCompatibleServer.js"), path: "/mcp",
		version: mcp.Version20251125, tools: 1,
		tool: "start-notification-stream", arguments: fixed(`{"interval":1,"count":3}`), want: "every 1ms",
	},
	{
		name: "sdk compatible, SSE", start: script(examples + "sseAndStreamableHttpCompatibleServer.js"), path: "/sse",
		version: mcp.Version20251125, tools: 1,
		tool: "start-notification-stream", arguments: fixed(`{"interval":1,"count":3}`), want: "every 1ms",
	},
	{
		name: "sdk SSE", start: script(examples + "simpleSseServer.js"), path: "/mcp", version: mcp.Version20251125, tools: 1,
		tool: "start-notification-stream", arguments: fixed(`{"interval":1,"count":3}`), want: "every 1ms",
	},
	{
		name: "sdk polling", start: script(examples + "ssePollingExample.js"), path: "/mcp", version: mcp.Version20251125,
		tools: 1,
		tool:  "long-task", arguments: fixed(`{}`), want: "completed successfully", // the server closes the stream in between
	},
	{
		name: "typescript", start: typescript("http"), path: "/mcp", version: mcp.Version20260728, tools: 1,
		tool: "add", arguments: fixed(`{"a":1,"b":2}`), want: "1 + 2 = 3",
	},
	{
		name: "typescript, in streams", start: typescript("sse"), path: "/mcp", version: mcp.Version20260728, tools: 1,
		tool: "add", arguments: fixed(`{"a":1,"b":2}`), want: "1 + 2 = 3",
	},
	{
		name: "gopls, SSE", version: mcp.Version20251125, tools: 8, start: func(t *testing.T, dir, address string) *process {
			return assigned(t, address, func(host, port string) transport.Stdio {
				return inDir(binary("gopls", "mcp", "-listen="+net.JoinHostPort(host, port)))(t, dir)
			})
		},
		tool: "go_workspace", arguments: fixed(`{}`), want: "module",
	},
	{
		name: "mcp-grafana", start: grafana("streamable-http"), path: "/mcp", version: mcp.Version20260728, tools: 80,
		tool: "generate_deeplink", arguments: fixed(`{"resourceType":"dashboard","dashboardUid":"abc"}`),
		want: "http://127.0.0.1:1/d/abc",
	},
	{
		name: "mcp-grafana, SSE", start: grafana("sse"), path: "/sse", version: mcp.Version20251125, tools: 80,
		tool: "generate_deeplink", arguments: fixed(`{"resourceType":"dashboard","dashboardUid":"abc"}`),
		want: "http://127.0.0.1:1/d/abc",
	},
	{
		name: "gosdk-conformance, stateless", start: gosdk("gosdk-conformance", "-stateless=true"),
		version: mcp.Version20260728, tools: 28,
		tool: "test_simple_text", arguments: fixed(`{}`), want: "simple text",
	},
	{
		name: "gosdk-conformance, sessions", start: gosdk("gosdk-conformance", "-stateless=false"),
		version: mcp.Version20251125, tools: 28,
		tool: "test_simple_text", arguments: fixed(`{}`), want: "simple text",
	},
	{
		name: "gosdk-everything", start: gosdk("gosdk-everything"), version: mcp.Version20251125, tools: 10,
		tool: "greet", arguments: fixed(`{"name":"Ada"}`), want: "Hi Ada",
	},
	{
		name: "gosdk-sse", path: "/greeter1", version: mcp.Version20251125, tools: 1,
		start: func(t *testing.T, dir, address string) *process {
			return assigned(t, address, func(host, port string) transport.Stdio {
				return binary("gosdk-sse", "-host="+host, "-port="+port)(t, dir)
			})
		},
		tool: "greet1", arguments: fixed(`{"name":"Ada"}`), want: "Hi Ada",
	},
	{
		name: "mcpgo", start: mcpgo("streamable"), path: "/mcp", version: mcp.Version20260728, tools: 1,
		tool: "add", arguments: fixed(`{"a":1,"b":2}`), want: "1 + 2 = 3",
	},
	{
		name: "mcpgo, stateless", start: mcpgo("stateless"), path: "/mcp", version: mcp.Version20260728, tools: 1,
		tool: "add", arguments: fixed(`{"a":1,"b":2}`), want: "1 + 2 = 3",
	},
	{
		name: "mcpgo, SSE", start: mcpgo("sse"), path: "/sse", version: mcp.Version20251125, tools: 1,
		tool: "add", arguments: fixed(`{"a":1,"b":2}`), want: "1 + 2 = 3",
	},
}

// startFunc starts a server in its own directory, at address, or at any free address if address is empty.
type startFunc = func(t *testing.T, dir, address string) *process

func script(path string, args ...string) startFunc {
	return func(t *testing.T, _, address string) *process { return announced(t, node(t, path, args...), address) }
}

// typescript is a test server for both eras on the TypeScript SDK.
func typescript(kind string) startFunc {
	return func(t *testing.T, _, address string) *process {
		return announced(t, npm("../dual.mjs", kind)(t, ""), address)
	}
}

func mcpgo(kind string) startFunc {
	return func(t *testing.T, dir, address string) *process {
		return announced(t, binary("mcpgo-server", kind)(t, dir), address)
	}
}

// gosdk is a server of the Go SDK, with a flag for its address.
func gosdk(name string, args ...string) startFunc {
	return func(t *testing.T, dir, address string) *process {
		return assigned(t, address, func(host, port string) transport.Stdio {
			return binary(name, append(args, "-http="+net.JoinHostPort(host, port))...)(t, dir)
		})
	}
}

func grafana(kind string) startFunc {
	return func(t *testing.T, dir, address string) *process {
		return assigned(t, address, func(host, port string) transport.Stdio {
			s := binary("mcp-grafana", "-t="+kind, "-address="+net.JoinHostPort(host, port))(t, dir)
			s.Env = append(s.Env, "GRAFANA_URL=http://127.0.0.1:1")
			return s
		})
	}
}
