package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/receiver"
)

// receiving runs "mcpotel explain" and returns the URL of its webhook and its output. stop ends the command, and checks
// its exit code.
func receiving(t *testing.T, args ...string) (url string, stdout, stderr *buffer, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, stderr = &buffer{}, &buffer{}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, streams{strings.NewReader(""), stdout, stderr, false},
			append([]string{"explain", "--listen", "0"}, args...))
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("want exit code 0, got %d: %s", code, stderr.String())
		}
	}
	t.Cleanup(stop)
	for {
		if _, rest, ok := strings.Cut(stderr.String(), "alerts are received at "); ok {
			url, _, _ := strings.Cut(rest, "\n")
			return url, stdout, stderr, stop
		}
		select {
		case code := <-ended:
			ended <- code
			t.Fatalf("the command ended with %d: %s", code, stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// notify posts an alert to the webhook, as Alertmanager does, and returns the answer.
func notify(t *testing.T, url, status, token string, labels map[string]string) (int, string) {
	t.Helper()
	body, err := json.Marshal(receiver.Notification(status, labels, map[string]string{"summary": "divide fails"},
		time.Now().Truncate(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestExplainDeliversAnAlertWithItsCause explains an alert by a trace of a Jaeger, to all kinds of sinks.
func TestExplainDeliversAnAlertWithItsCause(t *testing.T) {
	noCollector(t)
	jaeger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v3/services":
			_, _ = io.WriteString(w, `{"services":["mcpotel-demo-server"]}`)
		case "/api/traces":
			_, _ = io.WriteString(w, `{"data":[{"traceID":"450a6458619ee611e4ea03ffb833d2db"}]}`)
		case "/api/v3/traces/450a6458619ee611e4ea03ffb833d2db":
			now := strconv.FormatInt(time.Now().UnixNano(), 10)
			_, _ = io.WriteString(w, regexp.MustCompile(`"17952615\d+"`).ReplaceAllString(recordedTrace, `"`+now+`"`))
		default:
			http.NotFound(w, r)
		}
	}))
	defer jaeger.Close()
	posts := make(chan string, 10)
	hooks := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts <- r.URL.Path + " " + string(body)
	}))
	defer hooks.Close()
	dir := t.TempDir()
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "alerts.jsonl")
	if err := os.WriteFile(key, []byte("r0utingk3y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLACK", hooks.URL+"/s3cret")
	t.Setenv("TOKEN", "let-me-in")
	url, stdout, stderr, stop := receiving(t, "--jaeger", jaeger.URL, "--token", "TOKEN", "--to", "log", "--to",
		"file:"+file, "--to", "slack:SLACK", "--to", "pagerduty:@"+key, "--pagerduty-url", hooks.URL+"/v2/enqueue")
	labels := map[string]string{"alertname": "MCPToolErrors", "job": "mcpotel-demo-server", "gen_ai_tool_name": "divide",
		"severity": "info"}
	if status, answer := notify(t, url, "firing", "", labels); status != http.StatusUnauthorized {
		t.Errorf("without a token: want 401, got %d: %s", status, answer)
	}
	for range 2 { // the second notification repeats the first
		if status, answer := notify(t, url, "firing", "let-me-in", labels); status != http.StatusOK {
			t.Fatalf("want 200, got %d: %s", status, answer)
		}
	}
	if status, answer := notify(t, url, "resolved", "let-me-in", labels); status != http.StatusOK {
		t.Fatalf("want 200, got %d: %s", status, answer)
	}
	for _, want := range [][]string{
		{"/s3cret ", "Unknown tool: divide", "/trace/450a6458619ee611e4ea03ffb833d2db|Trace>", "#mcptoolerrors|Runbook>"},
		{"/v2/enqueue ", `"routing_key":"r0utingk3y","event_action":"trigger"`, "(unknown_tool, certain)"},
		{"/s3cret ", "Resolved: MCPToolErrors"}, {"/v2/enqueue ", `"event_action":"resolve"`},
	} {
		post := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(<-posts)
		for _, part := range want {
			if !strings.Contains(post, part) {
				t.Errorf("want a post with %q, got %s", part, post)
			}
		}
	}
	if len(posts) != 0 {
		t.Errorf("want no post for the repetition, got %s", <-posts)
	}
	if status, body := fetch(t, strings.TrimSuffix(url, alertsPath)+healthPath); status != http.StatusOK || body != "ok\n" {
		t.Errorf("healthz: got %d, %q", status, body)
	}
	stop()
	text, err := os.ReadFile(file)
	if err != nil || string(text) != stdout.String() || strings.Count(stdout.String(), "\n") != 2 {
		t.Errorf("want the same two records in the file and on standard output, got %q, %v and %q", text, err, stdout.String())
	}
	for _, secret := range []string{"s3cret", "r0utingk3y", "let-me-in"} {
		if strings.Contains(stdout.String()+stderr.String(), secret) {
			t.Errorf("the output contains the secret %s: %s%s", secret, stdout.String(), stderr.String())
		}
	}
}

