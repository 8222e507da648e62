package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/demoserver"
	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
)

// asCommand is the environment variable that makes the test binary run as the command.
const asCommand = "MCPOTEL_TEST_AS_COMMAND"

// TestMain makes the test binary run as the command if asCommand is set, because the command starts its own executable
// as the demo's server. Under the name of the system's opener, the test binary acts as a browser.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "xdg-open" {
		if _, err := http.Get(os.Args[1]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "serve-demo" || os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// buffer is a stream to which several goroutines may write, like standard error.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// runs runs the command, and returns its exit code and output.
func runs(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, err buffer
	code = run(ctx, streams{strings.NewReader(""), &out, &err, false}, args)
	return code, out.String(), err.String()
}

// demoServerCommand returns the arguments that start the demo's server.
func demoServerCommand(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--", self, "serve-demo"}
}

// noCollector removes the telemetry settings of the environment for this test.
func noCollector(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if key, value, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "OTEL_") {
			t.Setenv(key, value) // restores the variable at the end of the test
			os.Unsetenv(key)
		}
	}
	for _, signal := range []string{"TRACES", "METRICS", "LOGS"} {
		t.Setenv("OTEL_"+signal+"_EXPORTER", "")
	}
	t.Setenv("LC_ALL", "C.UTF-8")
}

func TestDemoShowsEachCallAsOneTraceOfClientAndServer(t *testing.T) {
	noCollector(t)
	code, out, logs := runs(t, "demo")
	if code != exitOK {
		t.Fatalf("want exit code 0, got %d: %s", code, logs)
	}
	scenes := strings.Split(out, "\n== ")
	if len(scenes) != 6 {
		t.Fatalf("want an introduction and five scenes, got %d:\n%s", len(scenes), out)
	}
	for i, want := range [][]string{
		1: {"CLIENT", "SERVER", "server/discover"},
		2: {"forecast for Oslo", "CLIENT", "tools/call forecast", "SERVER", "look up the weather"},
		3: {"division by zero", "error.type=tool_error"},
		4: {"a call that times out", "error.type=timeout", "error.type=cancelled", "notifications/cancelled"},
		5: {"ended by SIGKILL", "error.type=connection_lost", "ready again after", "tools/call forecast", "SERVER"},
	} {
		for _, w := range want {
			if !strings.Contains(scenes[i], w) {
				t.Errorf("want %q in scene %d, got:\n%s", w, i, scenes[i])
			}
		}
	}
	if !strings.Contains(logs, "mcp_client.connection.transition") || !strings.Contains(logs, "transport_down") ||
		strings.Contains(logs, "INF") {
		t.Errorf("want warnings only, got:\n%s", logs)
	}
	code, out, logs = runs(t, "demo", "-v")
	for _, w := range []string{"negotiated", "delay_elapsed", "stop_requested", "DBG"} {
		if code != exitOK || !strings.Contains(logs, w) {
			t.Errorf("want %q in the log, got exit code %d:\n%s%s", w, code, out, logs)
		}
	}
}

func TestTraceHasSpansOfEachStartedServer(t *testing.T) {
	noCollector(t)
	atHome(t)
	behind := demoServerCommand(t)
	if code, _, stderr := runs(t, append([]string{"add", "stock"}, behind...)...); code != exitOK {
		t.Fatalf("add: got %d, %s", code, stderr)
	}
	path := configFile(t, "")
	noCollector(t) // an earlier command without a trace has disabled the export
	for name, args := range map[string][]string{
		"--":       append([]string{"call", "--trace", "divide", "a=6", "b=3"}, behind...),
		"--server": {"call", "--trace", "--server", "stock", "divide", "a=6", "b=3"},
		"--config": {"call", "--trace", "--config", path, "local_divide", "a=6", "b=3"},
		"both":     {"call", "--trace", "--config", path, "--server", "local", "divide", "a=6", "b=3"},
	} {
		code, _, trace := runs(t, args...)
		if code != exitOK || strings.Count(trace, "tools/call divide") != 2 || !strings.Contains(trace, "SERVER") {
			t.Errorf("%s: want the spans of client and server, got exit code %d and\n%s", name, code, trace)
		}
	}
}

func TestConsoleExporterPrintsSpans(t *testing.T) {
	noCollector(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "console")
	code, out, logs := runs(t, "tools", "--trace", "--", os.Args[0], "serve-demo")
	if code != exitOK || strings.Contains(out, "{") || !strings.Contains(logs, `{"Name":"tools/list",`) {
		t.Errorf("want the tools and the spans, got %d:\n%s\n%s", code, out, logs)
	}
	if want := "was exported by OTEL_…_EXPORTER"; !strings.Contains(out+logs, want) {
		t.Errorf("want %q, got:\n%s", want, out+logs)
	}
}

