package stack_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/command/gameday"
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

// TestAGameDayRaisesEachAlert runs all drills against the alerts of the dashboards, with shorter windows.
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
	playing, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	results, err := gameday.Run(playing, &gameday.Options{
		Drills: gameday.Drills(), Alerts: gameday.Prometheus{Client: s.Metrics}, Traces: gameday.Jaeger{Jaeger: jaeger},
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
		t.Logf("%-26s %-12s fired after %v, over after %v, trace by %s %s", r.Alert, r.Outcome, r.Fired, r.Resolved, r.Link,
			r.Trouble)
		if r.Outcome != gameday.Passed || r.Trouble != "" {
			t.Errorf("want it passed, got %+v", r)
		}
	}
	if len(results) != len(gameday.Drills()) {
		t.Errorf("got %d results, want %d", len(results), len(gameday.Drills()))
	}
}
