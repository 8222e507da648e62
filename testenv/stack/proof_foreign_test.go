package stack_test

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/stack/traffic"
)

// Third-party servers with their own OpenTelemetry. Besides a SERVER span for each call they may record other spans,
// but these must be below the call, and there must be no orphans.

// grafana is the fixed service name of mcp-grafana, whatever the environment sets.
const grafana = "mcp-grafana"

// grafanaCallings are calls to mcp-grafana without a running Grafana.
func grafanaCallings(*pair) []calling {
	link := map[string]any{"resourceType": "dashboard", "dashboardUid": "abc"}
	return []calling{
		{name: "ok", times: 30, tool: "generate_deeplink", arguments: link, outcome: "ok",
			below: foreign("generate_deeplink", "")},
		{name: "tool error", times: 15, tool: "list_datasources", outcome: "tool_error",
			below: foreign("list_datasources", "tool_error")},
		{name: "unknown tool", times: 5, tool: "nosuch", outcome: "-32602", below: foreign("nosuch", "-32602")},
	}
}

// nodeCallings are calls to the node server.
func nodeCallings(*pair) []calling {
	return []calling{
		{name: "ok", times: 30, tool: "add", arguments: map[string]any{"a": 1, "b": 2}, outcome: "ok",
			below: func(p *pair) []node {
				work := node{kind: "INTERNAL", name: "look up the price", service: p.serverName(), loose: true}
				served := node{kind: "SERVER", name: "tools/call add", service: p.serverName(), loose: true, below: []node{work}}
				return []node{p.request("add", "", nil, served)}
			}},
		{name: "tool error", times: 15, tool: "fail", outcome: "tool_error", below: foreign("fail", "tool_error")},
		{name: "timeout", times: 5, tool: "wait", arguments: map[string]any{"seconds": 30}, timeout: 300 * time.Millisecond,
			outcome: "timeout",
			below: func(p *pair) []node {
				below := []node{{kind: "SERVER", name: "tools/call wait", service: p.serverName(), loose: true,
					errorType: "cancelled"}}
				if !p.closesToCancel {
					below = append(below, node{kind: "CLIENT", name: "notifications/cancelled", service: p.clientName()})
				}
				return []node{p.request("wait", "timeout", nil, below...)}
			}},
	}
}

// foreign returns the trace of a call with a span of the server, unless the server has no such tool.
func foreign(tool, errorType string) func(*pair) []node {
	return func(p *pair) []node {
		n := p.request(tool, errorType, nil)
		n.free = true // as over HTTP: mcp-grafana has a span for each POST
		if errorType != "-32602" {
			n.below = []node{{kind: "SERVER", name: "tools/call " + tool, service: p.serverName(), loose: true}}
		}
		return []node{n}
	}
}

func grafanaOverStdio(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	s, err := traffic.Grafana(up.OTLP())
	if err != nil {
		return nil, err
	}
	return connectOurs(ctx, s, pr.version(), p)
}

func grafanaOverHTTP(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	return connectOurs(ctx, &transport.HTTP{URL: launch(t, ctx, func(address string) (transport.Stdio, error) {
		return traffic.Grafana(up.OTLP(), "-t=streamable-http", "-address="+address)
	}) + "/mcp"}, pr.version(), p)
}

func nodeOverStdio(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	s, err := traffic.Node(up.OTLPHTTP(), pr.serverName())
	if err != nil {
		return nil, err
	}
	return connectOurs(ctx, s, pr.version(), p)
}

func nodeOverHTTP(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	return connectOurs(ctx, &transport.HTTP{URL: launch(t, ctx, func(address string) (transport.Stdio, error) {
		s, err := traffic.Node(up.OTLPHTTP(), pr.serverName())
		_, port, _ := net.SplitHostPort(address)
		s.Args, s.Env = append(s.Args, "http"), append(s.Env, "MCPOTEL_PORT="+port)
		return s, err
	}) + "/mcp"}, pr.version(), p)
}

// launch starts a server at a free address, waits until it listens and returns its URL. It ends with the test.
func launch(t *testing.T, ctx context.Context, command func(address string) (transport.Stdio, error)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	s, err := command(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env, cmd.Stderr = s.Env, t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	until(t, ctx, fmt.Sprintf("%s listens at %s", s.Command, address), func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + address
}