// TestDemoExportsToTheCollector checks the telemetry that a receiver gets, as Jaeger would.
func TestDemoExportsToTheCollector(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	if code, out, logs := runs(t, "demo"); code != exitOK || !strings.Contains(out, "was exported to the collector") {
		t.Fatalf("want exit code 0 and no drawing, got %d:\n%s\n%s", code, out, logs)
	}
	spans := sink.Snapshot().Spans
	for scene, tool := range map[string]string{
		"demo: a call that succeeds":                  "tools/call forecast",
		"demo: a tool that reports an error":          "tools/call divide",
		"demo: a call that times out":                 "tools/call wait",
		"demo: a server that is killed during a call": "tools/call forecast", // after the reconnect
	} {
		caller := spanNamed(t, spans, "INTERNAL", scene, "")
		client := spanNamed(t, spans, "CLIENT", tool, caller.TraceID)
		server := spanNamed(t, spans, "SERVER", tool, caller.TraceID)
		if client.ParentID != caller.SpanID || server.ParentID != client.SpanID {
			t.Errorf("%s: want caller %s > client > server, got client below %s and server below %s (client %s)",
				scene, caller.SpanID, client.ParentID, server.ParentID, client.SpanID)
		}
		if client.Service() != "mcpotel-demo" || server.Service() != demoserver.Name {
			t.Errorf("%s: want spans of two services, got %s and %s", scene, client.Service(), server.Service())
		}
	}
	s := sink.Snapshot()
	otlpcheck.Check(t, s)
	for _, metric := range []string{
		"mcp.client.operation.duration", "mcp.server.operation.duration", "mcp_client.connection.transitions",
		"mcp_client.active_requests",
	} {
		if len(s.PointsOf(metric)) == 0 {
			t.Errorf("want points of %s, got none", metric)
		}
	}
	for _, event := range []string{"mcp_client.connection.transition", "mcp_client.request.exception",
		"mcp_client.process.exit"} {
		if len(s.RecordsOf(event)) == 0 {
			t.Errorf("want log records with the event name %s, got none", event)
		}
	}
}

func spanNamed(t *testing.T, spans []otlpsink.Span, kind, name, trace string) otlpsink.Span {
	t.Helper()
	i := slices.IndexFunc(spans, func(s otlpsink.Span) bool {
		return s.Kind == kind && s.Name == name && (trace == "" || s.TraceID == trace)
	})
	if i < 0 {
		t.Fatalf("no span %s %s in trace %q", kind, name, trace)
	}
	return spans[i]
}

func TestToolsCommandListsTools(t *testing.T) {
	noCollector(t)
	code, out, stderr := runs(t, append([]string{"tools"}, demoServerCommand(t)...)...)
	if code != exitOK || !strings.Contains(out,
		"forecast(city string, days? integer)\n    The weather of the next days in a city.\n") {
		t.Errorf("want the tools as text, got %d:\n%s%s", code, out, stderr)
	}
	code, out, _ = runs(t, append([]string{"tools", "--json"}, demoServerCommand(t)...)...)
	var tools []*mcp.Tool
	if err := json.Unmarshal([]byte(out), &tools); code != exitOK || err != nil || len(tools) != 12 {
		t.Errorf("want twelve tools as JSON, got %d, %v:\n%s", code, err, out)
	}
}

