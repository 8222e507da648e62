package explain_test

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/dashboard"
	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/promname"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// The pages for operators explain each error.type, log record and alert. These tests compare the pages with the
// telemetry that real clients and servers emit, in the laboratory and in scenarios.

// pages are the pages for operators.
var pages = []string{"runbook.md", "guides/troubleshooting.md", "guides/errors.md"}

// elsewhere lists events that no scenario of this package provokes. tools/unseen fails if no test of the repository
// emits them.
var elsewhere = map[string]string{
	"mcp_client.log.lost":          "mcpclient: a log handler that does not return",
	"mcp_server.log.lost":          "mcpserver: a log handler that does not return",
	"mcp_client.audit.call":        "internal/instrument: a program with an audit log",
	"mcp_server.audit.call":        "internal/instrument: a program with an audit log",
	"mcp_client.list_cache.failed": "mcpclient: a file with cached lists that other users may write",
	"mcp_client.tool.rejected":     "mcpclient: headers that repeat parameters, over HTTP",
}

// emissions are the names that scenarios have emitted, each with the first scenario that emitted it.
type emissions struct {
	client, server map[string]string // values of error.type of the operations of a client, and of a server
	events         map[string]string
	series         map[string]string // in Prometheus
}

// note adds the names that a scenario has emitted.
func (e *emissions) note(scenario string, rec *telemetrytest.Recording) {
	add := func(to map[string]string, name string) {
		if to[name] == "" && name != "" {
			to[name] = scenario
		}
	}
	for metric, to := range map[string]map[string]string{
		names.MetricMCPClientOperationDuration: e.client, names.MetricMCPClientConnectionAttemptDuration: e.client,
		names.MetricMCPServerOperationDuration: e.server,
	} {
		for _, p := range rec.Points(metric) {
			word, _ := p.Attrs.Value(names.KeyErrorType)
			add(to, word.String())
		}
	}
	for _, m := range schema.Current.Metrics {
		if _, ok := rec.Metric(m.Name); ok {
			for _, series := range promname.Metric(m) {
				add(e.series, series)
			}
		}
	}
	for _, event := range schema.Current.Events {
		if len(rec.Logs(event.Name)) > 0 {
			add(e.events, event.Name)
		}
	}
}

// happened runs the laboratory and the scenarios.
func happened(t *testing.T) *emissions {
	t.Helper()
	e := &emissions{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	for _, f := range slices.Concat(laboratory(), scenarios) {
		if !t.Run(f.name, func(t *testing.T) { f.watched(t, e) }) {
			t.Fatalf("the scenario %q does not work", f.name)
		}
	}
	return e
}

// operatorPages reads the pages, by name.
func operatorPages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range pages {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(data)
	}
	return texts
}

var quoted = regexp.MustCompile("`([^`\n]+)`")

// explained returns the values of error.type that the tables of a page explain. Tables below the alerts about servers
// are for servers.
func explained(text string) (client, server []string) {
	section, inTable := "", false
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		}
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			inTable = false
			continue
		}
		if head := strings.TrimSpace(cells[1]); head == "`error_type`" || head == "error.type" {
			inTable = true
			continue
		}
		if !inTable {
			continue
		}
		var words []string
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			words = append(words, m[1])
		}
		if strings.Contains(cells[1], "other negative numbers") {
			words = append(words, "-xxxxx")
		}
		if strings.HasPrefix(section, "MCPServer") {
			server = append(server, words...)
		} else {
			client = append(client, words...)
		}
	}
	return client, server
}

// classes are words of the pages that stand for many values.
var classes = map[string]*regexp.Regexp{
	"3xx": regexp.MustCompile(`^3\d\d$`), "4xx": regexp.MustCompile(`^4\d\d$`), "5xx": regexp.MustCompile(`^5\d\d$`),
	"-xxxxx": regexp.MustCompile(`^-\d+$`),
}

// namesType reports whether a word of a page names an error type.
func namesType(word, errorType string) bool {
	class := classes[word]
	return word == errorType || class != nil && class.MatchString(errorType)
}

func TestOperatorPagesMatchTheTelemetry(t *testing.T) {
	e, texts := happened(t), operatorPages(t)
	t.Run("error types", func(t *testing.T) {
		var client, server []string
		for _, text := range texts {
			c, s := explained(text)
			client, server = append(client, c...), append(server, s...)
		}
		compare(t, "client", client, e.client)
		compare(t, "server", server, e.server)
	})
	t.Run("events", func(t *testing.T) { compareEvents(t, e, texts) })
	t.Run("alerts", func(t *testing.T) { compareAlerts(t, e, texts) })
}

