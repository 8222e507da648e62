package main

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// TestProxyEnforcesThePolicy runs the demo's server behind a proxy with a policy.
func TestProxyEnforcesThePolicy(t *testing.T) {
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
			"exceeded the timeout of 100ms in the proxy's policy"},
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
	t.Errorf("no span has the decision of the policy to end the call: %v", spans)
}

func TestInvalidPolicyIsAUsageError(t *testing.T) {
	noCollector(t)
	for want, flags := range map[string][]string{
		`policy: denied tools: "[" is not a valid pattern; want one such as read_*`: {"--deny-tool", "["},
		"policy: the timeout is negative":                                           {"--timeout", "-1s"},
		"no such file":                                                              {"--policy", filepath.Join(t.TempDir(), "none")},
	} {
		code, _, stderr := runs(t, append(append([]string{"proxy"}, flags...), "--", "never-started")...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: got exit code %d, %s, want %d and %s", flags, code, stderr, exitUsage, want)
		}
	}
}
