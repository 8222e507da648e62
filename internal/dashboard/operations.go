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
	Description: "Start here: the requests of MCP clients, how often they fail and how long they take; then why.",
	Variables:   variables(clientService, clientName, clientMethod),
	Rows: []Row{
		{"Rate, errors, duration", []Panel{
			firing,
			{Title: "Requests", Kind: Stat, Unit: "reqps", Empty: "no requests",
				Text: "Requests per second, now. If there are none although there should be some, check on the connections " +
					"dashboard whether clients are ready, and whether telemetry arrives at all.",
				Queries: []Query{{Expr: sumBy("", rate(requests.count(), perPoint))}}},
			{Title: "Failed", Kind: Stat, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Share of the requests that failed. Cancelled calls and errors that a tool reports do not count as " +
					"failures. Above 1 %, look below for the error, the client and the method.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(requests.with(failed).count(), perRange)),
					sumBy("", growth(requests.count(), perRange)))}}},
			{Title: "p95", Kind: Stat, Unit: "s", Empty: "no requests", Steps: bad(2, 5),
				Text: "19 of 20 requests took at most this long, without those that timed out or were cancelled. Above 5 s, " +
					"look at the duration by method below, then at the tools dashboard.",
				Queries: []Query{{Expr: quantile(.95, "", timely, perRange)}}},
			{Title: "Timed out", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 10),
				Text: "Requests without an answer in time. Open the trace of one: if the server's span continues, the server is " +
					"slow; if there is no server span, the request or the answer was lost.",
				Queries: []Query{{Expr: sumBy("", growth(requests.with(timedOut).count(), perRange))}}},
			{Title: "In flight", Kind: Stat, Unit: "short", Empty: "no clients",
				Text: "Requests that currently wait for a connection or for their answer. If the number only grows, a server " +
					"has stopped answering.",
				Queries: []Query{{Expr: sumBy("", methodSeries("mcp_client_active_requests").String()),
					Zero: "no request may be in flight at this moment"}}},
			which,
			{Title: "Requests by method", Width: 8, Unit: "reqps", Empty: "no requests", Stacked: true,
				Text: "Requests per second. If one method drops to zero while others continue, its callers have stopped, or the " +
					"server no longer has the capability.",
				Queries: []Query{{Expr: sumBy("mcp_method_name", rate(requests.count(), perPoint)),
					Legend: "{{mcp_method_name}}"}}},
			{Title: "Failed requests by client", Width: 8, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Share of each client's requests that failed. If only one client fails, check its server and the network " +
					"path to it. If all fail at once, check this process, its network and its machine.",
				Queries: []Query{{Expr: ratio(sumBy("job, mcp_client_name", rate(requests.with(failed).count(), perPoint)),
					sumBy("job, mcp_client_name", rate(requests.count(), perPoint))), Legend: "{{job}} {{mcp_client_name}}"}}},
			{Title: "Duration", Width: 8, Unit: "s", Empty: "no requests",
				Text: "Half, 19 of 20 and 99 of 100 requests took at most this long, without those that timed out. Each point " +
					"is one request: click a point to open its trace. If only p99 is high, a few tools are slow. If all lines are " +
					"high, the server or the network is slow.",
				Queries: []Query{
					{Expr: quantile(.5, "", timely, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", timely, perPoint), Legend: "p95", Exemplars: true},
					{Expr: quantile(.99, "", timely, perPoint), Legend: "p99"},
				}},
		}},
		{"Why", []Panel{
			{Title: "Failures by type", Unit: "cpm", Empty: "no failures",
				Text: "Failures per minute. timeout: no answer in time. connection_lost, not_ready: see the connections " +
					"dashboard. transport_busy, protocol_violation: see the frames dashboard. A number is the server's JSON-RPC " +
					"error code or HTTP status: read the error in a trace.",
				Queries: []Query{{Expr: perMinute("error_type", requests.with(failed).count()),
					Legend: "{{error_type}}"}}},
			{Title: "Cancelled calls and tool errors", Unit: "cpm", Empty: "none",
				Text: "Outcomes that do not count as failures. Many calls that the caller cancelled mean impatient users or " +
					"deadlines that are too short. Errors of tools: see the tools dashboard. Mistakes: a model used a name that " +
					"the server does not know, or wrong arguments (-32602, -32002).",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name", sent.with(cancelled).count()),
						Legend: "cancelled, {{mcp_client_name}}"},
					{Expr: perMinute("mcp_client_name", sent.with(toolError).count()),
						Legend: "tool error, {{mcp_client_name}}"},
					{Expr: perMinute("mcp_client_name", sent.with(mistaken).count()), Legend: "mistake, {{mcp_client_name}}"},
				}},
			{Title: "Failures", Kind: Table, Empty: "no failures", Width: 24,
				Text: "All kinds of failures in the selected time range. Begin with the most frequent; the link in the column " +
					"Error searches for its traces.",
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
				Text: "19 of 20 requests of each method took at most this long. tasks/result waits for a task to end, so it may " +
					"be slow by design.",
				Queries: []Query{{Expr: quantile(.95, "mcp_method_name", timely, perPoint), Legend: "p95 {{mcp_method_name}}",
					Exemplars: true}}},
			{Title: "In flight by method", Unit: "short", Empty: "no clients",
				Text: "Requests in flight. If a line stays up while no request of its method ends, these requests are stuck; " +
					"the debug page of the process lists them with their ages and trace ids.",
				Queries: []Query{{Expr: sumBy("mcp_client_name, mcp_method_name",
					methodSeries("mcp_client_active_requests").String()), Legend: "{{mcp_client_name}} {{mcp_method_name}}"}}},
			{Title: "Cache hits", Unit: "percentunit", Empty: "no cache lookups",
				Text: "Share of the cache lookups that needed no request. If a client that lists tools often has almost no " +
					"hits, the server gives its lists no time to live.",
				Queries: []Query{{Expr: ratio(
					sumBy("mcp_client_name, mcp_method_name",
						rate(methodSeries("mcp_client_cache_lookups_total").with(`mcp_client_cache_outcome="hit"`), perPoint)),
					sumBy("mcp_client_name, mcp_method_name", rate(methodSeries("mcp_client_cache_lookups_total"), perPoint))),
					Legend: "{{mcp_client_name}} {{mcp_method_name}}"}}},
			{Title: "Mean duration by client", Unit: "s", Empty: "no requests",
				Text: "If one client is slower than others at the same server, check its network, and its write queue on the " +
					"frames dashboard.",
				Queries: []Query{{Expr: mean("job, mcp_client_name", timely, perPoint), Legend: "mean {{job}} " +
					"{{mcp_client_name}}"}}},
		}},
		{"By instance and version", slices.Concat(
			dividedBy("instance", "job, instance", "{{job}} {{instance}}", requests,
				"If only one instance is high, check its machine and its connections."),
			dividedBy("version", "job, service_version", "{{job}} {{service_version}}", requests,
				"If only the newer version of the service is high, it has a regression."),
			byServersVersion(requests))},
		{"What changed", []Panel{versionsSeen("job"), serversSeen()}},
		{"Requests and notifications from servers", []Panel{
			{Title: "Handled by the client", Unit: "cpm", Empty: "no requests from servers",
				Text: "Requests from servers, for example for sampling, elicitation or roots, and notifications that a handler " +
					"processed, per minute.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_method_name", handled.count()),
					Legend: "{{mcp_client_name}} {{mcp_method_name}}"}}},
			{Title: "Handler duration, p95", Unit: "s", Empty: "no requests from servers",
				Text: "19 of 20 calls of the client's handlers took at most this long. A slow handler delays the server's tool: " +
					"elicitation waits for a person, sampling for a model.",
				Queries: []Query{{Expr: quantile(.95, "mcp_client_name, mcp_method_name", handled, perPoint),
					Legend: "p95 {{mcp_client_name}} {{mcp_method_name}}", Exemplars: true}}},
			{Title: "Failed handlers and panics", Unit: "cpm", Empty: "none",
				Text: "Events per minute. A panic is a bug in this program: its log record mcp_client.handler.panic contains " +
					"the stack.",
				Queries: []Query{
					{Expr: perMinute("mcp_method_name, error_type", handled.with(`error_type!~"|cancelled"`).count()),
						Legend: "{{error_type}}, {{mcp_method_name}}"},
					{Expr: perMinute("mcp_method_name", clientSeries("mcp_client_handler_panics_total")),
						Legend: "panic, {{mcp_method_name}}"},
				}},
			{Title: "Running handlers", Unit: "short", Empty: "no requests from servers",
				Text: "Requests from servers that the client is handling. If a line stays up, a handler does not return; the " +
					"debug page shows which.",
				Queries: []Query{{Expr: sumBy("mcp_client_name, mcp_method_name",
					clientSeries("mcp_client_active_handlers").String()), Legend: "{{mcp_client_name}} {{mcp_method_name}}",
					Zero: "all handlers may return between two exports"}}},
			{Title: "Notifications", Unit: "cps", Empty: "no notifications", Width: 24,
				Text: "Notifications per second, both ways. A flood of one method delays its handlers: the frames dashboard " +
					"shows dropped notifications.",
				Queries: []Query{{Expr: sumBy("mcp_client_direction, mcp_method_name",
					rate(clientSeries("mcp_client_notification_messages_total"), perPoint)),
					Legend: "{{mcp_client_direction}} {{mcp_method_name}}"}}},
		}},
	},
}
