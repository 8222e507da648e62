package dashboard

import "slices"

var (
	serverSeries = func(name string) series {
		return series{name: name, labels: inServers + `,mcp_server_name=~"$server"`}
	}
	served = serverSeries("mcp_server_operation_duration_seconds").with(`mcp_method_name=~"$server_method",` +
		isRequest)
	timelyServed = served.with(answeredAtAll)
	asked        = rare(serverSeries("mcp_client_operation_duration_seconds").with(`mcp_method_name!~"notifications/.*"`))
	tasks        = rare(serverSeries("mcp_server_task_duration_seconds"))
	ended        = rare(serverSeries("mcp_server_session_duration_seconds"))
)

var server = Dashboard{
	UID: "server", Title: "MCP server",
	Description: "Requests to the servers of this module, their outcomes, and the requests and notifications that the " +
		"servers send to their clients.",
	Variables: variables(serverService, serverName, serverMethod),
	Rows: []Row{
		{"Rate, errors, duration", []Panel{
			firing,
			{Title: "Requests", Kind: Stat, Unit: "reqps", Empty: "no requests",
				Text: "Requests answered per second, now. If there are none although there should be some, check whether " +
					"clients reach the server at all.",
				Queries: []Query{{Expr: sumBy("", rate(served.count(), perPoint))}}},
			{Title: "Failed", Kind: Stat, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Share of the requests that failed because of the server. Not counted: mistakes, cancellations and lost " +
					"connections of clients, errors that a tool reports, and requests in flight when the server was stopped.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(served.with(ownFailure).count(), perRange)),
					sumBy("", growth(served.count(), perRange)))}}},
			{Title: "p95", Kind: Stat, Unit: "s", Empty: "no requests", Steps: bad(2, 5),
				Text: "19 of 20 requests were answered within this time, without those that timed out or were cancelled. The " +
					"panels below show the slow method or tool.",
				Queries: []Query{{Expr: quantile(.95, "", timelyServed, perRange)}}},
			{Title: "Panics", Kind: Stat, Unit: "short", Empty: "none", Steps: never,
				Text: "Handlers that panicked in the selected time range. Each panic is a bug: the record " +
					"mcp_server.handler.panic contains the stack, and the trace of the request shows the call.",
				Queries: []Query{{Expr: sumBy("", growth(serverSeries("mcp_server_handler_panics_total"), perRange))}}},
			{Title: "In flight", Kind: Stat, Unit: "short", Empty: "no requests",
				Text: "Requests that the server is handling now. If the number only grows, handlers do not return.",
				Queries: []Query{{Expr: sumBy("",
					serverSeries("mcp_server_active_requests").with(`mcp_method_name=~"$server_method"`).String()),
					Zero: "no request may be in flight at this moment"}}},
			{Title: "Requests by method", Width: 8, Unit: "reqps", Empty: "no requests", Stacked: true,
				Text:    "Requests per second. A sudden rise: a client polls or retries.",
				Queries: []Query{{Expr: sumBy("mcp_method_name", rate(served.count(), perPoint)), Legend: "{{mcp_method_name}}"}}},
			{Title: "Failed requests by server", Width: 8, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Share of each server's requests that failed.",
				Queries: []Query{{Expr: ratio(sumBy("job, mcp_server_name", rate(served.with(ownFailure).count(), perPoint)),
					sumBy("job, mcp_server_name", rate(served.count(), perPoint))), Legend: "{{job}} {{mcp_server_name}}"}}},
			{Title: "Duration", Width: 8, Unit: "s", Empty: "no requests",
				Text: "Duration of requests. Each point is one request: click a point to open its trace.",
				Queries: []Query{
					{Expr: quantile(.5, "", timelyServed, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", timelyServed, perPoint), Legend: "p95", Exemplars: true},
					{Expr: quantile(.99, "", timelyServed, perPoint), Legend: "p99"},
				}},
		}},
		{"Why", []Panel{
			{Title: "Failures by type", Unit: "cpm", Empty: "no failures",
				Text: "Failures per minute. -32603: the handler failed or panicked. timeout: the handler took longer than " +
					"Options.RequestTimeout. overloaded: a limit of the server was reached. Shown, but not counted as failures " +
					"above: connection_lost, shutdown, rate_limited.",
				Queries: []Query{{Expr: perMinute("mcp_method_name, error_type", served.with(failed).count()),
					Legend: "{{mcp_method_name}} {{error_type}}"}}},
			{Title: "Client mistakes", Unit: "cpm", Empty: "none",
				Text: "Requests answered with an error because of their content, by JSON-RPC code, within the rate window. " +
					"-32602 for one tool: its schema or description misleads callers. -32601: the client expects another revision.",
				Queries: []Query{{Expr: perMinute("mcp_method_name, rpc_response_status_code",
					served.with(`rpc_response_status_code!="",error_type=""`).count()),
					Legend: "{{mcp_method_name}} {{rpc_response_status_code}}"}}},
			{Title: "Refused requests", Unit: "cpm", Empty: "none refused",
				Text: "Requests per minute that the server refused before a handler saw them, by reason and HTTP status. " +
					"overloaded: see the usage of limits. origin, host: HTTPOptions.AllowedOrigins or AllowedHosts lacks a name, " +
					"or an outsider tries to connect. session: the session belongs to another process, or was lost in a restart.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, mcp_server_refusal_reason, http_response_status_code",
					serverSeries("mcp_server_request_refused_total")),
					Legend: "{{mcp_server_name}} {{mcp_server_refusal_reason}} {{http_response_status_code}}",
					Zero:   "no request may have been refused"}}},
			{Title: "Usage of limits", Unit: "percentunit", Empty: "no server has a limit", Steps: bad(.8, .95),
				Text: "Use of each limited resource, at the fullest connection, session, handler or process. At 100 %, the " +
					"server refuses requests as overloaded. The telemetry reference explains the names of the limits.",
				Queries: []Query{
					{Expr: fullest("mcp_server_name, mcp_server_capacity_kind", serverSeries, "mcp_server_capacity_usage",
						"mcp_server_capacity_limit"), Legend: "{{mcp_server_name}} {{mcp_server_capacity_kind}}"},
					{Expr: fullest("mcp_server_name, mcp_server_memory_kind", serverSeries, "mcp_server_memory_usage_bytes",
						"mcp_server_memory_limit_bytes"), Legend: "{{mcp_server_name}} memory of {{mcp_server_memory_kind}}"},
				}},
			{Title: "Policy decisions of proxies", Width: 24, Unit: "cpm", Empty: "no proxy has a policy, or none was needed",
				Text: "Decisions per minute, by proxy and tool. denied: a host calls a tool that the policy denies. limited, " +
					"timed_out: the limit is too low, or a host requests too much. The records mcp_server.policy.decided contain " +
					"the details.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, mcp_server_policy_decision, gen_ai_tool_name",
					serverSeries("mcp_server_policy_decisions_total")),
					Legend: "{{mcp_server_name}} {{mcp_server_policy_decision}} {{gen_ai_tool_name}}"}}},
			{Title: "Clients", Kind: Table, Empty: "no client has sent its name", Width: 24,
				Text: "Clients by the name that they send, with their number of requests in the selected time range. Begin with " +
					"a client that sends many more requests than before, or with a version that appeared together with the " +
					"failures above. _OTHER: more than 256 names.",
				Queries: []Query{{Expr: positive(sumBy("job, mcp_server_name, mcp_server_client_name, mcp_server_client_version",
					growth(serverSeries("mcp_server_client_requests_total"), perRange)))}},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_server_name", Title: "Server"},
					{Field: "mcp_server_client_name", Title: "Client"},
					{Field: "mcp_server_client_version", Title: "Version"},
					{Field: "A", Title: "Requests", Unit: "short"},
				}},
			{Title: "Tools and prompts", Kind: Table, Empty: "no calls", Width: 24,
				Text: "Sort by the column that matters. The link on a tool's name searches for its traces.",
				Queries: []Query{
					{Expr: sumBy("job, mcp_server_name, gen_ai_tool_name, gen_ai_prompt_name",
						growth(served.with(`mcp_method_name=~"tools/call|prompts/get"`).count(), perRange))},
					{Expr: ratio(sumBy("job, mcp_server_name, gen_ai_tool_name, gen_ai_prompt_name",
						growth(served.with(`mcp_method_name=~"tools/call|prompts/get",`+ownFailure).count(), perRange)),
						sumBy("job, mcp_server_name, gen_ai_tool_name, gen_ai_prompt_name",
							growth(served.with(`mcp_method_name=~"tools/call|prompts/get"`).count(), perRange)))},
					{Expr: quantile(.95, "job, mcp_server_name, gen_ai_tool_name, gen_ai_prompt_name",
						timelyServed.with(`mcp_method_name=~"tools/call|prompts/get"`), perRange)},
				},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_server_name", Title: "Server"},
					{Field: "gen_ai_tool_name", Title: "Tool",
						Links: []Link{tracesWith("Traces of this tool", "${__data.fields.Service:percentencode}",
							"gen_ai.tool.name=${__data.fields.Tool:percentencode}")}},
					{Field: "gen_ai_prompt_name", Title: "Prompt"},
					{Field: "A", Title: "Calls", Unit: "short"},
					{Field: "B", Title: "Failed", Unit: "percentunit", Steps: bad(.01, .05)},
					{Field: "C", Title: "p95", Unit: "s", Steps: bad(2, 5)},
				}},
			{Title: "In flight by method", Width: 8, Unit: "short", Empty: "no requests",
				Text: "Requests that the server is handling. If a line stays up, handlers do not return; the debug page lists " +
					"them.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, mcp_method_name",
					serverSeries("mcp_server_active_requests").with(`mcp_method_name=~"$server_method"`).String()),
					Legend: "{{mcp_server_name}} {{mcp_method_name}}"}}},
			{Title: "Open sessions", Width: 8, Unit: "short", Empty: "no sessions",
				Text: "Open sessions of clients in each process. If a line only rises, clients never end their sessions. " +
					"Revisions from 2026-07-28 on have no sessions.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, instance", serverSeries("mcp_server_session_active").String()),
					Legend: "{{mcp_server_name}} {{instance}}"}}},
			{Title: "Ended sessions", Width: 8, Unit: "cpm", Empty: "none ended",
				Text: "Ended sessions per minute, by error. Sessions without an error were closed normally. Many short " +
					"sessions: clients cannot keep a session, for example behind a load balancer without session affinity.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, error_type", ended.count()),
					Legend: "{{mcp_server_name}} {{error_type}}"}}},
		}},
		{"By instance and version", slices.Concat(
			dividedBy("instance", "job, instance", "{{job}} {{instance}}", served,
				"If only one instance is high, check its machine and its dependencies."),
			dividedBy("version", "job, service_version", "{{job}} {{service_version}}", served,
				"If only the newer version of the service is high, it has a regression."))},
		{"What changed", []Panel{wide(versionsSeen("server_job"))}},
		{"Requests and notifications to clients", []Panel{
			{Title: "Answers of clients, p95", Unit: "s", Empty: "no requests to clients",
				Text: "19 of 20 clients answered requests for sampling, elicitation and roots within this time. People and " +
					"models are slow, and the tool waits for them.",
				Queries: []Query{{Expr: quantile(.95, "mcp_server_name, mcp_method_name", asked, perPoint),
					Legend: "p95 {{mcp_server_name}} {{mcp_method_name}}", Exemplars: true}}},
			{Title: "Requests to clients in flight", Unit: "short", Empty: "no requests to clients",
				Text: "Requests to clients that have no answer yet. If a line stays up, a user is away, or a client has " +
					"forgotten the request.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, mcp_method_name", serverSeries("mcp_server_active_asks").String()),
					Legend: "{{mcp_server_name}} {{mcp_method_name}}"}}},
			{Title: "Failed requests to clients", Unit: "cpm", Empty: "all were answered",
				Text: "Requests to clients that failed, per minute. -32601: the client does not support the request, so the " +
					"tool should not have sent it.",
				Queries: []Query{{Expr: perMinute("mcp_method_name, error_type", asked.with(`error_type!~"|cancelled"`).count()),
					Legend: "{{mcp_method_name}} {{error_type}}"}}},
			{Title: "Notifications", Unit: "cps", Empty: "no notifications",
				Text: "Notifications per second, both ways. A busy tool can send more progress notifications and log messages " +
					"than all other messages together.",
				Queries: []Query{{Expr: sumBy("mcp_server_direction, mcp_method_name",
					rate(serverSeries("mcp_server_notification_messages_total"), perPoint)),
					Legend: "{{mcp_server_direction}} {{mcp_method_name}}"}}},
			{Title: "Open streams", Width: 8, Unit: "short", Empty: "no streams",
				Text: "Streams that do not belong to a single request, by kind. If there are fewer streams than clients that " +
					"expect notifications, some clients miss notifications.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, mcp_server_stream_kind",
					serverSeries("mcp_server_stream_active").String()), Legend: "{{mcp_server_name}} {{mcp_server_stream_kind}}"}}},
			{Title: "Stream length, mean", Width: 8, Unit: "s", Empty: "none ended",
				Text: "Mean length of ended streams. If all have the same short length, a proxy has an idle timeout.",
				Queries: []Query{{Expr: mean("mcp_server_name, mcp_server_stream_kind",
					rare(serverSeries("mcp_server_stream_duration_seconds")), perPoint),
					Legend: "mean {{mcp_server_name}} {{mcp_server_stream_kind}}"}}},
			{Title: "Panics by method", Width: 8, Unit: "cpm", Empty: "none",
				Text: "Handlers that panicked, per minute. One method alone: its handler has a bug. Many methods at once: the " +
					"bug is in code that they share.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, mcp_method_name",
					serverSeries("mcp_server_handler_panics_total")),
					Legend: "{{mcp_server_name}} {{mcp_method_name}}"}}},
		}},
		{"Tasks", []Panel{
			{Title: "Running tasks", Width: 8, Unit: "short", Empty: "no tasks",
				Text: "Running tasks, including tasks that wait for input. If a line only rises, tasks never end.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, gen_ai_tool_name",
					serverSeries("mcp_server_task_active").String()), Legend: "{{mcp_server_name}} {{gen_ai_tool_name}}"}}},
			{Title: "Ended tasks", Width: 8, Unit: "cpm", Empty: "none ended",
				Text: "Ended tasks per minute, by outcome. Many cancelled tasks: tasks take longer than clients are willing to " +
					"wait. Failed tasks: open a trace of the tool.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name, mcp_server_task_status", tasks.count()),
					Legend: "{{gen_ai_tool_name}} {{mcp_server_task_status}}"}}},
			{Title: "Task duration", Width: 8, Unit: "s", Empty: "none ended",
				Text: "Time from the creation of a task to its outcome. If it is near the time for which tasks are kept, " +
					"clients that fetch a result late no longer find the task.",
				Queries: []Query{
					{Expr: quantile(.5, "gen_ai_tool_name", tasks, perPoint), Legend: "{{gen_ai_tool_name}} p50"},
					{Expr: quantile(.95, "gen_ai_tool_name", tasks, perPoint), Legend: "{{gen_ai_tool_name}} p95", Exemplars: true},
				}},
		}},
	},
}
