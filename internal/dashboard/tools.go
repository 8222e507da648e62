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
	Description: "Which tools are called, which fail, which report errors, where the time goes, and what tools take of " +
		"the context of a model.",
	Variables: variables(clientService, clientName, clientTool),
	Rows: []Row{
		{"Rate, errors, duration", []Panel{
			firing,
			{Title: "Calls", Kind: Stat, Unit: "reqps", Empty: "no calls",
				Text: "Calls of tools in a second, now. None where there should be some: see whether the clients are ready " +
					"on the connections dashboard.",
				Queries: []Query{{Expr: sumBy("", rate(toolCalls.count(), perPoint))}}},
			{Title: "Failed", Kind: Stat, Unit: "percentunit", Empty: "no calls", Steps: bad(.01, .05),
				Text: "Part of the calls that failed before the tool could answer: timeouts, lost connections, JSON-RPC " +
					"errors. The causes are on operations and connections.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(toolCalls.with(failed).count(), perRange)),
					sumBy("", growth(toolCalls.count(), perRange)))}}},
			{Title: "Errors of tools", Kind: Stat, Unit: "percentunit", Empty: "no calls", Steps: bad(.1, .5),
				Text: "Part of the calls whose result says that the tool could not do it. Models provoke these with wrong " +
					"arguments; a tool that does it all the time is broken, or its description misleads.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(toolCalls.with(toolError).count(), perRange)),
					sumBy("", growth(toolCalls.count(), perRange)))}}},
			{Title: "p95", Kind: Stat, Unit: "s", Empty: "no calls", Steps: bad(2, 5),
				Text: "19 of 20 calls took at most this long, without those that timed out or were cancelled. High: sort the " +
					"table below by p95.",
				Queries: []Query{{Expr: quantile(.95, "", timelyCalls, perRange)}}},
			{Title: "Beyond the limit", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 100),
				Text: "Calls, in the time shown, of tools that metrics do not tell apart: there are more names than " +
					"WithToolNameLimit allows, or names that the server never listed. Traces have their names. Raise the limit if " +
					"the tools are yours.",
				Queries: []Query{{Expr: sumBy("",
					growth(clientSeries("mcp_client_operation_duration_seconds").with(`gen_ai_tool_name="_OTHER"`).count(), perRange)),
					Zero: "no server may have so many tools"}}},
			{Title: "Each tool", Kind: Table, Empty: "no calls", Width: 24, Height: 9,
				Text: "Sort by what hurts. The link on a tool's name shows its traces. p50 and p95 are of the calls that " +
					"neither timed out " +
					"nor were cancelled.",
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
				Text: "Calls in a second. A tool whose calls double again and again: an agent that goes round in circles.",
				Queries: []Query{{Expr: sumBy("gen_ai_tool_name", rate(toolCalls.count(), perPoint)),
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Duration by tool, p95", Unit: "s", Empty: "no calls",
				Text: "19 of 20 calls of each tool took at most this long. The points are single calls: click one to open " +
					"its trace.",
				Queries: []Query{{Expr: quantile(.95, "gen_ai_tool_name", timelyCalls, perPoint), Legend: "p95 " +
					"{{gen_ai_tool_name}}",
					Exemplars: true}}},
		}},
		{"Why", []Panel{
			{Title: "Failed calls", Unit: "cpm", Empty: "no call failed",
				Text: "In a minute, by tool and error. timeout of one tool: it is slow or its timeout is short. " +
					"connection_lost of one tool: it crashes its server.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name, error_type", toolCalls.with(failed).count()),
					Legend: "{{gen_ai_tool_name}} {{error_type}}"}}},
			{Title: "Errors that tools report", Unit: "cpm", Empty: "no tool reported an error",
				Text: "In a minute. What the error said is in no telemetry, unless content capture is on; its " +
					"record mcp_client.request.tool_error names the call.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name", toolCalls.with(toolError).count()),
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Time outside the tool", Unit: "s", Empty: "no server with telemetry",
				Text: "Mean duration of calls that succeeded, at the client less at the server that it is connected to, by the " +
					"name that both give the server: the way there and back, and queues. High: see frames and decode. Only where " +
					"servers export telemetry too; for a moment below zero if one side exports later.",
				Queries: []Query{{Expr: "(" + clientTime + ") - (" + serverTime + ")", Legend: "mean {{mcp_server_name}} " +
					"{{gen_ai_tool_name}}"}}},
			{Title: "Where the time goes", Kind: BarGauge, Unit: "s", Empty: "no calls",
				Text: "The ten tools that were waited for the longest in all, in the time shown. To make agents faster begin " +
					"at the top.",
				Queries: []Query{{Expr: "topk(10, " + sumBy("gen_ai_tool_name", growth(toolCalls.sum(), perRange)) + ")",
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Calls in a loop", Unit: "cpm", Empty: "no call, or no client has UseLoopDetection",
				Text: "Calls that brought nothing new, as several before them, in a minute. same_call: one call with " +
					"the same result. same_result: whatever the arguments. cycle: a few calls in turns. The record " +
					"mcp_client.tool.loop leads to the trace.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name, mcp_client_loop_kind",
					clientSeries("mcp_client_tool_loops_total")),
					Legend: "{{gen_ai_tool_name}}: {{mcp_client_loop_kind}}"}}},
			{Title: "Calls not sent, because of a loop", Unit: "cpm", Empty: "no call, or no client has LoopOptions.Break",
				Text: "Calls that would have gone on with a loop and failed in the client instead, in a minute. No " +
					"failure of the server.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name", toolCalls.with(`error_type="loop"`).count()),
					Legend: "{{gen_ai_tool_name}}"}}},
			{Title: "Calls by agent", Unit: "reqps", Empty: "no service has the label", Stacked: true,
				Text: "Calls in a second, by the agent that made them: of services that say so by " +
					"telemetry.ContextWithConversation and have telemetry.WithBaggageLabel. Which conversation it was is on the " +
					"spans: search the traces for gen_ai.agent.name.",
				Queries: []Query{{Expr: sumBy("gen_ai_agent_name",
					rate(toolCalls.with(`gen_ai_agent_name!=""`).count(), perPoint)), Legend: "{{gen_ai_agent_name}}"}}},
			{Title: "Tools of agents, p95", Unit: "s", Empty: "no service records it",
				Text: "gen_ai.execute_tool.duration of the GenAI conventions: the tools of MCP servers beside all others that " +
					"agents in these services run. Clients of this module record it with telemetry.WithExecuteToolDuration.",
				Queries: []Query{{Expr: quantile(.95, "gen_ai_tool_name", toolsOfAgents, perPoint),
					Legend: "p95 {{gen_ai_tool_name}}"}}},
			{Title: "Calls in flight", Unit: "short", Empty: "no client",
				Text: "Calls of tools that wait, by client. A line that stays up: calls that are stuck; the debug page lists them.",
				Queries: []Query{{Expr: sumBy("mcp_client_name",
					clientSeries("mcp_client_active_requests").with(isToolCall).String()), Legend: "{{mcp_client_name}}"}}},
			{Title: "Cancelled calls", Unit: "cpm", Empty: "no call was cancelled",
				Text: "Calls that the caller gave up, in a minute. No failure; but many of one tool say that it " +
					"is too slow for those who wait.",
				Queries: []Query{{Expr: perMinute("gen_ai_tool_name", toolCalls.with(cancelled).count()),
					Legend: "{{gen_ai_tool_name}}"}}},
		}},
		{"What models are given", []Panel{
			{Title: "Tokens of all tools, estimated", Width: 8, Unit: "short", Empty: "no client has listed tools",
				Text: "What the name, description and input schema of all tools that a server lists take of the context, in " +
					"every turn, before anything is asked. A step up: the server has more tools, or longer words for them. " +
					"mcpotel cost says which.",
				Queries: []Query{{Expr: maxBy("mcp_client_name", clientSeries("mcp_client_tool_list_token_estimate")),
					Legend: "{{mcp_client_name}}"}}},
			{Title: "Size of all tools", Width: 8, Unit: "bytes", Empty: "no client has listed tools",
				Text: "The same in bytes, which are exact: as compact JSON. The alert on growth goes by these.",
				Queries: []Query{{Expr: maxBy("mcp_client_name", clientSeries("mcp_client_tool_list_size_bytes")),
					Legend: "{{mcp_client_name}}"}}},
			{Title: "Results, p95", Width: 8, Unit: "bytes", Empty: "no client has WithContextCost",
				Text: "19 of 20 results of each tool were at most so large, as JSON. They go into the context as well, with " +
					"each call: a tool that returns much wants a limit, or pages.",
				Queries: []Query{{Expr: quantile(.95, "gen_ai_tool_name", toolResults, perPoint), Legend: "p95 " +
					"{{gen_ai_tool_name}}"}}},
			{Title: "Tools that changed", Width: 24, Unit: "cpm", Empty: "no client with UseDriftDetection has seen a change",
				Text: "Tools that a server lists otherwise than before, or than the baseline. Records of " +
					"mcp_client.tool.changed say which, and which parts. None is expected between two versions of a server.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_client_tool_change_kind",
					clientSeries("mcp_client_tool_changes_total")),
					Legend: "{{mcp_client_name}} {{mcp_client_tool_change_kind}}"}}},
			{Title: "What each tool takes", Kind: Table, Empty: "no client has WithContextCost", Width: 24, Height: 9,
				Text: "Sort by what is large. Tokens are estimated, as of o200k_base; bytes are exact. A large schema: fewer " +
					"arguments, or shorter descriptions of them. _OTHER: the tools beyond the limit of names, together.",
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
