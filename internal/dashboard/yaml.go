package dashboard

import (
	"fmt"
	"strconv"
	"strings"
)

const generated = "# Generated from internal/dashboard by \"go generate ./dashboards\". Make local changes in a copy.\n"

// RecordingsYAML returns the recording rules in Prometheus's format.
func RecordingsYAML() string {
	var b strings.Builder
	b.WriteString(generated + "groups:\n")
	for _, g := range Recordings() {
		fmt.Fprintf(&b, "\n  # %s\n  - name: %s\n    rules:\n", strings.ReplaceAll(g.About, "\n", "\n  # "), g.Name)
		for _, r := range g.Rules {
			fmt.Fprintf(&b, "      - record: %s\n%s", r.Record, block("expr", r.Expr))
		}
	}
	return b.String()
}

// AlertsYAML returns the alerts in Prometheus's format.
func AlertsYAML() string {
	var b strings.Builder
	b.WriteString(generated + "# The alerts need the rules of rules.yaml.\ngroups:\n  - name: mcp-alerts\n    rules:\n")
	for _, a := range Alerts() {
		fmt.Fprintf(&b, "      - alert: %s\n%s", a.Name, block("expr", a.Expr))
		if a.For != "" {
			fmt.Fprintf(&b, "        for: %s\n", a.For)
		}
		fmt.Fprintf(&b, "        labels:\n          severity: %s\n        annotations:\n", a.Severity)
		fmt.Fprintf(&b, "          summary: %s\n          description: %s\n          runbook_url: %s\n",
			strconv.Quote(a.Summary), strconv.Quote(a.Text), a.RunbookURL())
	}
	return b.String()
}

// block returns a member of a rule with a literal text as value.
func block(key, text string) string {
	return fmt.Sprintf("        %s: |-\n          %s\n", key, strings.ReplaceAll(text, "\n", "\n          "))
}
