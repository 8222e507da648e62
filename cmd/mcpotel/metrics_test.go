//go:build !windows

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/scrape"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// metricsURL matches the line with the URL of the metrics on standard error.
var metricsURL = regexp.MustCompile(`metrics are at (http://\S+)/metrics`)

// servesMetrics is servesBy for a command with --metrics. metrics is the URL of its page, without a path.
func servesMetrics(t *testing.T, args ...string) (url, metrics string, stop func() int) {
	t.Helper()
	var stderr buffer
	url, stop = servesAndLogs(t, &stderr, append([]string{args[0], "--metrics", "127.0.0.1:0"}, args[1:]...)...)
	found := metricsURL.FindStringSubmatch(stderr.String())
	if found == nil {
		t.Fatalf("no URL of the metrics on standard error: %s", &stderr)
	}
	return url, found[1], stop
}

// awaits gets a page until its status and text satisfy good, and returns the text. want describes good.
func awaits(t *testing.T, url, want string, good func(status int, text string) bool) string {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		status, text := fetch(t, url)
		if good(status, text) {
			return text
		}
		select {
		case <-deadline:
			t.Fatalf("%s: got %d, want %s:\n%s", url, status, want, text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// wantSeries waits until the metrics have a series with this name, these labels and this value.
func wantSeries(t *testing.T, metrics, name, value string, labels ...string) {
	t.Helper()
	awaits(t, metrics+scrape.Path, fmt.Sprintf("%s%q %s", name, labels, value), func(_ int, text string) bool {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, name+"{") && strings.HasSuffix(line, "} "+value+"\n") &&
				!slices.ContainsFunc(labels, func(l string) bool { return !strings.Contains(line, l) }) {
				return true
			}
		}
		return false
	})
}

// becomes waits until the health page has the status, and returns its text.
func becomes(t *testing.T, metrics string, status int) string {
	t.Helper()
	return awaits(t, metrics+healthPath, http.StatusText(status), func(got int, _ string) bool { return got == status })
}

// scrapes gets the metrics with a request that change has changed.
func scrapes(t *testing.T, metrics string, change func(*http.Request)) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, metrics+scrape.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	all, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, string(all)
}

