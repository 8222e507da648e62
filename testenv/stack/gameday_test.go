package stack_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/command/gameday"
	alerts "github.com/mcpotel/mcpotel/internal/command/receiver"
	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/testenv/stack"
)

// hurry is the factor by which the windows of the rules are shorter than in the dashboards: 15 s instead of 5 min.
const hurry = 20

var windows = regexp.MustCompile(`(\[|offset |for: )(\d+)([smhd])\b`)

// uptime is the only time in a rule that is a plain number, in seconds.
const uptime = "job:mcp_telemetry:uptime[6h]) > 600"

// hurried copies a file of rules, with shorter windows.
func hurried(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]int{"s": 1, "m": 60, "h": 3600, "d": 86400}
	young := strings.Replace(uptime, "600", strconv.Itoa(600/hurry), 1)
	shorter := windows.ReplaceAllStringFunc(strings.ReplaceAll(string(text), uptime, young), func(window string) string {
		part := windows.FindStringSubmatch(window)
		n, err := strconv.Atoi(part[2])
		if err != nil {
			t.Fatal(err)
		}
		return part[1] + strconv.Itoa(n*units[part[3]]*1000/hurry) + "ms"
	})
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(path, []byte(shorter), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// explaining starts "mcpotel explain" for the alerts of a stack. The result sends an alert of the stack's Prometheus to
// its webhook as Alertmanager does, and returns the delivered message. See [alerts.Notification] for the differences.
func explaining(t *testing.T, ctx context.Context, s *stack.Stack) func(context.Context, gameday.Alert) (*alerts.Message,
	error) {
	t.Helper()
	debug := httptest.NewServer(debugpage.Handler(debugpage.LocalOnly()))
	t.Cleanup(debug.Close)
	records := filepath.Join(t.TempDir(), "alerts.jsonl")
	local := func(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }
	command := exec.Command(mcpotelCommand(t, ctx), "explain", "--listen", "127.0.0.1:0", "--to", "file:"+records,
		"--jaeger", local(s.Ports.JaegerUI), "--prometheus", local(s.Ports.Prometheus), "--debug", debug.URL+"/")
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan string, 1), make(chan struct{})
	go func() { // ends with the command
		defer close(ended)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "alerts are received at "); ok {
				ready <- url
			}
			t.Log(lines.Text())
		}
	}()
	t.Cleanup(func() {
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		<-ended
		if err := command.Wait(); err != nil {
			t.Errorf("mcpotel explain: %v", err)
		}
	})
	url := ""
	select {
	case url = <-ready:
	case <-ended:
		t.Fatal("mcpotel explain does not start")
	}
	return func(ctx context.Context, a gameday.Alert) (*alerts.Message, error) {
		p := alerts.Notification(alerts.Firing, a.Labels, a.Annotations, time.Now())
		if err := post(ctx, url, p); err != nil {
			return nil, err
		}
		return delivered(records, p.Alerts[0].Fingerprint)
	}
}

// post posts a payload to a webhook.
func post(ctx context.Context, url string, p *alerts.Payload) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// delivered returns the last message about an alert in a file of records.
func delivered(file, fingerprint string) (found *alerts.Message, _ error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		m := &alerts.Message{}
		if err := json.Unmarshal(line, m); err != nil {
			return nil, err
		}
		if m.Fingerprint == fingerprint {
			found = m
		}
	}
	return found, nil
}

// TestAGameDayRaisesEachAlert runs all drills against the alerts of the dashboards, with shorter windows. It also checks
// that "mcpotel explain" answers each alert with the cause, its evidence, a trace and the section of the runbook.
func TestAGameDayRaisesEachAlert(t *testing.T) {
	rules, err := dashboardRules()
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range rules {
		rules[i] = hurried(t, file)
	}
	root, err := stack.Repository()
	if err != nil {
		t.Fatal(err)
	}
	forgetful := filepath.Join(t.TempDir(), "forgetful.yaml") // forgets ended processes sooner, by the same factor
	text := "exporters: {prometheus: {metric_expiration: " + strconv.Itoa(300/hurry) + "s}}\n"
	if err := os.WriteFile(forgetful, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := limit(t, 5*time.Minute)
	s, err := stack.Up(ctx, stack.Options{Rules: rules, Log: t.Output(),
		Gateway: []string{filepath.Join(root, "collector", "gateway.yaml"), forgetful}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}()
	at, err := backend.New("http://127.0.0.1:"+strconv.Itoa(s.Ports.JaegerUI), nil)
	if err != nil {
		t.Fatal(err)
	}
	jaeger := traceview.NewJaeger(at)
	explain := explaining(t, ctx, s)
	playing, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	results, err := gameday.Run(playing, &gameday.Options{
		Drills: gameday.Drills(), Alerts: gameday.Prometheus{Client: s.Metrics}, Traces: gameday.Jaeger{Jaeger: jaeger},
		Explain: func(ctx context.Context, a gameday.Alert) (*alerts.Message, error) {
			m, err := explain(ctx, a)
			t.Logf("%s is explained, %v:\n%s", a.Name, err, m)
			return m, err
		},
		Poll: time.Second, Pace: hurry, Say: func(e gameday.Event) { t.Log(e.Alert, e.Text) },
		Begin: func(ctx context.Context, service string) (gameday.Exporting, error) {
			if service == gameday.Overflows {
				os.Setenv("OTEL_GO_X_CARDINALITY_LIMIT", "3")
				defer os.Unsetenv("OTEL_GO_X_CARDINALITY_LIMIT")
			}
			return otlp.Setup(ctx, otlp.WithEndpoint(s.OTLP()), otlp.WithServiceName(service), otlp.WithGlobals(false),
				otlp.WithConsole(nil, nil), otlp.WithExportInterval(500*time.Millisecond))
		},
	})
	if err != nil {
		t.Error(err)
	}
	for _, r := range results {
		t.Logf("%-26s %-12s fired after %v, over after %v, trace by %s, causes %s %s", r.Alert, r.Outcome, r.Fired,
			r.Resolved, r.Link, r.Causes, r.Trouble)
		if r.Outcome != gameday.Passed || r.Trouble != "" {
			t.Errorf("want it passed, got %+v", r)
		}
	}
	if len(results) != len(gameday.Drills()) {
		t.Errorf("got %d results, want %d", len(results), len(gameday.Drills()))
	}
}
