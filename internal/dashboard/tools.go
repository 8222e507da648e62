package dashboard

var (
	toolCalls   = clientSeries("mcp_client_operation_duration_seconds").with(isToolCall + `,gen_ai_tool_name=~"$tool"`)
	timelyCalls = toolCalls.with(answeredAtAll)
	inTheTool   = series{name: "mcp_server_operation_duration_seconds",
		labels: inEnvironment + `,mcp_server_name!="",` + isToolCall + `,gen_ai_tool_name=~"$tool"`}
	toolsOfAgents = series{name: "gen_ai_execute_tool_duration_seconds", labels: inClients + `,gen_ai_tool_name=~"$tool"`}
	definition    = clientSeries("mcp_client_tool_definition_size_bytes").with(`gen_ai_tool_name=~"$tool"`)
	definedTokens = clientSeries("mcp_client_tool_definition_token_estimate").with(`gen_ai_tool_name=~"$tool"`)
	toolResults   = clientSeries("mcp_client_tool_result_size_bytes").with(`gen_ai_tool_name=~"$tool"`)
	byServer      = environmentLabel + ", mcp_server_name, gen_ai_tool_name"
	clientTime    = sumBy(byServer, perServer(rate(toolCalls.with(succeeded).sum(), perPoint))) + " / (" +
		sumBy(byServer, perServer(rate(toolCalls.with(succeeded).count(), perPoint))) + " > 0)"
	serverTime = mean(byServer, inTheTool.with(succeeded), perPoint)
)

