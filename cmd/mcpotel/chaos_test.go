package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

const wholePlan = `
seed: 7
faults:
  - {kind: latency, method: "tools/*", delay: 300ms, jitter: 100ms}
  - kind: busy
    on: request
    tool: "read_*"
    skip: 1
    every: 3
    probability: 0.5
    limit: 10
    after: 1m
    for: 5m
    code: 429
    retry_after: 2s
  - {kind: drip, rate: 1000}
`

func TestAPlanIsRead(t *testing.T) {
	want := &chaos.Plan{Seed: 7, Faults: []chaos.Fault{
		{Kind: chaos.Latency, Method: "tools/*", Delay: 300 * time.Millisecond, Jitter: 100 * time.Millisecond},
		{Kind: chaos.Busy, On: chaos.OnRequest, Tool: "read_*", Skip: 1, Every: 3, Probability: 0.5, Limit: 10,
			After: time.Minute, For: 5 * time.Minute, Code: 429, RetryAfter: 2 * time.Second},
		{Kind: chaos.Drip, Rate: 1000},
	}}
	got, lines, err := parsePlan([]byte(wholePlan))
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(lines, []int{4, 5, 16}) {
		t.Errorf("got %+v, %v, %v, want %+v", got, lines, err, want)
	}
}

func TestAMistakeInAPlanNamesItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "the file has no faults",
		"seed: 1\n":                          "the file has no faults",
		"faults:\n- kind: drop\n  evry: 2\n": "line 3: unknown key evry",
		"seed: x\n":                          "line 1: not understood: str `x`",
		"faults:\n- kind: latency\n  delay: soon\n": "line 3: not understood: str `soon`",
		"faults: [\n":           "line 1: did not find expected node content",
		"faults: []\n---\n{}\n": "the file has more than one document",
		"faults:\n- kind: drop\n- kind: latncy\n": "line 3: fault 2, latncy: kind: is none of latency, drip, drop, " +
			"duplicate, reorder, truncate, garbage, oversize, error, busy, expire, freeze, cut, death, refuse " +
			"(did you mean latency?)",
		"faults:\n- kind: latency\n":                "line 2: fault 1, latency: delay: is missing",
		"faults:\n- kind: drop\n  probability: 2\n": "line 2: fault 1, drop: probability: 2 is not between 0 and 1",
		"faults:\n- kind: drop\n  tool: '['\n": `line 2: fault 1, drop: tool: "[" is no pattern, such as read_*: ` +
			"syntax error in pattern",
		"faults:\n\n- kind: drop\n  on: response\n": `line 3: fault 1, drop: on: "response" is not for this kind; ` +
			"it is for answer, request, notification",
	} {
		if _, _, err := parsePlan([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestAPlanThatCannotBeDoneIsAMisuse(t *testing.T) {
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

// TestACommandBreaksWhatThePlanSays has no proxy: the connection of the command itself is broken, to one server or to
// each of several, and its trace says so.
func TestACommandBreaksWhatThePlanSays(t *testing.T) {
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

// TestAProxyBreaksWhatThePlanSays has the demo's server behind a proxy with a plan: one tool fails, the server dies of
// another one, and is busy for a third.
func TestAProxyBreaksWhatThePlanSays(t *testing.T) {
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
		{"wait seconds=1", names.FaultBusy, "the server is busy: HTTP 429"}, // a proxy of a program does not try again
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

// TestWithoutAPlanNothingIsWrapped keeps the connection as it is, with all that makes it fast.
func TestWithoutAPlanNothingIsWrapped(t *testing.T) {
	given := transport.Transport(&transport.HTTP{URL: "http://localhost/mcp"})
	if got, err := new(chaosFlags).wrap(given); got != given || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
