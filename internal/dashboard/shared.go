package dashboard

// firing stands first on every dashboard.
var firing = Panel{
	Title: "Alerts", Kind: Stat, Unit: "short", Empty: "none fires", Steps: never,
	Text:    "Alerts of alerts.yaml that fire now, of all services. Each has a section in the runbook. None can fire where Prometheus has not loaded the rules.",
	Queries: []Query{{Expr: `count(ALERTS{alertname=~"MCP.+",alertstate="firing"})`, Zero: "nothing may be wrong long enough for an alert"}},
}

// never are the thresholds of what should not be at all.
var never = []Step{{1, "red"}}

// bad are the thresholds of what should be small.
func bad(warn, act float64) []Step { return []Step{{warn, "orange"}, {act, "red"}} }
