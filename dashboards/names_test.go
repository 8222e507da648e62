package dashboards

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/dashboard"
	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/promname"
)

// A family is a metric of the schema with its properties in Prometheus.
type family struct {
	metric  schema.Metric
	labels  []string
	counter bool // the series are counters, which only grow
}

// everySeries lists the labels that any series may have: from the Collector, and otel_metric_overflow from the SDK.
var everySeries = []string{"job", "instance", "deployment_environment_name", "service_version", "otel_metric_overflow"}

// ofPipeline are metrics of Collectors and SDKs about themselves, with their labels.
var ofPipeline = map[string][]string{
	"otelcol_exporter_queue_size": {"exporter"}, "otelcol_exporter_queue_capacity": {"exporter"},
	"otelcol_exporter_enqueue_failed_spans": {"exporter"}, "otelcol_exporter_enqueue_failed_metric_points": {"exporter"},
	"otelcol_exporter_enqueue_failed_log_records":                 {"exporter"},
	"otel_sdk_processor_span_processed_total":                     {"error_type"},
	"otel_sdk_processor_log_processed_total":                      {"error_type"},
	"otelcol_processor_tail_sampling_global_count_traces_sampled": {"decision"},
}

// known are the possible series: of the schema, of recording rules, and Prometheus' own ALERTS.
var known = func() map[string]family {
	all := map[string]family{"ALERTS": {labels: []string{"alertname", "alertstate", "severity"}}}
	for name, labels := range ofPipeline {
		all[name] = family{labels: slices.Concat(everySeries, labels)}
	}
	for _, a := range dashboard.Alerts() {
		f := all["ALERTS"]
		f.labels = append(f.labels, parse(a.Expr).labels...)
		all["ALERTS"] = f
	}
	for _, m := range schema.Current.Metrics {
		labels := slices.Clone(everySeries)
		for _, u := range m.Attrs {
			labels = append(labels, promname.Label(u.Key))
		}
		names := promname.Metric(m)
		if m.Instrument == schema.Histogram {
			names = append(names, promname.Base(m)) // a native histogram
		}
		for _, name := range names {
			f := family{metric: m, labels: labels}
			f.counter = m.Instrument == schema.Counter || m.Instrument == schema.ObservableCounter ||
				m.Instrument == schema.Histogram
			if strings.HasSuffix(name, "_bucket") {
				f.labels = append(slices.Clone(labels), "le")
			}
			all[name] = f
		}
	}
	for _, g := range dashboard.Recordings() {
		for _, r := range g.Rules {
			all[r.Record] = family{labels: parse(r.Expr).labels}
		}
	}
	return all
}()

// named returns the known series that a selector matches.
func (s selector) named(t *testing.T, where string) (all []string) {
	t.Helper()
	if s.name != "" {
		return []string{s.name}
	}
	for _, m := range s.matchers {
		if m.label != "__name__" {
			continue
		}
		names := regexp.MustCompile("^(?:" + m.value + ")$")
		for name := range known {
			if names.MatchString(name) {
				all = append(all, name)
			}
		}
	}
	if all == nil {
		t.Errorf("%s: %v matches no series of the schema", where, s)
	}
	return all
}

// checkNames checks that the names in a query are in the schema.
func checkNames(t *testing.T, where, expr string, legend ...string) {
	t.Helper()
	q := parse(expr)
	if len(q.selectors) == 0 {
		return
	}
	var labels []string
	for _, s := range q.selectors {
		for _, name := range s.named(t, where) {
			f, ok := known[name]
			if !ok {
				t.Errorf("%s: %s is neither a metric of the schema nor a recording rule", where, name)
			}
			for _, m := range s.matchers {
				if m.label != "__name__" && !slices.Contains(f.labels, m.label) {
					t.Errorf("%s: %s has no label %s, want one of %v", where, name, m.label, f.labels)
				}
				checkValue(t, where, f, m)
			}
			labels = append(labels, f.labels...)
		}
	}
	for _, l := range append(q.labels, legend...) {
		made := strings.Contains(expr, `"`+l+`", "`) // by label_replace
		if l != "__name__" && !made && !slices.Contains(labels, l) {
			t.Errorf("%s: no series of the query has the label %s", where, l)
		}
	}
}

// checkValue checks that a closed attribute of this metric can have the value.
func checkValue(t *testing.T, where string, f family, m matcher) {
	t.Helper()
	values := f.values(m.label)
	if values == nil || strings.Contains(m.value, "$") {
		return
	}
	for value := range strings.SplitSeq(m.value, "|") {
		if value != "" && !slices.Contains(values, value) {
			t.Errorf("%s: %s of %s is never %q, want one of %v", where, m.label, f.metric.Name, value, values)
		}
	}
}

