package dashboards

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

func TestVariableQueriesUseNamesOfTheSchema(t *testing.T) {
	for _, b := range boards(t) {
		for _, v := range b.Templating.List {
			if v.Type != "query" {
				continue
			}
			m := labelValues.FindStringSubmatch(v.Definition)
			if m == nil {
				t.Errorf("%s: the variable %s has the query %q, want label values", b.file, v.Name, v.Definition)
				continue
			}
			checkNames(t, b.file+": variable "+v.Name, m[1], m[2])
		}
	}
}

var (
	legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)
	graphWindow = regexp.MustCompile(`^\$__rate_interval$`)
	pieceWindow = regexp.MustCompile(`^\$__(range|rate_interval)$`)
)

func TestPanelQueriesUseNamesOfTheSchema(t *testing.T) {
	for _, b := range boards(t) {
		for _, p := range b.drawn() {
			where := b.file + ": " + p.Title
			window := pieceWindow
			if p.Type == "timeseries" {
				window = graphWindow
			}
			for _, q := range p.Targets {
				var legend []string
				for _, m := range legendLabel.FindAllStringSubmatch(q.LegendFormat, -1) {
					legend = append(legend, m[1])
				}
				checkNames(t, where, q.Expr, legend...)
				checkCounters(t, where, q.Expr, window)
				if q.Range != (p.Type == "timeseries") || q.Instant == q.Range {
					t.Errorf("%s: want a range query for graphs and an instant query for other panels, got range %v, instant %v",
						where, q.Range, q.Instant)
				}
				if q.Interval != "$resolution" {
					t.Errorf("%s: the minimum step is %q, want the variable", where, q.Interval)
				}
				if (q.Format == "table") != (p.Type == "table") {
					t.Errorf("%s: format %s", where, q.Format)
				}
				if p.Type == "timeseries" && q.LegendFormat == "" {
					t.Errorf("%s: no legend", where)
				}
			}
		}
	}
}

// TestDurationPanelsShowExemplars checks the dashboards of operations, tools, servers and connections: a panel of
// durations shows exemplars if the durations have spans.
func TestDurationPanelsShowExemplars(t *testing.T) {
	for _, b := range boards(t) {
		for _, p := range b.drawn() {
			quantiles := slices.ContainsFunc(p.Targets, func(q target) bool {
				return strings.Contains(q.Expr, "operation_duration_seconds_bucket") ||
					strings.Contains(q.Expr, "attempt_duration_seconds_bucket")
			})
			exemplars := slices.ContainsFunc(p.Targets, func(q target) bool { return q.Exemplar })
			if p.Type == "timeseries" && quantiles && !exemplars {
				t.Errorf("%s: %s shows durations without exemplars", b.file, p.Title)
			}
			if p.Type != "timeseries" && exemplars {
				t.Errorf("%s: %s has exemplars, which only a graph can show", b.file, p.Title)
			}
		}
	}
}

// insideGrowth matches the label lists that growth uses internally to compare series. Its result does not have these
// labels.
var insideGrowth = regexp.MustCompile(`(max by|on) \(job, instance\)|without \(fresh\)|group by \([^)]*\)`)

func TestTableColumnsMatchTheirQueries(t *testing.T) {
	for _, b := range boards(t) {
		for _, p := range b.drawn() {
			if p.Type != "table" {
				continue
			}
			organize := p.Transformations[len(p.Transformations)-1].Options
			var titles []string
			for _, q := range p.Targets {
				value := "Value"
				if len(p.Targets) > 1 {
					value += " #" + q.RefID
				}
				for _, field := range append(parse(insideGrowth.ReplaceAllString(q.Expr, "")).labels, value) {
					if field != "le" && organize.RenameByName[field] == "" && !organize.ExcludeByName[field] {
						t.Errorf("%s: %s: no column has the field %s", b.file, p.Title, field)
					}
				}
			}
			for _, title := range organize.RenameByName {
				titles = append(titles, title)
			}
			for _, o := range p.FieldConfig.Overrides {
				if !slices.Contains(titles, o.Matcher.Options) {
					t.Errorf("%s: %s: an override is for the column %q, which does not exist", b.file, p.Title, o.Matcher.Options)
				}
			}
		}
	}
}

func TestEveryMetricIsOnAPanel(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range boards(t) {
		for _, p := range b.drawn() {
			for _, q := range p.Targets {
				for _, s := range parse(q.Expr).selectors {
					seen[known[s.name].metric.Name] = true
				}
			}
		}
	}
	for _, m := range schema.Current.Metrics {
		if !seen[m.Name] {
			t.Errorf("no panel shows %s", m.Name)
		}
	}
}

var aggregated = regexp.MustCompile(`\b(p\d\d|mean)\b`)

// TestLegendsNameTheirAggregation checks that the legend of a quantile or mean names the quantile or mean.
func TestLegendsNameTheirAggregation(t *testing.T) {
	for _, b := range boards(t) {
		for _, p := range b.drawn() {
			for _, q := range p.Targets {
				is := strings.HasPrefix(q.Expr, "histogram_quantile") || p.FieldConfig.Defaults.Unit == "s" &&
					strings.Contains(q.Expr, "_sum")
				if p.Type == "timeseries" && is && !aggregated.MatchString(q.LegendFormat) {
					t.Errorf("%s: %s: the legend %q lacks p50, p95, p99 or mean", b.file, p.Title, q.LegendFormat)
				}
			}
		}
	}
}

// TestCountsDoNotDependOnTheZoom checks that graphs show rates: a count within the rate window would depend on the
// selected time range.
func TestCountsDoNotDependOnTheZoom(t *testing.T) {
	for _, b := range boards(t) {
		for _, p := range b.drawn() {
			for _, q := range p.Targets {
				counts := strings.Contains(q.Expr, "increase(") && !strings.Contains(q.Expr, "histogram_quantile") &&
					!strings.Contains(q.Expr, "> 0)")
				if p.Type == "timeseries" && counts && !strings.HasSuffix(q.Expr, "* 60 / ($__rate_interval_ms / 1000)") {
					t.Errorf("%s: %s counts within the rate window, want events per minute, by\n%s", b.file, p.Title, q.Expr)
				}
			}
		}
	}
}
