package dashboard

// firing is the first panel of every dashboard.
var firing = Panel{
	Title: "Alerts", Kind: Stat, Unit: "short", Empty: "none", Steps: never,
	Text: "Firing alerts of alerts.yaml, for all services of the environment. The runbook has a section for each " +
		"alert. Without the rules of this directory in Prometheus, this panel is always empty.",
	Links: []Link{{"Runbook", runbook}},
	Queries: []Query{{Expr: `count(ALERTS{alertname=~"MCP.+",alertstate="firing",` + inEnvironment + `})`,
		Zero: "no problem may last long enough for an alert"}},
}

// never are the thresholds for events that should not occur.
var never = []Step{{1, "red"}}

// which is the panel that lists the firing alerts with their labels.
var which = Panel{
	Title: "Firing alerts", Kind: Table, Empty: "none", Width: 24, Height: 5,
	Text:  "Look up each alert in the runbook: its section explains the alert, where to look and what to do.",
	Links: []Link{{"Runbook", runbook}},
	Queries: []Query{{Expr: `max by (alertname, severity, deployment_environment_name, job, instance, mcp_client_name, ` +
		`mcp_server_name, mcp_method_name) ` +
		`(ALERTS{alertname=~"MCP.+",alertstate="firing",deployment_environment_name=~"$environment"})`,
		Zero: "no problem may last long enough for an alert"}},
	Columns: []Column{
		{Field: "alertname", Title: "Alert", Links: []Link{{"Runbook", runbook}}},
		{Field: "severity", Title: "Severity"},
		{Field: "deployment_environment_name", Title: "Environment"},
		{Field: "job", Title: "Service"},
		{Field: "instance", Title: "Instance"},
		{Field: "mcp_client_name", Title: "Client"},
		{Field: "mcp_server_name", Title: "Server"},
		{Field: "mcp_method_name", Title: "Method"},
		{Field: "A"}, // the number of the alert's series is always 1
	},
}

// bad returns the thresholds for values that should be small.
func bad(warn, act float64) []Step { return []Step{{warn, "orange"}, {act, "red"}} }