func TestExitCodes(t *testing.T) {
	noCollector(t)
	server := demoServerCommand(t)
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"a result": {append([]string{"call", "divide", `{"a":6,"b":3}`}, server...), exitOK, `"quotient":2`, ""},
		"a result as JSON": {append([]string{"call", "--json", "divide", `{"a":6,"b":3}`}, server...), exitOK,
			`"structuredContent": {`, ""},
		"a tool error": {append([]string{"call", "divide", `{"a":6,"b":0}`}, server...), exitTool, "",
			"division by zero"},
		"a tool error as JSON": {append([]string{"call", "--json", "divide", `{"a":6,"b":0}`}, server...), exitTool,
			`"isError": true`, ""},
		"an unknown tool": {append([]string{"call", "nosuch"}, server...), exitTool, "", "server error -32602"},
		"an unknown tool, with a list": {append([]string{"call", "nosuch"}, server...), exitTool, "",
			`no tool "nosuch"; the tools are forecast, `},
		"a misspelt tool": {append([]string{"call", "forcast", "{}"}, server...), exitTool, "",
			`no tool "forcast" (did you mean forecast?)`},
		"a lost connection": {append([]string{"call", "crash"}, server...), exitConnection, "", "SIGKILL"},
		"a timeout": {append([]string{"call", "--timeout", "300ms", "wait", `{"seconds":30}`}, server...),
			exitConnection, "", "--timeout 300ms has expired"},
		"no such server": {[]string{"tools", "--", "/does/not/exist"}, exitConnection, "",
			"the server cannot be started: /does/not/exist: no such file or directory"},
		"a server that exits": {[]string{"tools", "--", server[1], "-test.run=NoSuchTest"}, exitConnection, "",
			"exited with status 0"},
		"a pinned version": {append([]string{"call", "--pin-version", "2025-03-26", "divide", `{"a":6,"b":3}`}, server...),
			exitOK, "2", ""},

		"no command": {nil, exitUsage, "", "usage: mcpotel"},
		"an unknown command": {[]string{"frobnicate"}, exitUsage, "",
			`unknown command "frobnicate"; "mcpotel help" lists the commands`},
		"help for an unknown command": {[]string{"help", "frobnicate"}, exitUsage, "", "unknown command"},
		"a misspelt command": {[]string{"--json", "tool"}, exitUsage, "",
			`unknown command "tool" (did you mean tools?)`},
		"only a server":         {append([]string{"--json"}, server...), exitUsage, "", "usage: mcpotel"},
		"an unknown flag first": {append([]string{"--frob", "tools"}, server...), exitUsage, "", "unknown flag: --frob"},
		"a flag without value": {[]string{"tools", "--url"}, exitUsage, "",
			`flag needs an argument: --url; "mcpotel help tools" lists the flags`},
		"a flag of another command": {append([]string{"tools", "--task"}, server...), exitUsage, "", "unknown flag: --task"},
		"no server":                 {[]string{"tools"}, exitUsage, "", "no server"},
		"no tool":                   {append([]string{"call"}, server...), exitUsage, "", "the name of the tool is missing"},
		"arguments not JSON": {append([]string{"call", "divide", "6 3"}, server...), exitUsage, "",
			"not a JSON object"},
		"arguments not an object": {append([]string{"call", "divide", "[6,3]"}, server...), exitUsage, "",
			"not a JSON object"},
		"too many arguments": {append([]string{"call", "divide", "{}", "{}"}, server...), exitUsage, "",
			"unexpected argument"},
		"a surplus argument": {append([]string{"tools", "x"}, server...), exitUsage, "", "unexpected argument"},
		"an unknown flag": {append([]string{"tools", "--frob"}, server...), exitUsage, "",
			`mcpotel: unknown flag: --frob; "mcpotel help tools" lists the flags`},
		"a misspelt flag": {append([]string{"tools", "--timout", "5s"}, server...), exitUsage, "",
			"unknown flag: --timout (did you mean --timeout?);"},
		"a duration without a unit": {append([]string{"tools", "--timeout", "5"}, server...), exitUsage, "",
			"(did you mean 5s?)"},
		"an invalid duration": {append([]string{"tools", "--timeout", "soon"}, server...), exitUsage, "",
			`"soon" for "--timeout" flag: `},
		"an unknown version": {append([]string{"tools", "--pin-version", "1999-01-01"}, server...), exitUsage, "",
			"unknown protocol version"},
		"demo with an argument": {[]string{"demo", "x"}, exitUsage, "", "unexpected argument"},

		"help":           {[]string{"help"}, exitOK, "usage: mcpotel", ""},
		"help of call":   {[]string{"call", "-h"}, exitOK, "--trace", ""},
		"help call":      {[]string{"help", "call"}, exitOK, "--trace", ""},
		"help task":      {[]string{"help", "task"}, exitOK, "usage: mcpotel task (get", ""},
		"help task wait": {[]string{"help", "task", "wait"}, exitOK, "usage: mcpotel task wait [flags] ID", ""},
		"help demo":      {[]string{"help", "demo"}, exitOK, "usage: mcpotel demo [--web]", ""},
		"help serve":     {[]string{"help", "serve-demo"}, exitOK, "--http ADDRESS", ""},
		"help view":      {[]string{"help", "view"}, exitOK, "--jaeger URL", ""},
		"help help":      {[]string{"help", "help"}, exitOK, "mcpotel help call", ""},
		"-h":             {[]string{"-h"}, exitOK, "usage: mcpotel", ""},
		"version":        {[]string{"version"}, exitOK, "\nprotocol   2026-07-28 2025-11-25", ""},
		"--version":      {[]string{"--version"}, exitOK, "mcpotel ", ""},
		"draws a trace":  {append([]string{"call", "--trace", "divide", `{"a":6,"b":3}`}, server...), exitOK, "2", "CLIENT"},
		"traces a list":  {append([]string{"tools", "--trace"}, server...), exitOK, "divide", "tools/list"},
		"verbose output": {append([]string{"tools", "-v"}, server...), exitOK, "divide", "mcp_client.request.stop"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runs(t, tc.args...)
			if code != tc.code {
				t.Errorf("want exit code %d, got %d", tc.code, code)
			}
			if !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("want %q on standard output and %q on standard error, got:\n%s\n%s", tc.stdout, tc.stderr, stdout, stderr)
			}
		})
	}
}