// compare checks that the pages explain exactly the values of error.type that one side has emitted.
func compare(t *testing.T, side string, words []string, emitted map[string]string) {
	t.Helper()
	if len(words) < 5 || len(emitted) < 4 {
		t.Fatalf("%s: want tables and emissions, got %q and %q", side, words, emitted)
	}
	types := slices.Sorted(maps.Keys(emitted))
	for _, w := range words {
		if !slices.ContainsFunc(types, func(x string) bool { return namesType(w, x) }) {
			t.Errorf("%s: the pages explain %q, and no scenario emits it", side, w)
		}
	}
	for _, x := range types {
		if !slices.ContainsFunc(words, func(w string) bool { return namesType(w, x) }) {
			t.Errorf("%s: %q is emitted (%s), and no table explains it", side, x, emitted[x])
		}
	}
}

var dotted = regexp.MustCompile("`((?:mcp_client|mcp_server)\\.[a-z_.]+)`")

// compareEvents checks that each event on the pages is in the schema and was emitted, and that the pages mention each
// event of level warning or above.
func compareEvents(t *testing.T, e *emissions, texts map[string]string) {
	events := map[string]schema.Event{}
	known := map[string]bool{names.SpanMCPClientConnect: true}
	for _, x := range schema.Current.Events {
		events[x.Name] = x
	}
	for _, x := range schema.Current.Metrics {
		known[x.Name] = true
	}
	for _, x := range schema.Current.Attributes {
		known[x.Key] = true
	}
	mentioned := map[string]bool{}
	for page, text := range texts {
		for _, m := range dotted.FindAllStringSubmatch(text, -1) {
			name := m[1]
			mentioned[name] = true
			_, isEvent := events[name]
			switch {
			case isEvent && e.events[name] == "" && elsewhere[name] == "":
				t.Errorf("%s mentions the event %s, but no scenario emits it", page, name)
			case !isEvent && !known[name]:
				t.Errorf("%s mentions %s, which is not in the schema", page, name)
			}
		}
	}
	for name, x := range events {
		severe := slices.ContainsFunc(x.Levels, func(l slog.Level) bool { return l >= slog.LevelWarn })
		if severe && !mentioned[name] {
			t.Errorf("the event %s may be a warning or worse, and the pages do not mention it", name)
		}
	}
	for name := range elsewhere {
		if e.events[name] != "" {
			t.Errorf("%s is emitted by %q: remove it from elsewhere", name, e.events[name])
		}
	}
}

var (
	alertName  = regexp.MustCompile(`\bMCP[A-Z][A-Za-z]+`)
	seriesName = regexp.MustCompile(`[a-z_:]*mcp_(?:client|server)_[a-z0-9_:]+`)
)

// compareAlerts checks that each alert on the pages exists, that the runbook has a section for each alert, and that
// each series in an alert's expression was emitted.
func compareAlerts(t *testing.T, e *emissions, texts map[string]string) {
	recorded := map[string]string{} // expressions of recording rules, by name
	for _, g := range dashboard.Recordings() {
		for _, r := range g.Rules {
			recorded[r.Record] = r.Expr
		}
	}
	var alerts []string
	for _, a := range dashboard.Alerts() {
		alerts = append(alerts, a.Name)
		if !strings.Contains(texts["runbook.md"], "\n## "+a.Name+"\n") {
			t.Errorf("the runbook has no section %s", a.Name)
		}
		var expr strings.Builder
		expr.WriteString(a.Expr)
		for _, name := range seriesName.FindAllString(a.Expr, -1) {
			expr.WriteString(" " + recorded[name])
		}
		for _, series := range seriesName.FindAllString(expr.String(), -1) {
			if recorded[series] != "" {
				continue
			}
			// a native histogram has the name of the metric
			if e.series[series] == "" && e.series[series+"_count"] == "" && !isLabel(series) {
				t.Errorf("the alert %s uses %s, but no scenario emits it", a.Name, series)
			}
		}
	}
	for page, text := range texts {
		for _, name := range alertName.FindAllString(text, -1) {
			if !slices.Contains(alerts, name) {
				t.Errorf("%s mentions the alert %s, which does not exist", page, name)
			}
		}
	}
}

// isLabel reports whether a name in an expression is a label name.
func isLabel(name string) bool {
	return slices.ContainsFunc(schema.Current.Attributes, func(a schema.Attribute) bool {
		return promname.Label(a.Key) == name
	})
}