// hostAt returns a host of a proxy at a URL, with a session.
func hostAt(t *testing.T, to transport.Transport) *mcpclient.Client {
	t.Helper()
	host, err := mcpclient.Connect(t.Context(), to, &mcpclient.Options{
		Telemetry: telemetry.Off(), Versions: []mcp.Version{mcp.Version20250618},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	return host
}

// divides calls divide of the demo's server.
func divides(t *testing.T, host *mcpclient.Client, tool string) {
	t.Helper()
	if _, err := host.CallTool(t.Context(), tool, map[string]int{"a": 6, "b": 3}); err != nil {
		t.Fatal(err)
	}
}

// TestProxyServesMetricsAndHealth scrapes a proxy, and then removes the program of its server, kills the server, and
// restores the program.
func TestProxyServesMetricsAndHealth(t *testing.T) {
	noCollector(t)
	program := filepath.Join(t.TempDir(), "server")
	link := func() {
		if err := os.Symlink(demoServerCommand(t)[1], program); err != nil {
			t.Fatal(err)
		}
	}
	link()
	url, metrics, stop := servesMetrics(t, "proxy", "--listen", ":0", "--name", "demo", "--", program, "serve-demo")
	if got := becomes(t, metrics, http.StatusOK); got != `{"ready":true,"clients":[]}`+"\n" {
		t.Errorf("health without a host: got %s", got)
	}
	host := hostAt(t, &transport.HTTP{URL: url})
	divides(t, host, "divide")
	wantSeries(t, metrics, "mcp_client_operation_duration_seconds_count", "1", `mcp_client_name="demo"`,
		`gen_ai_tool_name="divide"`, `mcp_method_name="tools/call"`)
	wantSeries(t, metrics, "mcp_server_operation_duration_seconds_count", "1", `gen_ai_tool_name="divide"`)
	if got := becomes(t, metrics, http.StatusOK); !strings.Contains(got, `"name":"demo","state":"ready"`) {
		t.Errorf("health with a host: got %s", got)
	}

	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if _, err := host.CallTool(t.Context(), "crash", nil); err == nil {
		t.Error("the call of crash has succeeded")
	}
	if got := becomes(t, metrics, http.StatusServiceUnavailable); !strings.Contains(got, `"reason":"`) {
		t.Errorf("health without a server: got %s, want the reason", got)
	}
	link()
	becomes(t, metrics, http.StatusOK)
	divides(t, host, "divide")
	wantSeries(t, metrics, "mcp_client_operation_duration_seconds_count", "2", `gen_ai_tool_name="divide"`)

	if code := stop(); code != exitOK {
		t.Errorf("exit code of the stopped proxy: got %d, want 0", code)
	}
	if w, err := http.Get(metrics + scrape.Path); err == nil {
		w.Body.Close()
		t.Error("the metrics are served after the end of the proxy")
	}
}

// TestProxyOnStandardInputServesMetrics runs a proxy like a host that starts it.
func TestProxyOnStandardInputServesMetrics(t *testing.T) {
	noCollector(t)
	found := make(chan string, 1)
	self := demoServerCommand(t)[1]
	host := hostAt(t, transport.Stdio{
		Command: self, Args: []string{"proxy", "--metrics", "127.0.0.1:0", "--name", "demo", "--", self, "serve-demo"},
		Env: append(os.Environ(), asCommand+"=1"),
		Stderr: func(line string) {
			if m := metricsURL.FindStringSubmatch(line); m != nil {
				found <- m[1]
			}
		},
	})
	metrics := <-found
	divides(t, host, "divide")
	wantSeries(t, metrics, "mcp_client_operation_duration_seconds_count", "1", `gen_ai_tool_name="divide"`)
	becomes(t, metrics, http.StatusOK)
}

func TestGatewayServesMetricsAndHealth(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	url, metrics, _ := servesMetrics(t, "proxy", "--listen", ":0", "--config", twoDemos(t))
	host := hostAt(t, &transport.HTTP{URL: url})
	divides(t, host, "east_divide")
	wantSeries(t, metrics, "mcp_client_operation_duration_seconds_count", "1", `mcp_client_name="east"`,
		`gen_ai_tool_name="divide"`)
	got := becomes(t, metrics, http.StatusOK)
	for _, want := range []string{`"name":"east","state":"ready"`, `"name":"west","state":"ready"`} {
		if !strings.Contains(got, want) {
			t.Errorf("health: got %s, want %s", got, want)
		}
	}
}

// TestDemoServerPushesAndServesMetrics scrapes a command that also exports to a collector.
func TestDemoServerPushesAndServesMetrics(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	url, metrics, stop := servesMetrics(t, "serve-demo", "--http", ":0")
	divides(t, hostAt(t, &transport.HTTP{URL: url}), "divide")
	wantSeries(t, metrics, "mcp_server_operation_duration_seconds_count", "1", `gen_ai_tool_name="divide"`)
	_, text := scrapes(t, metrics, func(r *http.Request) {
		r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	})
	if !strings.Contains(text, ` # {`) || !strings.HasSuffix(text, "# EOF\n") {
		t.Errorf("want exemplars in OpenMetrics, got:\n%s", text)
	}
	if got := becomes(t, metrics, http.StatusOK); got != `{"ready":true,"clients":[]}`+"\n" {
		t.Errorf("health: got %s", got)
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if len(sink.Snapshot().PointsOf("mcp.server.operation.duration")) == 0 {
		t.Error("the collector got no metrics")
	}
}

func TestMetricsOnLoopbackRefuseForeignHosts(t *testing.T) {
	noCollector(t)
	_, metrics, _ := servesMetrics(t, "serve-demo", "--http", ":0")
	if status, text := scrapes(t, metrics, func(r *http.Request) { r.Host = "evil.example" }); status != 421 {
		t.Errorf("a host name that resolves to the loopback: got %d %s, want 421", status, text)
	}
	if status, text := fetch(t, metrics+debugPath); status != http.StatusNotFound {
		t.Errorf("the debug page: got %d %s, want 404", status, text)
	}
}

func TestMisuseOfMetricsIsExplained(t *testing.T) {
	noCollector(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	used := l.Addr().String()
	for address, want := range map[string]string{
		used:             "--metrics: " + used + " is in use by another program; --metrics=127.0.0.1:0 selects a free port",
		"here":           "missing port in address; give a port, such as :9464, or an address of this machine with a port",
		"192.0.2.1:9464": "give a port, such as :9464",
	} {
		for _, args := range [][]string{{"proxy", "--", "never-started"}, {"serve-demo", "--http", ":0"}} {
			args = append([]string{args[0], "--metrics", address}, args[1:]...)
			if code, _, stderr := runs(t, args...); code != exitUsage || !strings.Contains(stderr, want) {
				t.Errorf("%v: got exit code %d and %s, want %s", args, code, stderr, want)
			}
		}
	}
	t.Setenv("OTEL_SDK_DISABLED", "true")
	code, _, stderr := runs(t, "proxy", "--metrics", "127.0.0.1:0", "--", "never-started")
	if code != exitUsage || !strings.Contains(stderr, "OTEL_SDK_DISABLED is true: unset the variable") {
		t.Errorf("without the SDK: got exit code %d and %s", code, stderr)
	}
}