// values returns the possible values of a label, or nil if its attribute is not closed.
func (f family) values(label string) []string {
	for _, u := range f.metric.Attrs {
		if promname.Label(u.Key) != label {
			continue
		}
		if u.Only != nil {
			return u.Only
		}
		for _, a := range schema.Current.Attributes {
			if a.Key == u.Key && a.Bound == schema.Closed {
				return a.Enum
			}
		}
	}
	return nil
}

func TestRulesAndAlertsUseNamesOfTheSchema(t *testing.T) {
	for _, g := range dashboard.Recordings() {
		for _, r := range g.Rules {
			checkNames(t, r.Record, r.Expr)
			checkCounters(t, r.Record, r.Expr, fixedWindow)
		}
	}
	for _, a := range dashboard.Alerts() {
		checkNames(t, a.Name, a.Expr)
		checkCounters(t, a.Name, a.Expr, fixedWindow)
		checkTemplates(t, a)
	}
}

var (
	fixedWindow   = regexp.MustCompile(`^[0-9]+[mhd]$`)
	templateLabel = regexp.MustCompile(`\$labels\.(\w+)`)
)

// checkTemplates checks that the texts of an alert use only labels that the alert has.
func checkTemplates(t *testing.T, a dashboard.Alert) {
	t.Helper()
	labels := parse(a.Expr).labels
	for _, s := range parse(a.Expr).selectors {
		if f := known[s.name]; f.metric.Name == "" {
			labels = append(labels, f.labels...) // a recording rule has at most these labels
		}
	}
	for _, m := range templateLabel.FindAllStringSubmatch(a.Summary+a.Text, -1) {
		if !slices.Contains(labels, m[1]) {
			t.Errorf("%s uses the label %s, but has only %v", a.Name, m[1], labels)
		}
	}
}

// checkCounters checks that a query uses rate, increase or growth for each counter, over a matching window, and for no
// gauge.
func checkCounters(t *testing.T, where, expr string, window *regexp.Regexp) {
	t.Helper()
	q := parse(expr)
	for i, s := range q.selectors {
		for _, name := range s.named(t, where) {
			f := known[name]
			grows := s.function == "rate" || s.function == "increase"
			switch {
			case f.metric.Name == "" ||
				s.name == "": // a recorded series, a metric of the pipeline, or a selector of several names for counting series
			case !f.counter && grows:
				t.Errorf("%s: %s of %s, which is not a counter", where, s.function, name)
			case !f.counter:
			case grows:
				if !window.MatchString(s.window) {
					t.Errorf("%s: %s of %s over %q, want a window like %v", where, s.function, name, s.window, window)
				}
			case s.function == "last_over_time":
				if !window.MatchString(s.offset) {
					t.Errorf("%s: %s before %q, want before a window like %v", where, name, s.offset, window)
				}
			case s.function == "count_over_time":
				if !window.MatchString(s.window) {
					t.Errorf("%s: %s of %s over %q, want a window like %v", where, s.function, name, s.window, window)
				}
			case !isPartOfGrowth(q.selectors, i) && !isNativeGrowth(q.selectors[i:]):
				t.Errorf("%s: the counter %s is outside rate, increase and growth", where, name)
			}
		}
	}
}

// growthSelectors is the number of selectors in an expression of growth. In order, these are the selectors for a
// process that started in the window, for a series that appeared in the window, and for the increase.
const growthSelectors = 10

// isGrowth reports whether the selectors begin with an expression of growth.
func isGrowth(s []selector) bool {
	if len(s) < growthSelectors {
		return false
	}
	window := s[9].window
	for i, function := range map[int]string{2: "last_over_time", 5: "last_over_time", 6: "count_over_time",
		9: "increase"} {
		if s[i].function != function || s[i].window != window && s[i].offset != window {
			return false
		}
	}
	return s[3].isStartTimes() && !slices.ContainsFunc([]int{1, 2, 4, 5, 6, 9},
		func(i int) bool { return !s[i].same(s[0]) })
}

// isPartOfGrowth reports whether a selector is a current value within an expression of growth.
func isPartOfGrowth(s []selector, i int) bool {
	return slices.ContainsFunc([]int{0, 1, 4}, func(at int) bool { return i >= at && isGrowth(s[i-at:]) })
}

// isNativeGrowth reports whether the selectors begin with an expression of nativePace.
func isNativeGrowth(s []selector) bool {
	return len(s) >= 3 && s[1].isStartTimes() && s[2].same(s[0]) && s[2].function == "increase"
}

func (s selector) isStartTimes() bool {
	return len(s.matchers) == 1 && strings.HasSuffix(s.matchers[0].value, "_start_time_seconds")
}

func (s selector) same(other selector) bool {
	return s.name == other.name && s.matchersText() == other.matchersText()
}
