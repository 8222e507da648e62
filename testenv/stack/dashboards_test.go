package stack_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/dashboard"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/traffic"
)

// macros are the replacements for Grafana's macros and variables: all values of the variables, a range that covers the
// run, and a rate window for metrics that arrive every second.
var macros = map[string]string{
	"$__range": "15m", "$__range_s": "900", "$__rate_interval": "20s", "$__rate_interval_ms": "20000",
	"$environment": ".*", "$instance": ".*", "$version": ".*", "$resolution": "1s",
	"$job": ".*", "$server_job": ".*", "$client": ".+", "$server": ".+", "$method": ".+", "$server_method": ".+",
	"$tool": ".+",
}

var macro = regexp.MustCompile(`\$[a-z_]+`)

// filled returns a query in the form in which Grafana sends it.
func filled(t *testing.T, expr string) string {
	t.Helper()
	return macro.ReplaceAllStringFunc(expr, func(name string) string {
		value, known := macros[name]
		if !known {
			t.Errorf("%s is no macro and no variable that this test knows, in %s", name, expr)
		}
		return value
	})
}

// dashboardRules returns the files that the shared stack's Prometheus loads.
func dashboardRules() ([]string, error) {
	root, err := stack.Repository()
	return []string{filepath.Join(root, "dashboards", "rules.yaml"), filepath.Join(root, "dashboards", "alerts.yaml")}, err
}

// TestDashboardAndRuleQueriesReturnData generates every kind of traffic, and runs all queries of the dashboards, the
// rules and the alerts.
func TestDashboardAndRuleQueriesReturnData(t *testing.T) {
	fleet(t)
	overflow(t)
	for _, d := range dashboard.All() {
		t.Run(d.UID, func(t *testing.T) { askDashboard(t, d) })
	}
	t.Run("rules", askRules)
	t.Run("alerts", askAlerts)
}

// fleet plays all scenarios repeatedly until the test ends: a series has a rate only after several scrapes.
func fleet(t *testing.T) {
	t.Helper()
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.version=1.2.3")
	f, err := traffic.Start(limit(t, 2*time.Minute), traffic.Options{
		OTLP: up.OTLP(), OTLPHTTP: up.OTLPHTTP(), Interval: 200 * time.Millisecond, Log: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		playing.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := f.Stop(ctx); err != nil {
			t.Logf("stop: %v", err) // an export may have been in progress
		}
	})
	playing.Go(func() { // ends with cancel; another test checks the scenarios themselves
		for ctx.Err() == nil {
			if err := f.Run(ctx, 1); err != nil {
				t.Log(err)
			}
		}
	})
}

// overflowing is a resource attribute of the process whose metrics deliberately exceed the SDK's limit.
const overflowing = "stack.test.overflowing"

