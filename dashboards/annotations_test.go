package dashboards

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/dashboard"
)

// changes are input series of one hour. Version 2 of a service and version 9 of its server start after 30 minutes.
// After 57 minutes, a client sees two changed tools.
const changes = `
      - {series: 'mcp_client_start_time_seconds{job="agent",instance="a",service_version="1"}', values: '-86400x60'}
      - {series: 'mcp_client_start_time_seconds{job="agent",instance="b",service_version="2"}', values: '_x30 1800x30'}
      - {series: 'mcp_client_server_info{job="agent",instance="a",mcp_client_name="weather",mcp_client_server_name="shop",mcp_client_server_version="8"}', values: '1x60'}
      - {series: 'mcp_client_server_info{job="agent",instance="b",mcp_client_name="weather",mcp_client_server_name="shop",mcp_client_server_version="9"}', values: '_x30 1x30'}
      - {series: 'mcp_client_tool_changes_total{job="agent",instance="b",service_version="2",mcp_client_name="weather",mcp_client_tool_change_kind="changed"}', values: '_x57 2x3'}
`

// TestAnnotationTestsMatchTheTable compares annotations_test.yaml, which promtool runs, with the table.
func TestAnnotationTestsMatchTheTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Annotations for new versions and changed tools: promtool test rules annotations_test.yaml\n# " +
		"Generated from annotations_test.go by \"go generate ./dashboards\".\nfuzzy_compare: true\ntests:\n  - interval: " +
		"1m\n    input_series:" + changes + "    promql_expr_test:\n")
	for _, a := range dashboard.All()[0].Annotations() {
		at, want := "32m", map[string]string{
			"New version of a service": `[{labels: '{job="agent",service_version="2"}', value: 1}]`,
			"New version of a server": `[{labels: '{job="agent",mcp_client_name="weather",mcp_client_server_name="shop",` +
				`mcp_client_server_version="9"}', value: 1}]`,
			"Tools changed": `[{labels: '{job="agent",mcp_client_name="weather",mcp_client_tool_change_kind="changed"}', ` +
				`value: 2}]`,
		}[a.Name]
		if a.Name == "Tools changed" {
			at = "59m"
		}
		writeAnswer(&b, a.Name, a.Expr, at, want)
		writeAnswer(&b, "…, not before", a.Expr, "20m", "[]")
	}
	checkFile(t, "annotations_test.yaml", b.String())
}

func writeAnswer(b *strings.Builder, about, expr, at, want string) {
	fmt.Fprintf(b, "      # %s\n      - expr: |-\n          %s\n        eval_time: %s\n        exp_samples: %s\n", about,
		strings.ReplaceAll(asked.Replace(expr), "\n", "\n          "), at, want)
}

// asked replaces Grafana's variables by a pattern for all values.
var asked = strings.NewReplacer("$environment", ".*", "$job", ".*")
