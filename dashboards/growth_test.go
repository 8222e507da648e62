package dashboards

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/dashboard"
)

// A life is the series that Prometheus sees of a process and its counters, with one sample per minute. A counter
// without events stays at 1,000; with events, it grows by 1,000 per minute. Time begins at 0, so a process that started
// at -86400 is a day old.
type life struct {
	name, about    string
	start, counter string // samples of the start time and of each counter, in promtool's notation
	until          string // time at which the test checks whether the alert has fired until then
	fires          bool
}

// lives are the cases in which a query may mistake a constant counter for growth, or miss growth.
var lives = []life{
	{"restart", "Prometheus was down for five minutes. The counter is constant.",
		"-86400x90 _x5 -86400x90", "1000x90 _x5 1000x90", "3h", false},
	{"gap", "Prometheus was down for an hour and a half. The counter is constant. Eight hours later, the gap is before " +
		"all windows.",
		"-86400x60 _x90 -86400x500", "1000x60 _x90 1000x500", "10h30m", false},
	{"new Prometheus", "Prometheus is new and sees a process that is a day old. The counter is constant.",
		"-86400x480", "1000x480", "8h", false},
	{"redeployment", "The process ends, and a new process with the same instance starts, without events.",
		"-86400x60 3600x100", "1000x60 _x100", "2h40m", false},
	{"first event", "The first event of a process that is a day old.",
		"-86400x120", "_x60 1000+1000x30 31000x20", "2h", true},
	{"first event for a new Prometheus", "The first event of a process that is a day old, two minutes after the first " +
		"scrape of a new Prometheus.",
		"-86400x120", "_x2 1000+1000x30 31000x20", "2h", true},
	{"event after a start", "The counter starts together with a new process.",
		"_x60 3600x60", "_x60 1000+1000x30 31000x20", "2h", true},
	{"reset", "The process restarts immediately, with the same instance.",
		"-86400x60 3600x60", "90000x60 1000+1000x30 31000x20", "2h", true},
	{"late reset", "The process restarts 40 minutes later, with the same instance.",
		"-86400x60 _x40 6060x60", "90000x60 _x40 1000+1000x30 31000x20", "2h40m", true},
}

// silencing are alerts that end with growth, so falsely detected growth would hide them.
var silencing = []string{"MCPStuckInFlight"}

const growthFile = "growth_test.yaml"

// TestGrowthCasesMatchTheTable compares growth_test.yaml, which promtool runs, with the table: every alert on growth in
// every life.
func TestGrowthCasesMatchTheTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Every alert on the growth of a counter, in every life of Prometheus and of the process: promtool " +
		"test rules " +
		growthFile + "\n# Generated from growth_test.go by \"go generate ./dashboards\".\n" +
		"rule_files: [rules.yaml, alerts.yaml]\nevaluation_interval: 2m\ntests:\n")
	cases := 0
	for _, l := range lives {
		fmt.Fprintf(&b, "\n  # %s\n  - name: %s\n    interval: 1m\n    input_series:\n", l.about, l.name)
		var asked strings.Builder
		for _, a := range onGrowth(t) {
			series, gauges := counted(t, a)
			fmt.Fprintf(&b, "      - {series: 'mcp_client_start_time_seconds{job=\"%s\",instance=\"1\"}', values: '%s'}\n",
				a.Name, l.start)
			for _, s := range series {
				samples := l.counter
				if strings.Contains(s, "_bucket{") { // the bucket of fast requests has no events, so that all requests are slow
					samples = counts.ReplaceAllString(samples, "0x")
				}
				fmt.Fprintf(&b, "      - {series: '%s', values: '%s'}\n", s, samples)
			}
			fires := l.fires
			if slices.Contains(silencing, a.Name) {
				if l.fires {
					continue
				}
				fires = true
				for _, s := range gauges {
					fmt.Fprintf(&b, "      - {series: '%s', values: '%s'}\n", s, standing.ReplaceAllString(l.start, "1x"))
				}
			}
			want := "[]"
			if fires {
				want = fmt.Sprintf(`[{labels: '{alertname="%s"}', value: 1}]`, a.Name)
			}
			fmt.Fprintf(&asked, "      - expr: 'group by (alertname) "+
				"(count_over_time(ALERTS{alertname=%q,job=%[1]q,alertstate=\"firing\"}[1d]))'\n"+
				"        eval_time: %[2]s\n        exp_samples: %[3]s\n", a.Name, l.until, want)
			cases++
		}
		b.WriteString("    promql_expr_test:\n" + asked.String())
	}
	t.Logf("%d alerts, %d lives, %d cases", len(onGrowth(t)), len(lives), cases)
	checkFile(t, growthFile, b.String())
}