// TestExplainLosesNoAlertIfASinkFails makes the webhook of a sink fail, and repeats the alert as Alertmanager does.
func TestExplainLosesNoAlertIfASinkFails(t *testing.T) {
	noCollector(t)
	down := make(chan bool, 1)
	down <- true
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-down:
			http.Error(w, "no_service", http.StatusNotFound)
		default:
		}
	}))
	defer hook.Close()
	t.Setenv("SLACK", hook.URL+"/s3cret")
	url, stdout, stderr, _ := receiving(t, "--debug", "http://127.0.0.1:1/debug/mcp/", "--to", "log", "--to", "slack:SLACK",
		"--timeout", "1ms")
	labels := map[string]string{"alertname": "MCPSendQueueWait", "job": "shop"}
	status, answer := notify(t, url, "firing", "", labels)
	if want := "slack: HTTP 404: no_service"; status != http.StatusBadGateway || !strings.Contains(answer, want) ||
		!strings.Contains(stderr.String(), want) {
		t.Errorf("want 502 and %q in the answer and in the log, got %d, %s, %s", want, status, answer, stderr.String())
	}
	if status, answer = notify(t, url, "firing", "", labels); status != http.StatusOK {
		t.Errorf("want 200, got %d: %s", status, answer)
	}
	var m receiver.Message
	if err := json.Unmarshal([]byte(stdout.String()), &m); err != nil || m.Runbook == nil || len(m.Missing) == 0 {
		t.Errorf("want one record with the runbook and the missing evidence, got %s: %v", stdout.String(), err)
	}
}

func TestMisuseOfExplainIsExplained(t *testing.T) {
	noCollector(t)
	t.Setenv("EMPTY", " ")
	t.Setenv("NO_URL", "hooks.slack.com/s3cret")
	missing := filepath.Join(t.TempDir(), "missing")
	with := func(args ...string) []string {
		return append([]string{"--listen", "0", "--jaeger", "http://127.0.0.1:1"}, args...)
	}
	for want, args := range map[string][]string{
		"--listen ADDRESS is missing":                              {"--jaeger", "http://127.0.0.1:1"},
		"no source: give --debug URL":                              {"--listen", "0"},
		"--listen: no address":                                     {"--listen", "nosuch", "--jaeger", "http://127.0.0.1:1"},
		"--timeout must be above zero":                             with("--timeout", "0"),
		"--to mail: want log, file:PATH, slack:SECRET":             with("--to", "mail:me"),
		"--to slack: want log, file:PATH, slack:SECRET":            with("--to", "slack"),
		"--to slack: want the name of an environment variable":     with("--to", "slack:NOSUCH"),
		"--to slack: the secret is empty":                          with("--to", "slack:EMPTY"),
		"--to slack: the address of the webhook is not a URL with": with("--to", "slack:NO_URL"),
		"--to pagerduty: open ":                                    with("--to", "pagerduty:@"+missing),
		"--to file: open ":                                         with("--to", "file:"+missing+"/x"),
		"--token: want the name of an environment variable":        with("--token", "NOSUCH"),
		"has no {trace_id}":                                        with("--trace-url", "https://j"),
		"want an address with http or https":                       with("--runbook", "javascript:x"),
		"--prometheus: ":                                           {"--listen", "0", "--prometheus", "localhost:9090"},
	} {
		code, _, stderr := runs(t, append([]string{"explain"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, want) || strings.Contains(stderr, "s3cret") {
			t.Errorf("%q: want exit code 2 and %q, got %d: %s", args, want, code, stderr)
		}
	}
}
