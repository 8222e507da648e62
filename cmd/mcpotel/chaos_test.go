package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestInvalidChaosPlanIsAUsageError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte("faults: [{kind: expire}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, of := range map[string]string{
		"plan.yaml: line 1: fault 1, expire: kind: only servers over HTTP": file,
		"no such file": filepath.Join(t.TempDir(), "none"),
	} {
		for _, command := range [][]string{{"proxy"}, {"tools"}, {"call", "forecast"}} {
			args := append(command, "--chaos", of, "--", "never-started")
			code, _, stderr := runs(t, args...)
			if code != exitUsage || !strings.Contains(stderr, want) {
				t.Errorf("%q: got exit code %d, %s, want %q", args, code, stderr, want)
			}
		}
	}
}

// TestCommandInjectsTheFaultsOfAPlan injects faults into the command's own connections, without a proxy: to one server,
// and to each of several servers. The trace contains the faults.
func TestCommandInjectsTheFaultsOfAPlan(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	dir := t.TempDir()
	file, two := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "mcp.json")
	server := demoServerCommand(t)
	entry := fmt.Sprintf(`{"command":%q,"args":["serve-demo"]}`, server[1])
	for path, text := range map[string]string{
		file: "faults: [{kind: error, tool: divide, code: -32050}, {kind: death, method: tools/list}]\n",
		two:  fmt.Sprintf(`{"mcpServers":{"east":%s,"west":%s}}`, entry, entry),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{append([]string{"call", "--trace", "divide", `{"a":6,"b":3}`}, server...), exitTool,
			[]string{"-32050", "injected by the plan of faults"}},
		{append([]string{"call", "forecast", `{"city":"Oslo"}`}, server...), exitOK, []string{"celsius_max"}},
		{append([]string{"tools"}, server...), exitConnection, []string{"connection lost"}},
		{[]string{"tools", "--config", two}, exitConnection, []string{"east", "west", "connection lost"}},
	} {
		args := slices.Insert(slices.Clone(c.args), 1, "--chaos", file)
		code, out, stderr := runs(t, args...)
		for _, want := range c.want {
			if code != c.code || !strings.Contains(out+stderr, want) {
				t.Errorf("%q: got exit code %d, %s%s, want %d and %q", args, code, out, stderr, c.code, want)
			}
		}
	}
}

// TestProxyInjectsTheFaultsOfAPlan runs the demo's server behind a proxy with a plan: one tool fails, the server dies
// during another tool, and is busy for a third tool.
func TestProxyInjectsTheFaultsOfAPlan(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	t.Setenv(asCommand, "1")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	file := filepath.Join(t.TempDir(), "plan.yaml")
	plan := "faults: [{kind: error, tool: forecast, code: -32000}, {kind: death, tool: divide}, " +
		"{kind: busy, tool: wait, code: 429}]\n"
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	self := demoServerCommand(t)[1]
	for _, c := range []struct{ tool, fault, want string }{
		{"forecast city=Oslo", names.FaultError, "injected by the plan of faults"},
		{"divide a=6 b=3", names.FaultDeath, "was ended by SIGKILL"},
		{"wait seconds=1", names.FaultBusy, "the server is busy: HTTP 429"}, // a proxy of a single server does not retry
	} {
		args := append([]string{"call"}, strings.Fields(c.tool)...)
		code, out, stderr := runs(t, append(args, "--", self, "proxy", "--chaos", file, "--", self, "serve-demo")...)
		if code == exitOK || !strings.Contains(out+stderr, c.want) {
			t.Errorf("%s: got exit code %d, %s%s, want %q", c.tool, code, out, stderr, c.want)
		}
		tool, _, _ := strings.Cut(c.tool, " ")
		if !slices.ContainsFunc(sink.Snapshot().SpansNamed("tools/call "+tool), func(s otlpsink.Span) bool {
			return s.Service() == proxyService && s.Kind == "CLIENT" && s.Attributes[names.KeyMCPClientFaultKind] == c.fault
		}) {
			t.Errorf("%s: no span of the proxy's client has the fault %s", tool, c.fault)
		}
	}
	otlpcheck.Check(t, sink.Snapshot())
}

// TestTransportIsUnchangedWithoutAChaosPlan checks that wrap returns the same transport, so that no fast path is lost.
func TestTransportIsUnchangedWithoutAChaosPlan(t *testing.T) {
	given := transport.Transport(&transport.HTTP{URL: "http://localhost/mcp"})
	if got, err := new(chaosFlags).wrap(given); got != given || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