var (
	counts   = regexp.MustCompile(`[0-9]+(\+[0-9]+)?x`)
	standing = regexp.MustCompile(`-?[0-9]+x`)
)

// onGrowth returns the alerts that use the growth of a counter, in their own expression or in a recording rule.
func onGrowth(t *testing.T) (all []dashboard.Alert) {
	t.Helper()
	for _, a := range dashboard.Alerts() {
		if series, _ := counted(t, a); len(series) > 0 {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		t.Fatal("got no alert on growth")
	}
	return all
}

// counted returns series of the counters and of the gauges that an alert uses. Events on these counters raise the
// alert.
func counted(t *testing.T, a dashboard.Alert) (counters, gauges []string) {
	t.Helper()
	rules := map[string]string{}
	for _, g := range dashboard.Recordings() {
		for _, r := range g.Rules {
			rules[r.Record] = r.Expr
		}
	}
	found := map[string]selector{}
	var look func(expr string)
	look = func(expr string) {
		all := parse(expr).selectors
		for i, s := range all {
			f := known[s.name]
			switch {
			case rules[s.name] != "":
				look(rules[s.name])
			case f.counter && isGrowth(all[i:]) && hasSuffix(s.name, "_count", "_bucket", "_total"):
				found[s.name+s.matchersText()] = s
			case s.name != "" && f.metric.Name != "" && !f.counter && !s.isStart():
				gauges = append(gauges, seriesOf(a.Name, s, values(f, s)))
			}
		}
	}
	look(a.Expr)
	order := slices.SortedFunc(maps.Values(found), func(x, y selector) int { // the most specific first
		return cmp.Or(len(y.matchersText())-len(x.matchersText()), strings.Compare(x.name, y.name))
	})
	type made struct {
		name   string
		labels map[string]string
	}
	var all []made
	for _, s := range order {
		if slices.ContainsFunc(all, func(m made) bool { return m.name == s.name && s.matches(m.labels) }) {
			continue
		}
		one := made{s.name, values(known[s.name], s)}
		all = append(all, one)
		counters = append(counters, seriesOf(a.Name, s, one.labels))
	}
	return counters, gauges
}

func (s selector) isStart() bool { return strings.HasSuffix(s.name, "_start_time_seconds") }

func hasSuffix(name string, any ...string) bool {
	return slices.ContainsFunc(any, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

func (s selector) matches(labels map[string]string) bool {
	return !slices.ContainsFunc(s.matchers, func(m matcher) bool { return !m.matches(labels[m.label]) })
}

func (m matcher) matches(value string) bool {
	matched := value == m.value
	if strings.HasSuffix(m.op, "~") {
		matched = regexp.MustCompile("^(?:" + m.value + ")$").MatchString(value)
	}
	return matched != strings.HasPrefix(m.op, "!")
}

// values returns labels that a selector matches.
func values(f family, s selector) map[string]string {
	labels := map[string]string{}
	for _, m := range s.matchers {
		options := slices.Concat(strings.Split(m.value, "|"), f.values(m.label), []string{"x"})
		for _, o := range options {
			if all := labels[m.label]; m.matches(o) && (all == "" || m.matches(all)) {
				if labels[m.label] = o; s.matchesSoFar(labels) {
					break
				}
			}
		}
	}
	return labels
}

// matchesSoFar reports whether the selector's matchers accept the existing labels. It ignores matchers of missing
// labels.
func (s selector) matchesSoFar(labels map[string]string) bool {
	return !slices.ContainsFunc(s.matchers, func(m matcher) bool {
		value, ok := labels[m.label]
		return ok && !m.matches(value)
	})
}

func seriesOf(job string, s selector, labels map[string]string) string {
	text := []string{fmt.Sprintf("job=%q,instance=\"1\"", job)}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if labels[label] != "" {
			text = append(text, fmt.Sprintf("%s=%q", label, labels[label]))
		}
	}
	return s.name + "{" + strings.Join(text, ",") + "}"
}
