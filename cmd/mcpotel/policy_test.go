package main

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

const wholePolicy = `
tools:
  allow: ["read_*"]
  deny: ["delete_*"]       # wins
timeout: 30s
timeouts: {"slow_*": 5m}
limit:
  concurrent: 4
  rate: 10/s
redact:
  keys: [password, token]
  patterns: ['sk-[A-Za-z0-9]{20,}']
  with: "[redacted]"
  arguments: true
`

func TestAPolicyIsRead(t *testing.T) {
	want := mcpproxy.Policy{
		AllowTools: []string{"read_*"}, DenyTools: []string{"delete_*"},
		Timeout: 30 * time.Second, Timeouts: map[string]time.Duration{"slow_*": 5 * time.Minute},
		MaxConcurrent: 4, Rate: mcpproxy.Rate{Calls: 10, Per: time.Second},
		Redaction: mcpproxy.Redaction{
			Keys: []string{"password", "token"}, Patterns: []string{`sk-[A-Za-z0-9]{20,}`}, With: "[redacted]", Arguments: true,
		},
	}
	if got, err := parsePolicy([]byte(wholePolicy)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, empty := range []string{"", "# nothing\n", "tools: {}\n"} {
		if got, err := parsePolicy([]byte(empty)); err != nil || !reflect.DeepEqual(got, mcpproxy.Policy{}) {
			t.Errorf("%q: got %+v, %v", empty, got, err)
		}
	}
}

func TestAnAllowListWithoutEntriesAllowsNoTool(t *testing.T) {
	got, err := parsePolicy([]byte("tools:\n  allow: []\n"))
	if err != nil || got.AllowTools == nil || len(got.AllowTools) > 0 {
		t.Errorf("an empty list: got %#v, %v, want an empty list", got.AllowTools, err)
	}
	for text, line := range map[string]string{
		"tools:\n  allow:\n    # - read_*\n":          "line 2: allow has no value",
		"tools:\n  # allow: [a]\ntimeout: 1s\n":       "line 1: tools has no value",
		"tools:\n  allow: ~\n  deny: [a]\n":           "line 2: allow has no value",
		"redact:\n  keys: [a]\n  patterns: null\n":    "line 3: patterns has no value",
		"tools: &x\n  allow: &n\ntimeouts: {a: *n}\n": "has no value",
	} {
		if _, err := parsePolicy([]byte(text)); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: got %v, want %q", text, err, line)
		}
	}
}

func TestAMistakeInAPolicyNamesItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"tools:\n  alow: []\n":           "line 2: unknown key alow",
		"timeout: 3s\nx: 1\ny: 2\n":      "line 2: unknown key x; line 3: unknown key y",
		"timeout: 3\n":                   "line 1: not understood: int `3`",
		"timeout: soon\n":                "line 1: not understood: str `soon`",
		"limit:\n  rate: ten\n":          `line 2: "ten" is not a rate such as 10/s, 100/m or 1000/h`,
		"limit:\n  rate: 0/s\n":          `line 2: "0/s" is not a rate such as 10/s, 100/m or 1000/h`,
		"tools: {allow: [a]}\ntools: {}": `line 2: mapping key "tools" already defined at line 1`,
		"tools: [\n":                     "line 1: did not find expected node content",
		"timeout: 1s\n---\ntools: {}\n":  "the file has more than one document",
	} {
		if _, err := parsePolicy([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// TestAHostMayDoWhatThePolicySays has the demo's server behind a proxy with a policy.
func TestAHostMayDoWhatThePolicySays(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	t.Setenv(asCommand, "1")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	file := filepath.Join(t.TempDir(), "policy.yaml")
	policy := "tools: {deny: [crash]}\ntimeouts: {'w*': 100ms}\nredact: {keys: [celsius_max], patterns: ['Os.o']}\n"
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	self := demoServerCommand(t)[1]
	behind := []string{"--", self, "proxy", "--policy", file, "--deny-tool", "div*", "--", self, "serve-demo"}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"call", "forecast", "city=Oslo"}, exitOK,
			`{"city":"[redacted]","days":[{"sky":"clear","celsius_max":"[redacted]"}]}`},
		{[]string{"call", "--json", "wait", "seconds=60"}, exitTool,
			"longer than the 100ms that the policy of the proxy allows"},
		{[]string{"call", "divide", "a=6", "b=3"}, exitTool, `no tool "divide"`},
		{[]string{"call", "crash"}, exitTool, `unknown tool "crash": the policy of the proxy does not allow it`},
	} {
		code, out, stderr := runs(t, append(c.args, behind...)...)
		if code != c.code || !strings.Contains(out+stderr, c.want) {
			t.Errorf("%v: got exit code %d, %s%s, want %d and %s", c.args, code, out, stderr, c.code, c.want)
		}
	}
	s := sink.Snapshot()
	otlpcheck.Check(t, s)
	decided := map[any]bool{}
	for _, p := range s.PointsOf(names.MetricMCPServerPolicyDecisions) {
		decided[p.Attributes[names.KeyMCPServerPolicyDecision]] = true
	}
	want := map[any]bool{
		names.PolicyRedacted: true, names.PolicyTimedOut: true, names.PolicyHidden: true, names.PolicyDenied: true,
	}
	if !reflect.DeepEqual(decided, want) {
		t.Errorf("got the decisions %v, want %v", decided, want)
	}
	spans := s.SpansNamed("tools/call wait")
	for _, span := range spans {
		if span.Service() == proxyService && span.Kind == "SERVER" &&
			span.Attributes[names.KeyMCPServerPolicyDecision] == names.PolicyTimedOut {
			return
		}
	}
	t.Errorf("no span says that the call was ended: %v", spans)
}

func TestAMistakeInAPolicyIsUsage(t *testing.T) {
	noCollector(t)
	for want, flags := range map[string][]string{
		`policy: denied tools: "[" is no pattern, such as read_*`: {"--deny-tool", "["},
		"policy: the timeout is negative":                         {"--timeout", "-1s"},
		"no such file":                                            {"--policy", filepath.Join(t.TempDir(), "none")},
	} {
		code, _, stderr := runs(t, append(append([]string{"proxy"}, flags...), "--", "never-started")...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: got exit code %d, %s, want %d and %s", flags, code, stderr, exitUsage, want)
		}
	}
}