// overflow runs the demo with an SDK that allows hardly any series.
func overflow(t *testing.T) {
	t.Helper()
	root, err := stack.Repository()
	if err != nil {
		t.Fatal(err)
	}
	demo := exec.CommandContext(limit(t, 2*time.Minute), "go", "run", "./cmd/mcpotel", "demo")
	demo.Dir = root
	demo.Env = append(os.Environ(), "OTEL_GO_X_CARDINALITY_LIMIT=2", "OTEL_RESOURCE_ATTRIBUTES="+overflowing+"=true",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://"+up.OTLP())
	if out, err := demo.CombinedOutput(); err != nil {
		t.Fatalf("the demo: %v\n%s", err, out)
	}
}

func askDashboard(t *testing.T, d dashboard.Dashboard) {
	for _, v := range d.Variables {
		askVariable(t, v)
	}
	for _, a := range d.Annotations() {
		if _, err := up.Metrics.Query(limit(t, time.Minute), filled(t, a.Expr)); err != nil {
			t.Errorf("annotation %s: %v, of\n%s", a.Name, err, a.Expr)
		}
	}
	for _, r := range d.Rows {
		for _, p := range r.Panels {
			for i, q := range p.Queries {
				t.Run(p.Title+"/"+dashboard.Letter(i), func(t *testing.T) {
					askPanel(t, p, q)
					if q.Exemplars {
						askExemplars(t, q)
					}
				})
			}
		}
	}
}

// askPanel requires a non-empty answer, unless the table has a reason for an empty one.
func askPanel(t *testing.T, p dashboard.Panel, q dashboard.Query) {
	ctx, expr := limit(t, time.Minute), filled(t, q.Expr)
	ask := func() ([]prom.Series, error) {
		if p.Instant() {
			return up.Metrics.Query(ctx, expr)
		}
		now := time.Now()
		return up.Metrics.QueryRange(ctx, expr, now.Add(-10*time.Minute), now, 5*time.Second)
	}
	if q.Zero != "" {
		if _, err := ask(); err != nil {
			t.Errorf("%v, of\n%s", err, expr)
		}
		return
	}
	until(t, ctx, "there is an answer that is not nothing to\n"+expr, func() bool {
		all, err := ask()
		if err != nil && ctx.Err() == nil {
			t.Fatalf("%v, of\n%s", err, expr)
		}
		return isSomething(all)
	})
}

func isSomething(all []prom.Series) bool {
	for _, s := range all {
		for _, v := range s.Samples {
			if v.Value != 0 && !math.IsNaN(v.Value) {
				return true
			}
		}
	}
	return false
}

// askExemplars follows a point in a graph to its trace.
func askExemplars(t *testing.T, q dashboard.Query) {
	ctx, now := limit(t, time.Minute), time.Now()
	all, err := up.Metrics.Exemplars(ctx, filled(t, q.Expr), now.Add(-10*time.Minute), now)
	if err != nil {
		t.Fatal(err)
	}
	var id string
	for _, s := range all {
		for _, e := range s.Exemplars {
			id = e.Labels["trace_id"]
		}
	}
	if id == "" {
		t.Fatalf("none of %d series has an exemplar, want a point that leads to a trace, of\n%s", len(all), q.Expr)
	}
	until(t, ctx, "Jaeger has the trace "+id+" of the exemplar", func() bool {
		trace, err := up.Traces.Trace(ctx, id)
		return err == nil && trace != nil && len(trace.Spans) > 0
	})
}

var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

func askVariable(t *testing.T, v dashboard.Variable) {
	m := labelValues.FindStringSubmatch(v.Query)
	if m == nil {
		t.Errorf("variable %s asks %q, want label values", v.Name, v.Query)
		return
	}
	ctx, now := limit(t, time.Minute), time.Now()
	all, err := up.Metrics.Series(ctx, now.Add(-15*time.Minute), now, filled(t, m[1]))
	if err != nil {
		t.Errorf("variable %s: %v", v.Name, err)
	}
	values := map[string]bool{}
	for _, labels := range all {
		values[labels[m[2]]] = true
	}
	if delete(values, ""); len(values) == 0 {
		t.Errorf("variable %s has no values, want some of %s", v.Name, v.Query)
	}
}

// askRules requires data for the series that Prometheus records.
func askRules(t *testing.T) {
	for _, g := range dashboard.Recordings() {
		for _, r := range g.Rules {
			t.Run(r.Record, func(t *testing.T) {
				ctx := limit(t, time.Minute)
				until(t, ctx, "there is a recorded value, not nothing, of "+r.Record, func() bool {
					all, err := up.Metrics.QueryRange(ctx, r.Record, time.Now().Add(-5*time.Minute), time.Now(), time.Second)
					if err != nil && ctx.Err() == nil {
						t.Fatal(err)
					}
					return isSomething(all)
				})
			})
		}
	}
}

// threshold matches the comparison of an alert with its threshold.
var threshold = regexp.MustCompile(`(>=?) [0-9.]+( \* scalar\([^)]*\))?`)

// askAlerts requires that each alert has data: without its thresholds, its expression has an answer.
func askAlerts(t *testing.T) {
	ctx := limit(t, time.Minute)
	for _, a := range dashboard.Alerts() {
		if _, err := up.Metrics.Query(ctx, a.Expr); err != nil {
			t.Errorf("%s: %v, of\n%s", a.Name, err, a.Expr)
		}
		value, _, _ := strings.Cut(a.Expr, "\nunless")
		value = threshold.ReplaceAllString(value, ">= 0")
		until(t, ctx, a.Name+" looks at something, by\n"+value, func() bool {
			all, err := up.Metrics.Query(ctx, value)
			if err != nil && ctx.Err() == nil {
				t.Fatalf("%s: %v, of\n%s", a.Name, err, value)
			}
			return len(all) > 0
		})
	}
	for _, name := range atOnce {
		until(t, ctx, name+" fires", func() bool {
			all, err := up.Metrics.Query(ctx, `ALERTS{alertstate="firing",alertname="`+name+`"}`)
			return err == nil && len(all) > 0
		})
	}
}

// atOnce are the alerts that one round of traffic makes fire.
var atOnce = []string{"MCPClientErrorBudgetFast", "MCPProtocolViolations", "MCPResponsesDropped", "MCPHandlerPanics",
	"MCPCardinalityOverflow"}
