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
	Description: "What the servers of this module are asked, how they answer, and what they ask and tell their clients.",
	Variables:   variables(serverService, serverName, serverMethod),
	Rows: []Row{
		{"Rate, errors, duration", []Panel{
			firing,
			{Title: "Requests", Kind: Stat, Unit: "reqps", Empty: "no requests",
				Text: "Requests answered in a second, now. None where there should be some: see whether clients reach the " +
					"server at all.",
				Queries: []Query{{Expr: sumBy("", rate(served.count(), perPoint))}}},
			{Title: "Failed", Kind: Stat, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Part of the requests that failed because of the server. Not counted: mistakes, cancellations and lost " +
					"connections of clients, errors that a tool reports, and requests under way when the server was stopped.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(served.with(ownFailure).count(), perRange)),
					sumBy("", growth(served.count(), perRange)))}}},
			{Title: "p95", Kind: Stat, Unit: "s", Empty: "no requests", Steps: bad(2, 5),
				Text: "19 of 20 requests were answered within this time, without those that timed out or were cancelled. " +
					"Look below at which method or tool it is.",
				Queries: []Query{{Expr: quantile(.95, "", timelyServed, perRange)}}},
			{Title: "Panics", Kind: Stat, Unit: "short", Empty: "none", Steps: never,
				Text: "Handlers that panicked in the time shown. Each is a bug: the record mcp_server.handler.panic has the " +
					"stack, and the request's trace what it was called with.",
				Queries: []Query{{Expr: sumBy("", growth(serverSeries("mcp_server_handler_panics_total"), perRange))}}},
			{Title: "In flight", Kind: Stat, Unit: "short", Empty: "no requests",
				Text: "Requests that are being answered now. A number that only grows: handlers that do not return.",
				Queries: []Query{{Expr: sumBy("",
					serverSeries("mcp_server_active_requests").with(`mcp_method_name=~"$server_method"`).String()),
					Zero: "nothing may be under way at the moment of asking"}}},
			{Title: "Requests by method", Width: 8, Unit: "reqps", Empty: "no requests", Stacked: true,
				Text:    "Requests in a second. A jump: a client that polls, or one that retries.",
				Queries: []Query{{Expr: sumBy("mcp_method_name", rate(served.count(), perPoint)), Legend: "{{mcp_method_name}}"}}},
			{Title: "Failed requests by server", Width: 8, Unit: "percentunit", Empty: "no requests", Steps: bad(.01, .05),
				Text: "Part of each server's requests that failed.",
				Queries: []Query{{Expr: ratio(sumBy("job, mcp_server_name", rate(served.with(ownFailure).count(), perPoint)),
					sumBy("job, mcp_server_name", rate(served.count(), perPoint))), Legend: "{{job}} {{mcp_server_name}}"}}},
			{Title: "Duration", Width: 8, Unit: "s", Empty: "no requests",
				Text: "How long answers took. The points are single requests: click one to open its trace.",
				Queries: []Query{
					{Expr: quantile(.5, "", timelyServed, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", timelyServed, perPoint), Legend: "p95", Exemplars: true},
					{Expr: quantile(.99, "", timelyServed, perPoint), Legend: "p99"},
				}},
		}},
		{"Why", []Panel{
			{Title: "Failures by type", Unit: "cpm", Empty: "no failures",
				Text: "Failures in a minute. -32603: the handler failed or panicked. timeout: the handler took longer " +
					"than Options.RequestTimeout. overloaded: a limit of the server was reached. Shown but not counted as failures " +
					"above: connection_lost, shutdown, rate_limited.",
				Queries: []Query{{Expr: perMinute("mcp_method_name, error_type", served.with(failed).count()),
					Legend: "{{mcp_method_name}} {{error_type}}"}}},
			{Title: "Refused requests", Unit: "cpm", Empty: "none was refused",
				Text: "Requests answered with an error because of what the client sent, by JSON-RPC code, within the rate " +
					"window. -32602 of one tool: its schema or description misleads callers. -32601: a client of another age.",
				Queries: []Query{{Expr: perMinute("mcp_method_name, rpc_response_status_code",
					served.with(`rpc_response_status_code!="",error_type=""`).count()),
					Legend: "{{mcp_method_name}} {{rpc_response_status_code}}"}}},
			{Title: "Turned away", Unit: "cpm", Empty: "none was turned away",
				Text: "Requests in a minute that no handler saw, by reason and HTTP status. overloaded: see the " +
					"limits beside. origin, host: HTTPOptions.AllowedOrigins or AllowedHosts lacks a name, or a stranger tries. " +
					"session: clients of another process, or after a restart.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, mcp_server_refusal_reason, http_response_status_code",
					serverSeries("mcp_server_request_refused_total")),
					Legend: "{{mcp_server_name}} {{mcp_server_refusal_reason}} {{http_response_status_code}}",
					Zero:   "nothing may have been turned away"}}},
			{Title: "Usage of limits", Unit: "percentunit", Empty: "no server has a limit", Steps: bad(.8, .95),
				Text: "How full each limited resource is, at its fullest: connection, session, handler or process. At 100 % " +
					"requests are refused as overloaded; the names of the limits are in the telemetry reference.",
				Queries: []Query{
					{Expr: fullest("mcp_server_name, mcp_server_capacity_kind", serverSeries, "mcp_server_capacity_usage",
						"mcp_server_capacity_limit"), Legend: "{{mcp_server_name}} {{mcp_server_capacity_kind}}"},
					{Expr: fullest("mcp_server_name, mcp_server_memory_kind", serverSeries, "mcp_server_memory_usage_bytes",
						"mcp_server_memory_limit_bytes"), Legend: "{{mcp_server_name}} memory of {{mcp_server_memory_kind}}"},
				}},
			{Title: "What policies of proxies did", Width: 24, Unit: "cpm", Empty: "no proxy has a policy, or none was needed",
				Text: "In a minute, by proxy and tool. denied: a host asks for tools that it may not call. limited, " +
					"timed_out: the bound is too low, or a host asks for too much. Records of mcp_server.policy.decided say which.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, mcp_server_policy_decision, gen_ai_tool_name",
					serverSeries("mcp_server_policy_decisions_total")),
					Legend: "{{mcp_server_name}} {{mcp_server_policy_decision}} {{gen_ai_tool_name}}"}}},
			{Title: "Clients", Kind: Table, Empty: "no client has said what it is called", Width: 24,
				Text: "What clients call themselves, and how much each asks in the time shown. One that asks much more than " +
					"before, or a version that came with the failures above: start there. _OTHER: there are more than 256.",
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
				Text: "Sort by what hurts. The link on a tool's name shows its traces.",
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
				Text: "Requests that are being answered. A line that stays up: handlers that do not return; the debug page " +
					"lists them.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, mcp_method_name",
					serverSeries("mcp_server_active_requests").with(`mcp_method_name=~"$server_method"`).String()),
					Legend: "{{mcp_server_name}} {{mcp_method_name}}"}}},
			{Title: "Open sessions", Width: 8, Unit: "short", Empty: "no sessions",
				Text: "Sessions that clients have open in each process. One that only rises: clients that never end theirs. " +
					"Versions of the protocol from 2026-07-28 on have none.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, instance", serverSeries("mcp_server_session_active").String()),
					Legend: "{{mcp_server_name}} {{instance}}"}}},
			{Title: "Sessions that ended", Width: 8, Unit: "cpm", Empty: "none ended",
				Text: "In a minute, by error; without one they were closed in order. Many short ones: clients " +
					"that cannot keep a session, such as behind a balancer that does not know them.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, error_type", ended.count()),
					Legend: "{{mcp_server_name}} {{error_type}}"}}},
		}},
		{"Which instance, which version", slices.Concat(
			dividedBy("instance", "job, instance", "{{job}} {{instance}}", served,
				"One instance alone: its machine, or what it depends on."),
			dividedBy("version", "job, service_version", "{{job}} {{service_version}}", served,
				"The newer version of the service alone is high: it regressed."))},
		{"What changed", []Panel{wide(versionsSeen("server_job"))}},
		{"What servers ask of and tell their clients", []Panel{
			{Title: "Asked of clients, p95", Unit: "s", Empty: "clients were asked nothing",
				Text: "How long clients took to answer for sampling, elicitation and roots. People and models are slow; the " +
					"tool that asks is as slow.",
				Queries: []Query{{Expr: quantile(.95, "mcp_server_name, mcp_method_name", asked, perPoint),
					Legend: "p95 {{mcp_server_name}} {{mcp_method_name}}", Exemplars: true}}},
			{Title: "Questions without an answer yet", Unit: "short", Empty: "clients were asked nothing",
				Text: "Requests to clients that wait for their answers. A line that stays up: a person who has left, or a " +
					"client that has forgotten.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, mcp_method_name", serverSeries("mcp_server_active_asks").String()),
					Legend: "{{mcp_server_name}} {{mcp_method_name}}"}}},
			{Title: "Asked in vain", Unit: "cpm", Empty: "every question was answered",
				Text: "Questions without a good answer, in a minute. -32601: the client cannot do it, and the " +
					"tool should not have asked.",
				Queries: []Query{{Expr: perMinute("mcp_method_name, error_type", asked.with(`error_type!~"|cancelled"`).count()),
					Legend: "{{mcp_method_name}} {{error_type}}"}}},
			{Title: "Notifications", Unit: "cps", Empty: "no notifications",
				Text: "Notifications in a second, both ways. Progress and log messages of a busy tool can outweigh " +
					"everything else.",
				Queries: []Query{{Expr: sumBy("mcp_server_direction, mcp_method_name",
					rate(serverSeries("mcp_server_notification_messages_total"), perPoint)),
					Legend: "{{mcp_server_direction}} {{mcp_method_name}}"}}},
			{Title: "Open streams", Width: 8, Unit: "short", Empty: "no streams",
				Text: "Streams that serve no single request, by kind. Fewer than clients that should be told things: those " +
					"miss notifications.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, mcp_server_stream_kind",
					serverSeries("mcp_server_stream_active").String()), Legend: "{{mcp_server_name}} {{mcp_server_stream_kind}}"}}},
			{Title: "Length of streams, mean", Width: 8, Unit: "s", Empty: "none ended",
				Text: "How long the streams were open that ended. All of the same short length: a proxy's idle timeout.",
				Queries: []Query{{Expr: mean("mcp_server_name, mcp_server_stream_kind",
					rare(serverSeries("mcp_server_stream_duration_seconds")), perPoint),
					Legend: "mean {{mcp_server_name}} {{mcp_server_stream_kind}}"}}},
			{Title: "Panics by method", Width: 8, Unit: "cpm", Empty: "none",
				Text: "Handlers that panicked, in a minute. One method alone: a bug there. Many at once: " +
					"something they share.",
				Queries: []Query{{Expr: perMinute("mcp_server_name, mcp_method_name",
					serverSeries("mcp_server_handler_panics_total")),
					Legend: "{{mcp_server_name}} {{mcp_method_name}}"}}},
		}},
		{"Tasks", []Panel{
			{Title: "Tasks at work", Width: 8, Unit: "short", Empty: "no tasks",
				Text: "Tasks that run, those that wait for input included. A line that only rises: tasks that nobody ends.",
				Queries: []Query{{Expr: sumBy("mcp_server_name, gen_ai_tool_name",
					serverSeries("mcp_server_task_active").String()), Legend: "{{mcp_server_name}} {{gen_ai_tool_name}}"}}},
			{Title: "Tasks that ended", Width: 8, Unit: "cpm", Empty: "none ended",
				Text: "In a minute, by outcome. Many cancelled: tasks take longer than clients care to wait. " +
					"Failed: open a trace of the tool.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name, mcp_server_task_status", tasks.count()),
					Legend: "{{gen_ai_tool_name}} {{mcp_server_task_status}}"}}},
			{Title: "Length of tasks", Width: 8, Unit: "s", Empty: "none ended",
				Text: "From the creation of a task to its outcome. Near the time that tasks are kept for: clients that fetch a " +
					"result late find none.",
				Queries: []Query{
					{Expr: quantile(.5, "gen_ai_tool_name", tasks, perPoint), Legend: "{{gen_ai_tool_name}} p50"},
					{Expr: quantile(.95, "gen_ai_tool_name", tasks, perPoint), Legend: "{{gen_ai_tool_name}} p95", Exemplars: true},
				}},
		}},
	},
}
