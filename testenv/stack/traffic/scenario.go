package traffic

import "context"

// A Scenario is one kind of traffic.
type Scenario struct {
	Name  string
	Makes string   // description for people
	Moves []string // Prometheus selectors; each must match a series above zero afterwards

	play func(ctx context.Context, f *Fleet) error // returns an error if anything unexpected happens
}

// Scenarios are all scenarios. The names of clients and servers show their role: shop, weather, calculator, grafana and
// everything are healthy servers, the others have problems.
var Scenarios = []Scenario{
	{
		Name: "policy", Makes: "calls through a proxy whose policy decides on them", play: policed,
		Moves: []string{
			`mcp_server_policy_decisions_total{mcp_server_name="guarded",mcp_server_policy_decision="hidden"}`,
			`mcp_server_policy_decisions_total{mcp_server_name="guarded",mcp_server_policy_decision="denied",` +
				`gen_ai_tool_name="divide"}`,
			`mcp_server_policy_decisions_total{mcp_server_name="guarded",mcp_server_policy_decision="timed_out",` +
				`gen_ai_tool_name="wait"}`,
			`mcp_server_policy_decisions_total{mcp_server_name="guarded",mcp_server_policy_decision="limited",` +
				`gen_ai_tool_name="forecast"}`,
			`mcp_server_policy_decisions_total{mcp_server_name="guarded",mcp_server_policy_decision="redacted",` +
				`gen_ai_tool_name="forecast"}`,
		},
	},
	{
		Name: "audit", Makes: "a call whose audit records cannot be written", play: unaudited,
		Moves: []string{
			`mcp_client_audit_losses_total{mcp_client_name="unaudited"}`,
			`mcp_server_audit_losses_total{mcp_server_name="unaudited"}`,
		},
	},
	{
		Name: "ok", Makes: "calls that succeed, over HTTP and standard streams, from two services", play: succeed,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{job="assistant",mcp_client_name="shop",gen_ai_tool_name="add",` +
				`error_type=""}`,
			`mcp_client_start_time_seconds{job="assistant"}`, `mcp_server_start_time_seconds`,
			`mcp_client_operation_duration_seconds_count{job="nightly-batch",mcp_client_name="shop-batch",` +
				`gen_ai_tool_name="add",error_type=""}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="weather",gen_ai_tool_name="forecast",` +
				`network_transport="pipe"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",gen_ai_prompt_name="pitch"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",mcp_method_name="resources/read"}`,
			`mcp_server_operation_duration_seconds_count{mcp_server_name="shop",gen_ai_tool_name="add",error_type=""}`,
			`mcp_server_operation_duration_seconds_count{job="weather",gen_ai_tool_name="forecast"}`,
			`mcp_client_message_size_bytes_count{mcp_client_direction="sent",mcp_client_message_kind="request"}`,
			`mcp_client_message_size_bytes_count{mcp_client_direction="received",mcp_client_message_kind="response"}`,
			`mcp_server_message_size_bytes_count{mcp_server_direction="received",mcp_server_message_kind="request"}`,
			`mcp_client_message_decode_duration_seconds_count{mcp_client_message_kind="response"}`,
			`mcp_server_message_decode_duration_seconds_count{mcp_server_message_kind="request"}`,
			`mcp_client_connection_state{mcp_client_name="shop",mcp_client_connection_state="ready"}`,
			`mcp_client_server_info{mcp_client_name="shop",mcp_client_server_name="shop",mcp_protocol_version="2026-07-28"}`,
			`mcp_server_client_requests_total{mcp_server_name="shop",mcp_server_client_name!=""}`,
			`gen_ai_execute_tool_duration_seconds_count{mcp_client_name="shop",gen_ai_tool_name="add"}`,
			`mcp_client_tool_list_size_bytes{mcp_client_name="shop"}`,
			`mcp_client_tool_list_token_estimate{mcp_client_name="shop"}`,
			`mcp_client_tool_definition_size_bytes{mcp_client_name="shop",gen_ai_tool_name="add",` +
				`mcp_client_tool_definition_part="description"}`,
			`mcp_client_tool_definition_token_estimate{mcp_client_name="shop",gen_ai_tool_name="add",` +
				`mcp_client_tool_definition_part="input_schema"}`,
			`mcp_client_tool_result_size_bytes_count{mcp_client_name="shop",gen_ai_tool_name="add"}`,
			`mcp_client_tool_loops_total{mcp_client_name="shop-watched",gen_ai_tool_name="add",` +
				`mcp_client_loop_kind="same_call"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop-watched",gen_ai_tool_name="add",` +
				`error_type="loop"}`,
			`mcp_client_tool_changes_total{mcp_client_name="shop",mcp_client_tool_change_kind="added"}`,
			`mcp_client_connection_transitions_total{mcp_client_connection_to="ready",` +
				`mcp_client_connection_reason="negotiated"}`,
			`mcp_client_connection_attempt_duration_seconds_count{mcp_client_connection_attempt_kind="initial",error_type=""}`,
			`process_memory_usage_bytes{mcp_client_name="weather"}`,
			`process_cpu_time_seconds_total{mcp_client_name="weather",cpu_mode="user"}`,
			`process_uptime_seconds{mcp_client_name="weather"}`, `mcp_client_process_active{mcp_client_name="weather"}`,
			`traces_span_metrics_calls_total{service_name="assistant",span_kind="SPAN_KIND_CLIENT",mcp_client_name="shop"}`,
		},
	},
	{
		Name: "tool_error", Makes: "tools that report errors", play: toolErrors,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",gen_ai_tool_name="fail",` +
				`error_type="tool_error"}`,
			`mcp_server_operation_duration_seconds_count{mcp_server_name="shop",gen_ai_tool_name="fail",` +
				`error_type="tool_error"}`,
			`traces_span_metrics_calls_total{service_name="shop",status_code="STATUS_CODE_ERROR",error_type="tool_error"}`,
		},
	},
	{
		Name: "rpc_error", Makes: "requests that the server refuses, by a code of its own, an unknown tool, an unknown " +
			"resource", play: rpcErrors,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",gen_ai_tool_name="refuse",` +
				`error_type="-31050",rpc_response_status_code="-31050"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",mcp_method_name="tools/call",` +
				`error_type="-32602"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",mcp_method_name="resources/read",` +
				`error_type="-32602"}`,
			`mcp_server_operation_duration_seconds_count{mcp_server_name="shop",gen_ai_tool_name="refuse",` +
				`rpc_response_status_code="-31050"}`,
		},
	},
	{
		Name: "timeout", Makes: "calls that get no answer in time", play: timeouts,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",gen_ai_tool_name="wait",error_type="timeout"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="weather",gen_ai_tool_name="wait",` +
				`error_type="timeout"}`,
			`mcp_client_tombstone_kept{mcp_client_name="weather"}`,
		},
	},
	{
		Name: "cancel", Makes: "calls that their callers cancel", play: cancels,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",gen_ai_tool_name="wait",error_type="cancelled"}`,
			`mcp_server_operation_duration_seconds_count{mcp_server_name="shop",gen_ai_tool_name="wait",error_type="cancelled"}`,
			`mcp_client_notification_messages_total{mcp_client_name="weather",mcp_client_direction="sent",` +
				`mcp_method_name="notifications/cancelled"}`,
		},
	},
	{
		Name: "slow", Makes: "calls that take seconds, several at once", play: slow,
		Moves: []string{
			`mcp_client_active_requests{mcp_client_name="shop",mcp_method_name="tools/call"}`,
			`mcp_server_active_requests{mcp_server_name="shop",mcp_method_name="tools/call"}`,
			`mcp_client_operation_duration_seconds_bucket{mcp_client_name="shop",gen_ai_tool_name="wait",error_type="",` +
				`le="5.0"}`,
		},
	},
	{
		Name: "big", Makes: "answers of a kilobyte to a megabyte, and messages larger than a pipe", play: large,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",gen_ai_tool_name="big"}`,
			`mcp_client_message_size_bytes_bucket{mcp_client_direction="received",le="4.194304e+06"}`,
			`mcp_client_send_queue_wait_seconds_count{mcp_client_name="weather"}`,
			`mcp_server_send_queue_wait_seconds_count{job="weather"}`,
		},
	},
	{
		Name: "server_error", Makes: "handlers of the server that panic", play: serverPanics,
		Moves: []string{
			`mcp_server_handler_panics_total{mcp_server_name="shop",mcp_method_name="tools/call"}`,
			`mcp_server_operation_duration_seconds_count{mcp_server_name="shop",gen_ai_tool_name="panic",error_type="-32603"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop",gen_ai_tool_name="panic",error_type="-32603"}`,
		},
	},
	{
		Name: "crash", Makes: "a server that is killed during a call, and comes back", play: crash,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shaky",gen_ai_tool_name="crash",` +
				`error_type="connection_lost"}`,
			`mcp_client_connection_transitions_total{mcp_client_name="shaky",mcp_client_connection_reason="transport_down",` +
				`mcp_client_connection_to="backoff"}`,
			`mcp_client_connection_backoff_seconds_count{mcp_client_name="shaky"}`,
			`mcp_client_connection_attempt_duration_seconds_count{mcp_client_name="shaky",` +
				`mcp_client_connection_attempt_kind="reconnect",error_type=""}`,
			`mcp_client_change_gap_total{mcp_client_name="shaky",mcp_client_gap_cause="session"}`,
		},
	},
	{
		Name: "absent", Makes: "a server that is unreachable, and calls that do not wait for it", play: absent,
		Moves: []string{
			`mcp_client_connection_attempt_duration_seconds_count{mcp_client_name="absent",error_type!=""}`,
			`mcp_client_connection_state{mcp_client_name="absent",mcp_client_connection_state="backoff"}`,
			`mcp_client_connection_backoff_seconds_count{mcp_client_name="absent"}`,
		},
	},
	{
		Name: "violations", Makes: "frames that break the protocol, to the client and to the server", play: violate,
		Moves: []string{
			`mcp_client_protocol_violations_total{mcp_client_name="impolite",mcp_client_violation_reason="invalid_json"}`,
			`mcp_client_protocol_violations_total{mcp_client_name="impolite",mcp_client_violation_reason="invalid_version"}`,
			`mcp_client_protocol_violations_total{mcp_client_name="impolite",mcp_client_violation_reason="batch"}`,
			`mcp_client_protocol_violations_total{mcp_client_name="impolite",mcp_client_violation_reason="invalid_envelope"}`,
			`mcp_client_protocol_violations_total{mcp_client_name="impolite",mcp_client_violation_reason="too_deep"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="impolite",error_type="protocol_violation"}`,
			`mcp_server_protocol_violations_total{mcp_server_name="shop",mcp_server_violation_reason="invalid_json"}`,
			`mcp_server_request_refused_total{mcp_server_name="shop",mcp_server_refusal_reason="invalid"}`,
		},
	},
	{
		Name: "late_answers", Makes: "answers that come too late, twice, or to nothing", play: lateAnswers,
		Moves: []string{
			`mcp_client_response_drops_total{mcp_client_name="forgetful",mcp_client_drop_reason="late_timeout"}`,
			`mcp_client_response_drops_total{mcp_client_name="forgetful",mcp_client_drop_reason="late_cancelled"}`,
			`mcp_client_response_drops_total{mcp_client_name="forgetful",mcp_client_drop_reason="duplicate"}`,
			`mcp_client_response_drops_total{mcp_client_name="forgetful",mcp_client_drop_reason="unknown_id"}`,
			`mcp_server_response_drops_total{mcp_server_name="shop"}`,
		},
	},
	{
		Name: "busy", Makes: "calls that are retried, because the server or the transport is busy", play: busyRetries,
		Moves: []string{
			`mcp_client_transport_send_retries_total{mcp_client_name="busy",mcp_client_retry_reason="server_busy"}`,
			`mcp_client_transport_send_retries_total{mcp_client_name="narrow",mcp_client_retry_reason="busy"}`,
		},
	},
	{
		Name: "questions", Makes: "servers that ask before they answer: in rounds to a modern client, by requests to a " +
			"legacy one", play: questions,
		Moves: []string{
			`mcp_server_operation_duration_seconds_count{mcp_client_name="shop-legacy",mcp_method_name="elicitation/create"}`,
			`mcp_client_operation_duration_seconds_count{mcp_server_name="shop",mcp_method_name="elicitation/create"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop-asked",gen_ai_tool_name="order",error_type=""}`,
			`mcp_client_active_handlers{mcp_client_name="shop-legacy",mcp_method_name="elicitation/create"}`,
			`mcp_server_active_asks{mcp_server_name="shop",mcp_method_name="elicitation/create"}`,
		},
	},
	{
		Name: "handler_error", Makes: "handlers of the client that panic", play: clientPanics,
		Moves: []string{
			`mcp_client_handler_panics_total{mcp_client_name="shop-clumsy",mcp_method_name="elicitation/create"}`,
			`mcp_server_operation_duration_seconds_count{mcp_client_name="shop-clumsy",error_type="-32603"}`,
		},
	},
	{
		Name: "notifications", Makes: "progress, log messages, changes; sent, received, and dropped because nobody keeps up",
		play: notifications,
		Moves: []string{
			`mcp_client_notification_messages_total{mcp_client_name="shop-listener",mcp_client_direction="received",` +
				`mcp_method_name="notifications/progress"}`,
			`mcp_client_notification_messages_total{mcp_client_name="shop-listener",mcp_client_direction="received",` +
				`mcp_method_name="notifications/tools/list_changed"}`,
			`mcp_client_notification_messages_total{mcp_client_name="shop-listener",mcp_client_direction="received",` +
				`mcp_method_name="notifications/message"}`,
			`mcp_client_notification_messages_total{mcp_client_name="shop-listener",mcp_client_direction="sent",` +
				`mcp_method_name="notifications/roots/list_changed"}`,
			`mcp_client_notification_drops_total{mcp_client_name="shop-listener"}`,
			`mcp_server_notification_messages_total{mcp_server_name="shop",mcp_server_direction="sent"}`,
			`mcp_server_notification_drops_total{mcp_server_name="shop",mcp_server_drop_reason="no_stream"}`,
			`mcp_server_notification_messages_total{mcp_server_name="shop",mcp_server_direction="received"}`,
		},
	},
	{
		Name: "streams", Makes: "streams that are opened and closed: a session's, a subscription's, HTTP+SSE", play: streams,
		Moves: []string{
			`mcp_client_stream_active{mcp_client_stream_kind="listen"}`,
			`mcp_client_stream_duration_seconds_count{mcp_client_stream_kind="listen"}`,
			`mcp_client_stream_duration_seconds_count{mcp_client_stream_kind="get"}`,
			`mcp_client_stream_duration_seconds_count{mcp_client_stream_kind="sse"}`,
			`mcp_client_session_duration_seconds_count{mcp_client_name="shop-sse"}`,
			`mcp_server_session_duration_seconds_count{mcp_server_name="shop"}`,
			`mcp_server_session_active{mcp_server_name="shop"}`,
			`mcp_server_capacity_usage{mcp_server_name="shop",mcp_server_capacity_kind="session"}`,
			`mcp_server_capacity_limit{mcp_server_name="shop",mcp_server_capacity_kind="session"}`,
			`mcp_server_memory_usage_bytes{mcp_server_name="shop",mcp_server_memory_kind="introduction"}`,
			`mcp_server_memory_limit_bytes{mcp_server_name="shop",mcp_server_memory_kind="introduction"}`,
			`mcp_server_stream_active{mcp_server_name="shop"}`,
			`mcp_server_stream_duration_seconds_count{mcp_server_name="shop"}`,
		},
	},
	{
		Name: "cache", Makes: "lists and resources, some of them in the client's cache", play: cached,
		Moves: []string{
			`mcp_client_cache_lookups_total{mcp_client_name="shop",mcp_client_cache_outcome="hit"}`,
			`mcp_client_cache_lookups_total{mcp_client_name="shop",mcp_client_cache_outcome="miss"}`,
		},
	},
	{
		Name: "tasks", Makes: "calls that become tasks: completed, failed, cancelled", play: tasks,
		Moves: []string{
			`mcp_server_task_active{mcp_server_name="shop",gen_ai_tool_name="brew"}`,
			`mcp_server_task_duration_seconds_count{gen_ai_tool_name="brew",mcp_server_task_status="completed"}`,
			`mcp_server_task_duration_seconds_count{gen_ai_tool_name="spill",mcp_server_task_status="failed"}`,
			`mcp_server_task_duration_seconds_count{gen_ai_tool_name="brew",mcp_server_task_status="cancelled"}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="shop-tasks",mcp_method_name="tasks/get"}`,
		},
	},
	{
		Name: "node", Makes: "calls to a node server with its own OpenTelemetry", play: nodeServer,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="calculator",gen_ai_tool_name="add",error_type=""}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="calculator",gen_ai_tool_name="fail",` +
				`error_type="tool_error"}`,
			`traces_span_metrics_calls_total{service_name="node-calculator",span_name="tools/call add",` +
				`span_kind="SPAN_KIND_SERVER"}`,
		},
	},
	{
		Name: "grafana", Makes: "calls to mcp-grafana, which has its own OpenTelemetry, without a running Grafana",
		play: grafanaServer,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="grafana",gen_ai_tool_name="generate_deeplink",` +
				`error_type=""}`,
			`mcp_client_operation_duration_seconds_count{mcp_client_name="grafana",gen_ai_tool_name="list_datasources",` +
				`error_type="tool_error"}`,
			`traces_span_metrics_calls_total{service_name="mcp-grafana",span_name="tools/call generate_deeplink"}`,
		},
	},
	{
		Name: "everything", Makes: "calls to server-everything, which has no telemetry", play: everythingServer,
		Moves: []string{
			`mcp_client_operation_duration_seconds_count{mcp_client_name="everything",gen_ai_tool_name="echo",error_type=""}`,
			`mcp_client_notification_messages_total{mcp_client_name="everything",mcp_client_direction="received",` +
				`mcp_method_name="notifications/progress"}`,
		},
	},
}
