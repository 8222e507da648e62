package dashboard

import "slices"

// Series of the operations dashboard.
var (
	sent     = methodSeries("mcp_client_operation_duration_seconds")
	requests = sent.with(isRequest)
	timely   = requests.with(answeredAtAll)
	handled  = rare(clientSeries("mcp_server_operation_duration_seconds"))

	clientSeries = func(name string) series {
		return series{name: name, labels: inClients +
			`,mcp_client_name=~"$client"`}
	}
	methodSeries = func(name string) series { return clientSeries(name).with(`mcp_method_name=~"$method"`) }
)

var operations = Dashboard{
	UID: "operations", Title: "MCP operations",
	Description: "Start here: what MCP clients ask of their servers, how often that fails and how long it takes; " +
		"then why.",
	Variables: variables(clientService, clientName, clientMethod),
	Rows: []Row{
		{"Rate, errors, duration", []Panel{
			firing,
			{Title: "Requests", Kind: Stat, Unit: "reqps", Empty: "no requests",
				Text: "Requests in a second, now. None where there should be some: see whether clients are ready on the " +
					"connections dashboard, and whether telemetry arrives at all.",
				Queries: []Query{{Expr: sumBy("", rate(requests.count(), perPoint))}}},
			{Title: "Failed", Kind: Stat, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Part of the requests that failed. Calls that the caller cancelled and errors that a tool reports are " +
					"no failures. Above 1 %: look below at which error, of which client and method.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(requests.with(failed).count(), perRange)),
					sumBy("", growth(requests.count(), perRange)))}}},
			{Title: "p95", Kind: Stat, Unit: "s", Empty: "no requests", Steps: bad(2, 5),
				Text: "19 of 20 requests took at most this long, without those that timed out or were cancelled. Above 5 s: " +
					"look at the duration by method below, then at " +
					"the tools dashboard.",
				Queries: []Query{{Expr: quantile(.95, "", timely, perRange)}}},
			{Title: "Timed out", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 10),
				Text: "Requests without an answer in time. Open a trace of one: a server span that goes on means a slow " +
					"server, none at all that the request or the answer was lost.",
				Queries: []Query{{Expr: sumBy("", growth(requests.with(timedOut).count(), perRange))}}},
			{Title: "In flight", Kind: Stat, Unit: "short", Empty: "no client",
				Text: "Requests that wait for a connection or for their answer now. A number that only grows means a server " +
					"that has stopped answering.",
				Queries: []Query{{Expr: sumBy("", methodSeries("mcp_client_active_requests").String()),
					Zero: "nothing may be under way at the moment of asking"}}},
			which,
			{Title: "Requests by method", Width: 8, Unit: "reqps", Empty: "no requests", Stacked: true,
				Text: "Requests in a second. A method that falls to nothing while others go on: its callers have stopped, or " +
					"the capability went away when the server changed.",
				Queries: []Query{{Expr: sumBy("mcp_method_name", rate(requests.count(), perPoint)),
					Legend: "{{mcp_method_name}}"}}},
			{Title: "Failed requests by client", Width: 8, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Part of each client's requests that failed. One client alone: its server or the way there. All at " +
					"once: this process, its network or its machine.",
				Queries: []Query{{Expr: ratio(sumBy("job, mcp_client_name", rate(requests.with(failed).count(), perPoint)),
					sumBy("job, mcp_client_name", rate(requests.count(), perPoint))), Legend: "{{job}} {{mcp_client_name}}"}}},
			{Title: "Duration", Width: 8, Unit: "s", Empty: "no requests",
				Text: "Half, 19 of 20 and 99 of 100 requests took at most this long; those that timed out are apart. The points " +
					"are single requests: click one " +
					"to open its trace. Only p99 is high: a few slow tools. All are: the server or the network.",
				Queries: []Query{
					{Expr: quantile(.5, "", timely, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", timely, perPoint), Legend: "p95", Exemplars: true},
					{Expr: quantile(.99, "", timely, perPoint), Legend: "p99"},
				}},
		}},
		{"Why", []Panel{
			{Title: "Failures by type", Unit: "cpm", Empty: "no failures",
				Text: "Failures in a minute. timeout: no answer in time. connection_lost, not_ready: see " +
					"connections. transport_busy, protocol_violation: see frames and decode. A number is the server's JSON-RPC " +
					"error or its HTTP status: read it in a trace.",
				Queries: []Query{{Expr: perMinute("error_type", requests.with(failed).count()),
					Legend: "{{error_type}}"}}},
			{Title: "Cancelled, and errors of tools", Unit: "cpm", Empty: "none",
				Text: "What is kept apart from failures. Cancelled by the caller: many mean impatient users or deadlines too " +
					"short. Errors of tools: see the tools dashboard. Mistakes: a model calls what the server does not know, " +
					"or with wrong arguments (-32602, -32002).",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name", sent.with(cancelled).count()),
						Legend: "cancelled, {{mcp_client_name}}"},
					{Expr: perMinute("mcp_client_name", sent.with(toolError).count()),
						Legend: "tool error, {{mcp_client_name}}"},
					{Expr: perMinute("mcp_client_name", sent.with(mistaken).count()), Legend: "mistake, {{mcp_client_name}}"},
				}},
			{Title: "Failures", Kind: Table, Empty: "no failures", Width: 24,
				Text: "Every kind of failure in the time shown. Begin with the most frequent; the link in the column Error " +
					"searches its traces.",
				Queries: []Query{{Expr: positive(
					sumBy("job, mcp_client_name, mcp_method_name, gen_ai_tool_name, error_type",
						growth(requests.with(failed).count(), perRange)))}},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_client_name", Title: "Client",
						Links: []Link{to("Connections of this client", "connections",
							"&var-client=${__data.fields.Client:percentencode}&var-job=${__data.fields.Service:percentencode}")}},
					{Field: "mcp_method_name", Title: "Method"},
					{Field: "gen_ai_tool_name", Title: "Tool"},
					{Field: "error_type", Title: "Error",
						Links: []Link{tracesWith("Traces that failed so", "${__data.fields.Service:percentencode}",
							"error.type=${__data.fields.Error:percentencode}")}},
					{Field: "A", Title: "Failures", Unit: "short"},
				}},
			{Title: "Duration by method, p95", Unit: "s", Empty: "no requests",
				Text: "19 of 20 requests of each method took at most this long. tasks/result waits for a task to end and may " +
					"be slow by design.",
				Queries: []Query{{Expr: quantile(.95, "mcp_method_name", timely, perPoint), Legend: "p95 {{mcp_method_name}}",
					Exemplars: true}}},
			{Title: "In flight by method", Unit: "short", Empty: "no client",
				Text: "Requests that wait. A line that stays up while requests of its method come to an end nowhere: those " +
					"are stuck; the debug page of the process lists them with their ages and trace ids.",
				Queries: []Query{{Expr: sumBy("mcp_client_name, mcp_method_name",
					methodSeries("mcp_client_active_requests").String()), Legend: "{{mcp_client_name}} {{mcp_method_name}}"}}},
			{Title: "Answered from the cache", Unit: "percentunit", Empty: "the cache was not asked",
				Text: "Part of the look-ups that needed no request. Near nothing on a client that lists tools often: the " +
					"server gives its lists no time to live.",
				Queries: []Query{{Expr: ratio(
					sumBy("mcp_client_name, mcp_method_name",
						rate(methodSeries("mcp_client_cache_lookups_total").with(`mcp_client_cache_outcome="hit"`), perPoint)),
					sumBy("mcp_client_name, mcp_method_name", rate(methodSeries("mcp_client_cache_lookups_total"), perPoint))),
					Legend: "{{mcp_client_name}} {{mcp_method_name}}"}}},
			{Title: "Mean duration by client", Unit: "s", Empty: "no requests",
				Text: "A client that is slower than others at the same server: its network, or its write queue on the frames " +
					"dashboard.",
				Queries: []Query{{Expr: mean("job, mcp_client_name", timely, perPoint), Legend: "mean {{job}} " +
					"{{mcp_client_name}}"}}},
		}},
		{"Which instance, which version", slices.Concat(
			dividedBy("instance", "job, instance", "{{job}} {{instance}}", requests,
				"One instance alone: its machine, or what it is connected to."),
			dividedBy("version", "job, service_version", "{{job}} {{service_version}}", requests,
				"The newer version of the service alone is high: it regressed."),
			byServersVersion(requests))},
		{"What changed", []Panel{versionsSeen("job"), serversSeen()}},
		{"What servers ask of and tell the clients", []Panel{
			{Title: "Answered by the client", Unit: "cpm", Empty: "servers asked nothing",
				Text: "Requests of servers, such as for sampling, elicitation or roots, and notifications that a handler " +
					"took, in a minute.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_method_name", handled.count()),
					Legend: "{{mcp_client_name}} {{mcp_method_name}}"}}},
			{Title: "Answered by the client, p95", Unit: "s", Empty: "servers asked nothing",
				Text: "How long the client's handlers took. Long ones hold up the server's tools: an elicitation waits for a " +
					"person, sampling for a model.",
				Queries: []Query{{Expr: quantile(.95, "mcp_client_name, mcp_method_name", handled, perPoint),
					Legend: "p95 {{mcp_client_name}} {{mcp_method_name}}", Exemplars: true}}},
			{Title: "Handlers that failed or panicked", Unit: "cpm", Empty: "none",
				Text: "Events in a minute. A panic is a bug in this program: its log record mcp_client.handler.panic " +
					"has the stack.",
				Queries: []Query{
					{Expr: perMinute("mcp_method_name, error_type", handled.with(`error_type!~"|cancelled"`).count()),
						Legend: "{{error_type}}, {{mcp_method_name}}"},
					{Expr: perMinute("mcp_method_name", clientSeries("mcp_client_handler_panics_total")),
						Legend: "panic, {{mcp_method_name}}"},
				}},
			{Title: "Handlers at work", Unit: "short", Empty: "servers asked nothing",
				Text: "Requests of servers that the client is answering. A line that stays up: a handler that does not " +
					"return; the debug page shows which.",
				Queries: []Query{{Expr: sumBy("mcp_client_name, mcp_method_name",
					clientSeries("mcp_client_active_handlers").String()), Legend: "{{mcp_client_name}} {{mcp_method_name}}",
					Zero: "handlers may return between two exports"}}},
			{Title: "Notifications", Unit: "cps", Empty: "no notifications", Width: 24,
				Text: "Notifications in a second, both ways. A flood of one method slows its handlers down: see what was " +
					"dropped on the frames dashboard.",
				Queries: []Query{{Expr: sumBy("mcp_client_direction, mcp_method_name",
					rate(clientSeries("mcp_client_notification_messages_total"), perPoint)),
					Legend: "{{mcp_client_direction}} {{mcp_method_name}}"}}},
		}},
	},
}
