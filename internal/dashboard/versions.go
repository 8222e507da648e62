package dashboard

import "fmt"

// answeredAtAll excludes requests that timed out or were cancelled: their duration is the time that the caller waited,
// and does not describe the server.
const answeredAtAll = `error_type!~"timeout|cancelled"`

// perServer adds the name and version of each client's server to series of clients. If clients of the same name have
// several servers, perServer uses one of them.
func perServer(expr string) string {
	const by = "job, instance, mcp_client_name"
	server := "label_replace(topk by (" + by + ") (1, mcp_client_server_info{" + inEnvironment + "}) > bool 0, " +
		`"mcp_server_name", "$1", "mcp_client_server_name", "(.+)")`
	return "(\n" + indent(expr) + "\n)\n* on (" + by + ") group_left (mcp_server_name, mcp_client_server_version) " +
		server
}

// versionsSeen returns the panel that lists the versions of a service, with their start and their number of processes.
func versionsSeen(job string) Panel {
	by := service + ", " + versionLabel
	starts := `last_over_time({__name__=~"mcp_(client|server)_start_time_seconds",` + inService(job) + `}[$__range])`
	return Panel{Title: "Versions of services", Kind: Table, Empty: "no telemetry", Width: 12, Height: 8,
		Text: "Start of the first and of the last process of each version, in the selected time range. To see recent " +
			"changes, sort by the first start. No version: the service does not set service.version, or the Collector does " +
			"not copy it to series.",
		Queries: []Query{
			{Expr: "1000 * min by (" + by + ") (" + starts + ")"}, {Expr: "1000 * max by (" + by + ") (" + starts + ")"},
			{Expr: "count by (" + by + ") (group by (" + by + ", instance) (" + starts + "))"},
		},
		Columns: []Column{
			{Field: environmentLabel, Title: "Environment"},
			{Field: "job", Title: "Service"},
			{Field: versionLabel, Title: "Version"},
			{Field: "A", Title: "First start", Unit: "dateTimeAsIso"},
			{Field: "B", Title: "Last start", Unit: "dateTimeAsIso"},
			{Field: "C", Title: "Processes", Unit: "short"},
		}}
}

// serversSeen returns the panel that lists the versions of the servers to which clients were connected.
func serversSeen() Panel {
	by := service + ", mcp_client_name, mcp_client_server_name, mcp_client_server_version"
	seen := "timestamp(" + clientSeries("mcp_client_server_info").String() + ")[$__range:$resolution]"
	return Panel{Title: "Versions of servers", Kind: Table, Empty: "no client is ready", Width: 12, Height: 8,
		Text: "First and last time at which clients were connected to each version of their servers, in the selected time " +
			"range. Begin with a version that appeared shortly before a failure.",
		Queries: []Query{
			{Expr: "1000 * min by (" + by + ") (min_over_time(" + seen + "))"},
			{Expr: "1000 * max by (" + by + ") (max_over_time(" + seen + "))"},
		},
		Columns: []Column{
			{Field: environmentLabel, Title: "Environment"},
			{Field: "job", Title: "Service"},
			{Field: "mcp_client_name", Title: "Client"},
			{Field: "mcp_client_server_name", Title: "Server"},
			{Field: "mcp_client_server_version", Title: "Version"},
			{Field: "A", Title: "First seen", Unit: "dateTimeAsIso"},
			{Field: "B", Title: "Last seen", Unit: "dateTimeAsIso"},
		}}
}

// dividedBy returns graphs of failures and durations by labels. legend is the legend of the lines.
func dividedBy(what, labels, legend string, s series, text string) []Panel {
	rated := func(s series) string { return sumBy(labels, rate(s, perPoint)) }
	return []Panel{
		{Title: "Failed requests by " + what, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
			Text:    "Share of the requests that failed. " + text,
			Queries: []Query{{Expr: ratio(rated(s.with(failed).count()), rated(s.count())), Legend: legend}}},
		{Title: "Duration by " + what + ", p95", Unit: "s", Empty: "no requests",
			Text: "19 of 20 requests took at most this long, without those that timed out or were cancelled. " + text,
			Queries: []Query{{Expr: quantile(.95, labels, s.with(answeredAtAll), perPoint), Legend: "p95 " + legend,
				Exemplars: true}}},
	}
}

// byServersVersion returns graphs of failures and durations by the servers' versions, as seen by clients.
func byServersVersion(s series) []Panel {
	by := "mcp_server_name, mcp_client_server_version"
	rated := func(s series) string { return sumBy(by, perServer(rate(s, perPoint))) }
	legend := "{{mcp_server_name}} {{mcp_client_server_version}}"
	timely := s.with(answeredAtAll)
	return []Panel{
		{Title: "Failed requests by the server's version", Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
			Text: "Share of the requests that failed, by the version of the connected server. If only the newer version is " +
				"high, it has a regression.",
			Queries: []Query{{Expr: ratio(rated(s.with(failed).count()), rated(s.count())), Legend: legend}}},
		{Title: "Duration by the server's version, mean", Unit: "s", Empty: "no requests",
			Text: "Mean duration of requests, without those that timed out or were cancelled. If only the newer version is " +
				"high, it has a regression.",
			Queries: []Query{{Expr: fmt.Sprintf("%s / (%s > 0)", rated(timely.sum()), rated(timely.count())), Legend: "mean " +
				legend}}},
	}
}

// Annotation marks an event in all graphs of a dashboard.
type Annotation struct{ Name, Expr, Title, Text, Color string }

// Annotations returns the annotations of the dashboard, which mark all its graphs: new versions that replaced others,
// and changed tools. Each mark lasts five minutes.
func (d Dashboard) Annotations() []Annotation {
	job := d.Variables[1].Name // follows the environment
	in := inEnvironment + `,job=~"$` + job + `"`
	newIn := func(of, within, value string) string {
		before := "last_over_time(" + of + "[1d] offset 5m)"
		return fmt.Sprintf("group by (%[2]s, %[3]s) (%[1]s)\nunless group by (%[2]s, %[3]s) (%[4]s)\nand on (%[2]s) group "+
			"by (%[2]s) (%[4]s)",
			of, within, value, before)
	}
	return []Annotation{
		{"New version of a service", newIn(`{__name__=~"mcp_(client|server)_start_time_seconds",`+in+`}`, service,
			versionLabel),
			"{{job}} {{deployment_environment_name}}", "version {{service_version}}", "purple"},
		{"New version of a server", newIn("mcp_client_server_info{"+in+"}", service+", mcp_client_name, "+
			"mcp_client_server_name",
			"mcp_client_server_version"), "{{mcp_client_server_name}} of {{mcp_client_name}}", "version " +
			"{{mcp_client_server_version}}", "blue"},
		{"Tools changed", positive(sumBy(service+", mcp_client_name, mcp_client_tool_change_kind",
			growth(series{name: "mcp_client_tool_changes_total", labels: in}, "5m"))),
			"{{mcp_client_name}} of {{job}}", "tools {{mcp_client_tool_change_kind}}", "orange"},
	}
}

// wide returns the panel with full width.
func wide(p Panel) Panel {
	p.Width = gridWidth
	return p
}
