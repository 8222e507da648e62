package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// probing runs "mcpotel probe" and returns the URL of its page.
func probing(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var stderr buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, streams{strings.NewReader(""), io.Discard, &stderr, false},
			append([]string{"probe", "--listen", "127.0.0.1:0"}, args...))
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("want exit code 0, got %d: %s", code, stderr.String())
		}
	})
	for {
		if _, rest, ok := strings.Cut(stderr.String(), "probes are at "); ok {
			url, _, _ := strings.Cut(rest, "/probe")
			return url
		}
		select {
		case code := <-ended:
			ended <- code
			t.Fatalf("the command ended with %d: %s", code, stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestProbeReportsTheDoctorsChecks(t *testing.T) {
	noCollector(t)
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of the client only after the body
		<-r.Context().Done()
	}))
	t.Cleanup(hanging.Close)
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers":{"demo":{"command":"` + demoServerCommand(t)[1] + `","args":["serve-demo"]},
		"gone":{"url":"http://127.0.0.1:1/mcp"},"slow":{"url":"` + hanging.URL + `"}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	url := probing(t, "--config", file)
	for _, tc := range []struct {
		path   string
		status int
		want   []string
	}{
		{"/probe?target=demo", 200, []string{"probe_success 1", "mcp_probe_connected 1",
			`mcp_probe_check{check="handshake",verdict="ok"} 1`, `mcp_probe_check{check="listen",verdict="ok"} 1`,
			"probe_duration_seconds "}},
		{"/probe?target=gone", 200, []string{"probe_success 0", "mcp_probe_connected 0",
			`mcp_probe_check{check="tcp",verdict="fail"} 1`}},
		{"/probe", 400, []string{"target must be one of: demo"}},
		{"/probe?target=http://169.254.169.254/", 400, []string{"target must be one of: demo"}},
		{"/probe?target=demo&module=x", 400, []string{"module must be"}},
		{"/probe?target=demo&module=call", 400, []string{"if the command has --call"}},
		{"/targets", 200, []string{`[{"targets":["demo","gone","slow"]}]`}},
		{"/", 200, []string{`<a href="/probe?target=demo">demo</a>`}},
		{"/healthz", 200, []string{"ok"}},
	} {
		status, body := fetch(t, url+tc.path)
		if status != tc.status {
			t.Errorf("%s: want %d, got %d", tc.path, tc.status, status)
		}
		for _, want := range tc.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: want %q, got %s", tc.path, want, body)
			}
		}
	}
	began := time.Now()
	_, body := fetch(t, url+"/probe?target=slow", "X-Prometheus-Scrape-Timeout-Seconds", "1")
	if took := time.Since(began); took > 5*time.Second || !strings.Contains(body, "probe_success 0") {
		t.Errorf("want a failure within the scrape's time of 1 s, got after %v: %s", took, body)
	}
}

func TestProbeCallsOnlyReadOnlyTools(t *testing.T) {
	noCollector(t)
	type query struct {
		Q string `json:"q"`
	}
	s := mcpserver.New(mcp.Implementation{Name: "s", Version: "1"}, nil)
	var written, read atomic.Int32
	for name, n := range map[string]*atomic.Int32{"search": &read, "write": &written} {
		err := mcpserver.AddTool(s, &mcp.Tool{Name: name, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: new(name == "search")}},
			func(_ context.Context, q query) (string, error) {
				n.Add(1)
				if q.Q != "health" {
					return "", errors.New("no such thing")
				}
				return "found", nil
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	site := httptest.NewServer(s.HTTPHandler(nil))
	t.Cleanup(site.Close)
	for call, want := range map[string]string{"search q=health": "probe_success 1", "search q=x": "probe_success 0",
		"search nosuch=x": "probe_success 0", "nosuch": "probe_success 0", "write q=health": "probe_success 0"} {
		url := probing(t, "--call", call, "--url", site.URL)
		if status, body := fetch(t, url+"/probe?module=call"); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: want %s, got %d: %s", call, want, status, body)
		}
	}
	if written.Load() != 0 || read.Load() == 0 {
		t.Errorf("want calls of the read-only tool only, got %d and %d others", read.Load(), written.Load())
	}
}

func TestProbeHidesTheArgumentsOfAServer(t *testing.T) {
	noCollector(t)
	url := probing(t, append(demoServerCommand(t), "--secret=s3cret")...)
	for _, path := range []string{"/", "/targets", "/probe?target=x"} {
		if _, body := fetch(t, url+path); strings.Contains(body, "s3cret") || strings.Contains(body, "serve-demo") {
			t.Errorf("%s: want no argument of the command, got %s", path, body)
		}
	}
}

func TestMisuseOfProbeIsExplained(t *testing.T) {
	noCollector(t)
	for want, args := range map[string][]string{
		"no server: give --url URL":    {"probe"},
		"--listen: ":                   append([]string{"probe", "--listen", "nosuch"}, demoServerCommand(t)...),
		"--timeout must be above zero": append([]string{"probe", "--timeout", "0"}, demoServerCommand(t)...),
	} {
		if code, _, stderr := runs(t, args...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: want exit code 2 and %q, got %d: %s", args, want, code, stderr)
		}
	}
}
