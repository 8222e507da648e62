package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/gameday"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// monitoring serves the APIs of a Prometheus and a Jaeger. The Prometheus has alerts with these names; none of them
// fires.
func monitoring(t *testing.T, alerts ...string) string {
	type rule struct{ Name string }
	var rules []rule
	for _, name := range alerts {
		rules = append(rules, rule{name})
	}
	text, err := json.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/rules":
			fmt.Fprintf(w, `{"status":"success","data":{"groups":[{"rules":%s}]}}`, text)
		case "/api/v1/alerts":
			fmt.Fprint(w, `{"status":"success","data":{"alerts":[]}}`)
		case "/api/v3/services":
			fmt.Fprint(w, `{"services":[]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestAGameDayReportsAlertsThatDoNotFire runs drills for one second, which is too short for any alert to fire.
func TestAGameDayReportsAlertsThatDoNotFire(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(t.Context())
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	t.Setenv("OTEL_SERVICE_NAME", "another")
	url := monitoring(t, "MCPHandlerPanics", "MCPResponsesDropped")
	args := []string{"gameday", "--prometheus", url, "--jaeger", url, "--within", "1s", "--only", "MCP[HR]*", "--only",
		"MCPToolLoop"}
	code, out, stderr := runs(t, args...)
	for _, want := range []string{"MCPHandlerPanics            not_fired", "MCPToolLoop                 not_loaded",
		"0 of 3 alerts passed, 0 led to a trace, in ", "MCPTelemetryAbsent fires for"} {
		if code != exitTool || !strings.Contains(out, want) {
			t.Errorf("want exit code %d and %q, got %d and %s%s", exitTool, want, code, out, stderr)
		}
	}
	_, took, _ := strings.Cut(out, "0 led to a trace, in ")
	took, _, _ = strings.Cut(took, "\n")
	if d, err := time.ParseDuration(took); err != nil || d < time.Second {
		t.Errorf("want a duration of at least 1 s, got %q", took)
	}
	if !strings.Contains(stderr, "MCPResponsesDropped: answers arrive twice") {
		t.Errorf("want a message about the injected failure, got %q", stderr)
	}
	services := map[string]bool{}
	for _, s := range sink.Snapshot().Spans {
		services[s.Service()] = true
	}
	if !services[gameday.Service] || len(services) != 1 {
		t.Errorf("services of the spans: %v, want %s", services, gameday.Service)
	}
	code, out, _ = runs(t, append(args, "--json")...)
	var report gameDayReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitTool || report.Passed ||
		len(report.Alerts) != 3 || report.Alerts[0].Outcome != gameday.NotLoaded {
		t.Errorf("as JSON: got exit code %d, %+v, %v", code, report, err)
	}
}

func TestMisuseOfGameDayIsExplained(t *testing.T) {
	noCollector(t)
	url := monitoring(t)
	refused := func(want string, args ...string) {
		t.Helper()
		code, _, stderr := runs(t, append([]string{"gameday"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: want exit code %d and %q, got %d and %s", args, exitUsage, want, code, stderr)
		}
	}
	refused("--prometheus URL is missing")
	refused("OTEL_EXPORTER_OTLP_ENDPOINT is missing", "--prometheus", url)
	refused("--only MCPClientSlo: no alert matches (did you mean MCPClientSlow?)", "--only", "MCPClientSlo")
	refused("is not a valid pattern", "--only", "[")
	refused("no such file", "--plan", filepath.Join(t.TempDir(), "plan.yaml"))
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
	refused("want a URL such as http://localhost:9090", "--prometheus", "localhost:9090")
	refused("--explain needs --jaeger URL", "--prometheus", url, "--explain")
	refused("--jaeger-header needs --jaeger URL", "--prometheus", url, "--jaeger-header", "A=b")
	refused("prometheus-header 1 is not of the form NAME=VALUE", "--prometheus", url, "--prometheus-header", "A: secret")
	refused("404", "--prometheus", url+"/elsewhere")
	refused("--jaeger: ", "--prometheus", url, "--jaeger", url+"/elsewhere")
}

func TestGameDayLogsInToBackends(t *testing.T) {
	noCollector(t)
	open, err := url.Parse(monitoring(t, "Another"))
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(open)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
	t.Setenv("TOKEN", "Bearer let-me-in")
	args := []string{"gameday", "--prometheus", s.URL, "--jaeger", s.URL, "--only", "MCPToolLoop", "--within", "1s"}
	for _, want := range []string{"--prometheus: prometheus: rules: 401", "--jaeger: ",
		"MCPToolLoop                 not_loaded"} {
		code, out, stderr := runs(t, args...)
		if !strings.Contains(out+stderr, want) || strings.Contains(out+stderr, "let-me-in") {
			t.Errorf("%q: want %q and no token, got exit code %d, %s%s", args, want, code, out, stderr)
		}
		if want == "--jaeger: " {
			args = append(args, "--jaeger-header-env", "Authorization=TOKEN")
		} else {
			args = append(args, "--prometheus-header", "Authorization=Bearer let-me-in")
		}
	}
}

func TestTheDrillsOfAPlanAreListed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	text := "alerts: [{alert: Mine, as: MCPClientSlow}, {alert: Other, faults: [{kind: cut}]}]"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := runs(t, "gameday", "--plan", file, "--list")
	want := "Mine                        about 3 min       answers to calls arrive 6 s late\nOther                      " +
		" as its rule says  the faults of the plan are injected into calls\n"
	if code != exitOK || out != want {
		t.Errorf("got exit code %d and\n%s%s, want\n%s", code, out, stderr, want)
	}
}