var tools = Dashboard{
	UID: "tools", Title: "MCP tools",
	Description: "Which tools are called, which fail, which report errors, which take the most time, and how much of a " +
		"model's context they use.",
	Variables: variables(clientService, clientName, clientTool),
	Rows: []Row{
		{"Rate, errors, duration", []Panel{
			firing,
			{Title: "Calls", Kind: Stat, Unit: "reqps", Empty: "no calls",
				Text: "Tool calls per second, now. If there are none although there should be some, check on the connections " +
					"dashboard whether clients are ready.",
				Queries: []Query{{Expr: sumBy("", rate(toolCalls.count(), perPoint))}}},
			{Title: "Failed", Kind: Stat, Unit: "percentunit", Empty: "no calls", Steps: bad(.01, .05),
				Text: "Share of the calls that failed before the tool could answer: timeouts, lost connections, JSON-RPC " +
					"errors. The dashboards of operations and connections show the causes.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(toolCalls.with(failed).count(), perRange)),
					sumBy("", growth(toolCalls.count(), perRange)))}}},
			{Title: "Tool errors", Kind: Stat, Unit: "percentunit", Empty: "no calls", Steps: bad(.1, .5),
				Text: "Share of the calls whose result reports an error. Models cause such errors with wrong arguments. If a " +
					"tool fails all the time, it is broken, or its description is misleading.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(toolCalls.with(toolError).count(), perRange)),
					sumBy("", growth(toolCalls.count(), perRange)))}}},
			{Title: "p95", Kind: Stat, Unit: "s", Empty: "no calls", Steps: bad(2, 5),
				Text: "19 of 20 calls took at most this long, without those that timed out or were cancelled. If the time is " +
					"long, sort the table below by p95.",
				Queries: []Query{{Expr: quantile(.95, "", timelyCalls, perRange)}}},
			{Title: "Calls of unnamed tools", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 100),
				Text: "Calls of tools that metrics do not distinguish, in the selected time range: there are more tools than " +
					"WithToolNameLimit allows, or the server never listed the tool. Traces contain the names. If the tools are " +
					"yours, raise the limit.",
				Queries: []Query{{Expr: sumBy("",
					growth(clientSeries("mcp_client_operation_duration_seconds").with(`gen_ai_tool_name="_OTHER"`).count(), perRange)),
					Zero: "no server may have that many tools"}}},
			{Title: "Each tool", Kind: Table, Empty: "no calls", Width: 24, Height: 9,
				Text: "Sort by the column that matters. The link on a tool's name searches for its traces. p50 and p95 exclude " +
					"calls that timed out or were cancelled.",
				Queries: []Query{
					{Expr: sumBy("job, mcp_client_name, gen_ai_tool_name", growth(toolCalls.count(), perRange))},
					{Expr: ratio(sumBy("job, mcp_client_name, gen_ai_tool_name", growth(toolCalls.with(failed).count(), perRange)),
						sumBy("job, mcp_client_name, gen_ai_tool_name", growth(toolCalls.count(), perRange)))},
					{Expr: ratio(sumBy("job, mcp_client_name, gen_ai_tool_name", growth(toolCalls.with(toolError).count(), perRange)),
						sumBy("job, mcp_client_name, gen_ai_tool_name", growth(toolCalls.count(), perRange)))},
					{Expr: positive(sumBy("job, mcp_client_name, gen_ai_tool_name",
						growth(toolCalls.with(`error_type=~"timeout|cancelled"`).count(), perRange)))},
					{Expr: quantile(.5, "job, mcp_client_name, gen_ai_tool_name", timelyCalls, perRange)},
					{Expr: quantile(.95, "job, mcp_client_name, gen_ai_tool_name", timelyCalls, perRange)},
				},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_client_name", Title: "Client"},
					{Field: "gen_ai_tool_name", Title: "Tool", Links: []Link{
						{"This tool alone", "/d/" + prefix +
							"tools?${__url_time_range}&${datasource:queryparam}&${traces:queryparam}" +
							"&var-job=${__data.fields.Service:percentencode}" +
							"&var-client=${__data.fields.Client:percentencode}&var-tool=${__data.fields.Tool:percentencode}"},
						tracesWith("Traces of this tool", "${__data.fields.Service:percentencode}",
							"gen_ai.tool.name=${__data.fields.Tool:percentencode}"),
					}},
					{Field: "A", Title: "Calls", Unit: "short"},
					{Field: "B", Title: "Failed", Unit: "percentunit", Steps: bad(.01, .05)},
					{Field: "C", Title: "Tool errors", Unit: "percentunit", Steps: bad(.1, .5)},
					{Field: "D", Title: "Timed out or cancelled", Unit: "short"},
					{Field: "E", Title: "p50", Unit: "s"},
					{Field: "F", Title: "p95", Unit: "s", Steps: bad(2, 5)},
				}},
			{Title: "Calls by tool", Unit: "reqps", Empty: "no calls", Stacked: true,
				Text: "Calls per second. If the calls of a tool double again and again, an agent may be in a loop.",
				Queries: []Query{{Expr: sumBy("gen_ai_tool_name", rate(toolCalls.count(), perPoint)),
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Duration by tool, p95", Unit: "s", Empty: "no calls",
				Text: "19 of 20 calls of each tool took at most this long. Each point is one call: click a point to open its " +
					"trace.",
				Queries: []Query{{Expr: quantile(.95, "gen_ai_tool_name", timelyCalls, perPoint), Legend: "p95 " +
					"{{gen_ai_tool_name}}",
					Exemplars: true}}},
		}},
		{"Why", []Panel{
			{Title: "Failed calls", Unit: "cpm", Empty: "none",
				Text: "Failed calls per minute, by tool and error. timeout for one tool: the tool is slow, or its timeout is " +
					"too short. connection_lost for one tool: the tool crashes its server.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name, error_type", toolCalls.with(failed).count()),
					Legend: "{{gen_ai_tool_name}} {{error_type}}"}}},
			{Title: "Tool errors by tool", Unit: "cpm", Empty: "none",
				Text: "Tool errors per minute. Telemetry contains the error text only with content capture; the record " +
					"mcp_client.request.tool_error identifies the call.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name", toolCalls.with(toolError).count()),
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Time outside the tool", Unit: "s", Empty: "no server with telemetry",
				Text: "Mean duration of successful calls at the client, minus the mean duration at the server of the same name: " +
					"the time in the network and in queues. If it is long, see the frames dashboard. It needs telemetry of the " +
					"servers, and may be negative for a moment if one side exports later.",
				Queries: []Query{{Expr: "(" + clientTime + ") - (" + serverTime + ")", Legend: "mean {{mcp_server_name}} " +
					"{{gen_ai_tool_name}}"}}},
			{Title: "Total time by tool", Kind: BarGauge, Unit: "s", Empty: "no calls",
				Text: "The ten tools with the most total waiting time, in the selected time range. To make agents faster, begin " +
					"at the top.",
				Queries: []Query{{Expr: "topk(10, " + sumBy("gen_ai_tool_name", growth(toolCalls.sum(), perRange)) + ")",
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Calls in a loop", Unit: "cpm", Empty: "no calls, or no client uses UseLoopDetection",
				Text: "Calls per minute that, like several calls before them, returned nothing new. same_call: the same call " +
					"with the same result. same_result: different arguments with the same result. cycle: a few calls in turn. The " +
					"record mcp_client.tool.loop leads to the trace.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name, mcp_client_loop_kind",
					clientSeries("mcp_client_tool_loops_total")),
					Legend: "{{gen_ai_tool_name}}: {{mcp_client_loop_kind}}"}}},
			{Title: "Calls stopped by loop detection", Unit: "cpm", Empty: "no calls, or no client uses LoopOptions.Break",
				Text: "Calls per minute that would have continued a loop, so the client did not send them and returned an " +
					"error. They are not failures of the server.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name", toolCalls.with(`error_type="loop"`).count()),
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Calls by agent", Unit: "reqps", Empty: "no service has the label", Stacked: true,
				Text: "Calls per second, by the agent that made them. Only services with telemetry.ContextWithConversation and " +
					"telemetry.WithBaggageLabel report the agent. The conversation is on the spans: search the traces for " +
					"gen_ai.agent.name.",
				Queries: []Query{{Expr: sumBy("gen_ai_agent_name",
					rate(toolCalls.with(`gen_ai_agent_name!=""`).count(), perPoint)), Legend: "{{gen_ai_agent_name}}"}}},
			{Title: "All tools of agents, p95", Unit: "s", Empty: "no service records it",
				Text: "The metric gen_ai.execute_tool.duration of the GenAI conventions: tools of MCP servers and all other " +
					"tools that agents in these services run. Clients of this module record it with " +
					"telemetry.WithExecuteToolDuration.",
				Queries: []Query{{Expr: quantile(.95, "gen_ai_tool_name", toolsOfAgents, perPoint),
					Legend: "p95 {{gen_ai_tool_name}}"}}},
			{Title: "Calls in flight", Unit: "short", Empty: "no clients",
				Text: "Tool calls in flight, by client. If a line stays up, calls are stuck; the debug page lists them.",
				Queries: []Query{{Expr: sumBy("mcp_client_name",
					clientSeries("mcp_client_active_requests").with(isToolCall).String()), Legend: "{{mcp_client_name}}"}}},
			{Title: "Cancelled calls", Unit: "cpm", Empty: "none",
				Text: "Calls that the caller cancelled, per minute. They do not count as failures, but many cancelled calls of " +
					"one tool mean that the tool is too slow for its callers.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name", toolCalls.with(cancelled).count()),
					Legend: "{{gen_ai_tool_name}}"}}},
		}},
		{"Size of tools and results", []Panel{
			{Title: "Tokens of all tools, estimated", Width: 8, Unit: "short", Empty: "no client has listed tools",
				Text: "Tokens that the names, descriptions and input schemas of all tools of a server take of the context, on " +
					"every turn. A step up: the server has more tools, or longer definitions. mcpotel cost shows which.",
				Queries: []Query{{Expr: maxBy("mcp_client_name", clientSeries("mcp_client_tool_list_token_estimate")),
					Legend: "{{mcp_client_name}}"}}},
			{Title: "Size of all tools", Width: 8, Unit: "bytes", Empty: "no client has listed tools",
				Text: "Exact size of all tool definitions as compact JSON, in bytes. The alert MCPToolListGrew uses this size.",
				Queries: []Query{{Expr: maxBy("mcp_client_name", clientSeries("mcp_client_tool_list_size_bytes")),
					Legend: "{{mcp_client_name}}"}}},
			{Title: "Result size, p95", Width: 8, Unit: "bytes", Empty: "no client uses WithContextCost",
				Text: "19 of 20 results of each tool were at most this large, as JSON. Each result also goes into the context: " +
					"limit the results of a tool that returns much, or return them in pages.",
				Queries: []Query{{Expr: quantile(.95, "gen_ai_tool_name", toolResults, perPoint), Legend: "p95 " +
					"{{gen_ai_tool_name}}"}}},
			{Title: "Tools that changed", Width: 24, Unit: "cpm", Empty: "no client with UseDriftDetection has seen a change",
				Text: "Tools with a definition that differs from the previous list or from the baseline. The records " +
					"mcp_client.tool.changed name the tools and the changed parts. Between two releases of a server, no change is " +
					"expected.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_client_tool_change_kind",
					clientSeries("mcp_client_tool_changes_total")),
					Legend: "{{mcp_client_name}} {{mcp_client_tool_change_kind}}"}}},
			{Title: "Size of each tool", Kind: Table, Empty: "no client uses WithContextCost", Width: 24, Height: 9,
				Text: "Sort by size. Tokens are estimates for o200k_base; bytes are exact. If a schema is large, use fewer " +
					"arguments or shorter descriptions. _OTHER: all tools beyond the limit of names.",
				Queries: []Query{
					{Expr: maxBy("job, mcp_client_name, gen_ai_tool_name", definedTokens.with(isDescription)) + " + " +
						maxBy("job, mcp_client_name, gen_ai_tool_name", definedTokens.with(isSchema))},
					{Expr: maxBy("job, mcp_client_name, gen_ai_tool_name", definition.with(isDescription))},
					{Expr: maxBy("job, mcp_client_name, gen_ai_tool_name", definition.with(isSchema))},
					{Expr: quantile(.95, "job, mcp_client_name, gen_ai_tool_name", toolResults, perRange)},
				},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_client_name", Title: "Client"},
					{Field: "gen_ai_tool_name", Title: "Tool"},
					{Field: "A", Title: "Tokens, estimated", Unit: "short"},
					{Field: "B", Title: "Description", Unit: "bytes"},
					{Field: "C", Title: "Schema", Unit: "bytes"},
					{Field: "D", Title: "Result, p95", Unit: "bytes"},
				}},
		}},
	},
}
