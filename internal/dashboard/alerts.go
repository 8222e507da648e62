package dashboard

import (
	"fmt"
	"strings"
)

// Alert is an alerting rule. Its name is also its section in the runbook.
type Alert struct {
	Name     string
	Expr     string
	For      string
	Severity Severity
	Summary  string // short text of one alert, with its labels
	Text     string // meaning of the alert, for an operator who sees nothing else
}

// Severity is the urgency of an alert.
type Severity string

// Severities. Only alerts about effects on users are critical: causes are warnings.
const (
	Critical Severity = "critical" // act now
	Warning  Severity = "warning"  // act today
	Info     Severity = "info"     // look when there is time
)

// runbook is the address of the runbook.
const runbook = "https://github.com/mcpotel/mcpotel/blob/main/docs/runbook.md"

// OfPipeline reports whether the alert concerns the transport of telemetry to its backends, not MCP. A game day does
// not raise such alerts.
func (a Alert) OfPipeline() bool { return a.Name == "MCPTelemetryDropped" }

// RunbookURL returns the address of the alert's section in the runbook.
func (a Alert) RunbookURL() string {
	return runbook + "#" + strings.ToLower(a.Name)
}

// Alerts returns the alerts.
func Alerts() []Alert {
	all := alerts()
	for i := range all {
		all[i].Summary += `{{ with $labels.deployment_environment_name }} ({{ . }}){{ end }}`
	}
	return all
}

func alerts() []Alert {
	return []Alert{
		burn("MCPClientErrorBudgetFast", "job_client:mcp_client", 14.4, "1h", "5m", 5, Critical,
			`{{ $labels.mcp_client_name }} of {{ $labels.job }}: {{ $value | humanizePercentage }} of the requests fail`,
			"At this rate, the failure budget of a month is used up in two days."),
		burn("MCPClientErrorBudgetSlow", "job_client:mcp_client", 6, "6h", "30m", 10, Warning,
			`{{ $labels.mcp_client_name }} of {{ $labels.job }}: {{ $value | humanizePercentage }} of the requests have `+
				`failed for hours`,
			"At this rate, the failure budget of a month is used up in five days."),
		burn("MCPServerErrorBudgetFast", "job_server:mcp_server", 14.4, "1h", "5m", 5, Critical,
			`Server {{ $labels.mcp_server_name }} of {{ $labels.job }} fails {{ $value | humanizePercentage }} of its requests`,
			"At this rate, the failure budget of a month is used up in two days."),
		burn("MCPServerErrorBudgetSlow", "job_server:mcp_server", 6, "6h", "30m", 10, Warning,
			`Server {{ $labels.mcp_server_name }} of {{ $labels.job }} has failed {{ $value | humanizePercentage }} of its `+
				`requests for hours`,
			"At this rate, the failure budget of a month is used up in five days."),
		{"MCPClientSlow",
			lines(`%[1]s1h > 6 * scalar(%[2]s)`, `and %[1]s5m > 6 * scalar(%[2]s)`,
				`and job_client:mcp_client_requests:increase1h >= 20`)(slowClient, slowBudget),
			"", Warning,
			`{{ $labels.mcp_client_name }} of {{ $labels.job }}: {{ $value | humanizePercentage }} of the answers take ` +
				`longer than 5 s`,
			"Requests are answered, but too late to be useful."},
		{"MCPToolErrors", toolErrors, "5m", Info,
			`{{ $labels.gen_ai_tool_name }} of {{ $labels.mcp_client_name }} reports an error in {{ $value | ` +
				`humanizePercentage }} of its results`,
			"The tool itself reports an error, or the server rejects the arguments or the name (-32602). Protocol and " +
				"connection work: a model made a mistake, or the tool's description misled it."},
		{"MCPToolLoop",
			sumBy(service+", mcp_client_name, gen_ai_tool_name, mcp_client_loop_kind",
				growth(series{name: "mcp_client_tool_loops_total"}, "15m")) + " > 10", "", Warning,
			`{{ $labels.gen_ai_tool_name }} of {{ $labels.mcp_client_name }} is called in a loop by {{ $labels.job }}: {{ ` +
				`$labels.mcp_client_loop_kind }} ({{ $value | humanize }} calls in 15 minutes)`,
			"An agent keeps calling a tool that returns nothing new. Each call costs the agent a turn of its model."},
		{"MCPToolListGrew", toolListGrew, "15m", Info,
			`The tools of {{ $labels.mcp_client_name }} of {{ $labels.job }} have grown by {{ $value | humanizePercentage }}`,
			"The definitions of all tools of this server are part of the model's context on every turn. They are more than a " +
				"quarter larger than for most of the last day."},
		{"MCPToolChanged", positive(
			sumBy(service+", mcp_client_name, mcp_client_tool_change_kind",
				growth(series{name: "mcp_client_tool_changes_total"}, "10m"))), "", Warning,
			`{{ $value | humanize }} tools of {{ $labels.mcp_client_name }} of {{ $labels.job }} were ` +
				`{{ $labels.mcp_client_tool_change_kind }}`,
			"The server's tool definitions differ from the previous list or from the baseline. A model follows the text of " +
				"these definitions, so check the change."},
		{"MCPClientNotReady", positive(
			sumBy(service+", instance, mcp_client_name, mcp_client_group",
				series{name: "mcp_client_connection_state", labels: notReady}.String())),
			"90s", Warning,
			`{{ $labels.mcp_client_name }}{{ with $labels.mcp_client_group }} in {{ . }}{{ end }} of {{ $labels.job }} has ` +
				`not been ready for more than a minute`,
			"Calls wait for the connection until they time out, or fail with not_ready."},
		{"MCPClientReconnectLoop",
			sumBy(service+", instance, mcp_client_name",
				growth(series{name: "mcp_client_connection_transitions_total", labels: `mcp_client_connection_to="ready"`},
					"15m")) + " > 5", "", Warning,
			`{{ $labels.mcp_client_name }} of {{ $labels.job }} became ready {{ $value | humanize }} times in 15 minutes`,
			"The connection breaks soon after it becomes ready. Each time, the calls in flight are lost."},
		{"MCPProtocolViolations", either(
			positive(sumBy(service+", mcp_client_name, mcp_client_violation_reason, mcp_client_direction",
				growth(series{name: "mcp_client_protocol_violations_total"}, "5m"))),
			positive(sumBy(service+", mcp_server_name, mcp_server_violation_reason, mcp_server_direction",
				growth(series{name: "mcp_server_protocol_violations_total"}, "5m")))), "", Warning,
			`{{ $labels.job }}: frames that break the protocol: {{ $labels.mcp_client_violation_reason }}{{ ` +
				`$labels.mcp_server_violation_reason }} ({{ $value | humanize }} in 5 minutes)`,
			"The peer of {{ $labels.mcp_client_name }}{{ $labels.mcp_server_name }} violates the protocol, or another program " +
				"writes into the pipe."},
		{"MCPTransportBusy",
			sumBy(service+", mcp_client_name, mcp_client_retry_reason",
				growth(series{name: "mcp_client_transport_send_retries_total",
					labels: `mcp_client_retry_reason=~"busy|server_busy"`}, "5m")) + " > 30", "10m", Warning,
			`{{ $labels.mcp_client_name }} of {{ $labels.job }} keeps retrying: {{ $labels.mcp_client_retry_reason }}`,
			"busy: the transport is full. server_busy: the server answers 429 or 503."},
		{"MCPServerRefusals",
			sumBy(service+", mcp_server_name, mcp_server_refusal_reason",
				growth(series{name: "mcp_server_request_refused_total",
					labels: `mcp_server_refusal_reason!~"method|header|version|session|unauthorized|shutdown"`}, "5m")) + " > 10",
			"10m", Warning,
			`{{ $labels.mcp_server_name }} of {{ $labels.job }} refuses requests: {{ $labels.mcp_server_refusal_reason }}`,
			"No handler sees these requests. Failure rates include only the requests that reached the MCP layer."},
		{"MCPServerNearLimit", either(
			fullest(service+", instance, mcp_server_name, mcp_server_capacity_kind", anyServer, "mcp_server_capacity_usage",
				"mcp_server_capacity_limit")+" > 0.8",
			fullest(service+", instance, mcp_server_name, mcp_server_memory_kind", anyServer, "mcp_server_memory_usage_bytes",
				"mcp_server_memory_limit_bytes")+" > 0.8"), "5m", Warning,
			`{{ $labels.mcp_server_name }} of {{ $labels.job }} uses {{ $value | humanizePercentage }} of a limit: {{ ` +
				`$labels.mcp_server_capacity_kind }}{{ $labels.mcp_server_memory_kind }}`,
			"At the limit, the server refuses requests as overloaded."},
		{"MCPStuckInFlight", either(
			stuck(service+", instance, mcp_client_name, mcp_method_name", series{name: "mcp_client_active_requests"},
				clientRequests),
			stuck(service+", instance, mcp_server_name, mcp_method_name", series{name: "mcp_server_active_requests"},
				serverRequests)), "10m", Warning,
			`{{ $labels.job }}: {{ $value }} {{ $labels.mcp_method_name }} in flight, ` +
				`and none has ended for 10 minutes`,
			"Requests of {{ $labels.mcp_client_name }}{{ $labels.mcp_server_name }} are stuck."},
		{"MCPNotificationsDropped", either(
			positive(sumBy(service+", mcp_client_name, mcp_method_name, mcp_client_drop_reason",
				growth(series{name: "mcp_client_notification_drops_total", labels: `mcp_client_drop_reason!="coalesced"`},
					"5m"))),
			positive(sumBy(service+", mcp_server_name, mcp_method_name, mcp_server_drop_reason",
				growth(series{name: "mcp_server_notification_drops_total", labels: `mcp_server_drop_reason="queue_full"`},
					"5m")))), "10m", Warning,
			`{{ $labels.mcp_client_name }}{{ $labels.mcp_server_name }} of {{ $labels.job }} drops {{ ` +
				`$labels.mcp_method_name }}: {{ $labels.mcp_client_drop_reason }}{{ $labels.mcp_server_drop_reason }}`,
			"Notifications do not reach their handlers, or are not sent because the peer does not read."},
		{"MCPResponsesDropped", either(
			positive(sumBy(service+", mcp_client_name, mcp_client_drop_reason",
				growth(series{name: "mcp_client_response_drops_total", labels: `mcp_client_drop_reason=~"unknown_id|duplicate"`},
					"5m"))),
			positive(sumBy(service+", mcp_server_name, mcp_server_drop_reason",
				growth(series{name: "mcp_server_response_drops_total",
					labels: `mcp_server_drop_reason=~"unknown_id|duplicate|unexpected"`}, "5m")))), "", Warning,
			`{{ $labels.job }}: answers without a request: {{ $labels.mcp_client_drop_reason }}{{ ` +
				`$labels.mcp_server_drop_reason }} ({{ $value | humanize }} in 5 minutes)`,
			"The peer of {{ $labels.mcp_client_name }}{{ $labels.mcp_server_name }} sends answers to unknown requests, or " +
				"repeats answers. Late answers after a timeout do not count."},
		{"MCPSendQueueWait", either(
			above(quantile(.99, service+", mcp_client_name", series{name: "mcp_client_send_queue_wait_seconds"}, "5m"), 0.5),
			above(quantile(.99, service+", mcp_server_name", series{name: "mcp_server_send_queue_wait_seconds"}, "5m"), 0.5)),
			"5m", Warning,
			`{{ $labels.job }}: messages of {{ $labels.mcp_client_name }}{{ $labels.mcp_server_name }} wait {{ $value | ` +
				`humanizeDuration }} to be written`,
			"The peer reads more slowly than this side writes."},
		{"MCPHandlerPanics", either(
			positive(sumBy(service+", mcp_client_name, mcp_method_name",
				growth(series{name: "mcp_client_handler_panics_total"}, "15m"))),
			positive(sumBy(service+", mcp_server_name, mcp_method_name",
				growth(series{name: "mcp_server_handler_panics_total"}, "15m")))), "", Warning,
			`A handler of {{ $labels.mcp_method_name }} panicked in {{ $labels.job }}`,
			"A bug in a handler of {{ $labels.mcp_client_name }}{{ $labels.mcp_server_name }}. The process continues; the " +
				"request failed."},
		{"MCPCardinalityOverflow",
			`count by (` + service +
				`, metric) (label_replace({__name__=~"mcp_(client|server)_.+",otel_metric_overflow="true"}, ` +
				`"metric", "$1", "__name__", "(.+?)(?:_bucket|_sum|_count)?"))`, "", Warning,
			`{{ $labels.metric }} of {{ $labels.job }} has more series than its SDK allows`,
			"Later series are merged into one series with otel_metric_overflow, and cannot be distinguished."},
		{"MCPTelemetryAbsent", lines(`last_over_time(%[2]s[6h]) > %[3]d`, `unless %[1]s`)(present, uptime, lasting), "5m",
			Warning,
			`{{ $labels.job }} no longer sends telemetry`,
			"The service has ended, or its telemetry does not arrive. Other problems of the service are invisible."},
		{"MCPTelemetryDropped", telemetryDropped, "5m", Warning,
			`{{ $labels.job }} {{ $labels.instance }} drops telemetry, or will soon{{ with $labels.exporter }}: {{ . }}{{ ` +
				`end }}`,
			"The queue of a Collector's exporter is more than 80 % full, or a queue in a Collector or a service has rejected " +
				"data. Dashboards and traces may be incomplete."},
	}
}

// anyServer returns the series of the metric called name, for all servers.
func anyServer(name string) series { return series{name: name} }

// telemetryDropped finds losses in the pipeline: in Collectors, and in the SDKs of services.
var telemetryDropped = func() string {
	var all []string
	for _, q := range fullQueues {
		all = append(all, positive(sumBy(q.labels, "increase("+q.selector()+"[5m])")))
	}
	return strings.Join(append(all,
		"max by (job, instance, exporter) (otelcol_exporter_queue_size / otelcol_exporter_queue_capacity) > 0.8"), "\nor\n")
}()

// lasting is the minimum uptime of a service, in seconds, for its end to raise an alert. Jobs and command runs end
// sooner.
const lasting = 10 * 60

// above compares both forms of a value with a limit.
func above(expr string, limit float64) string {
	return fmt.Sprintf("(\n%s\n) > %v", indent(expr), limit)
}

// lines joins the lines of a format string.
func lines(format ...string) func(args ...any) string {
	return func(args ...any) string { return fmt.Sprintf(strings.Join(format, "\n"), args...) }
}

// burn returns an alert for an error budget that burns too fast, both in a long window and in a short window. The long
// window must also have a minimum number of failures, least, so that a few failures of a client with few requests do
// not raise the alert.
func burn(name, prefix string, factor float64, long, short string, least int, s Severity, summary, text string) Alert {
	expr := lines(
		`%[1]s_failures:ratio%[2]s > %[4]v * scalar(%[5]s)`,
		`and %[1]s_failures:ratio%[3]s > %[4]v * scalar(%[5]s)`,
		`and %[1]s_failures:increase%[2]s >= %[6]d`)(prefix, long, short, factor, failureBudget, least)
	return Alert{name, expr, "", s, summary, text}
}

// toolErrors is the share of a tool's results that report an error, for tools with at least 10 calls.
var toolErrors = func() string {
	calls := series{name: "mcp_client_operation_duration_seconds", labels: `mcp_client_name!="",` + isToolCall}.count()
	by := service + ", mcp_client_name, gen_ai_tool_name"
	return lines("%s / %[2]s > 0.5", "and %[2]s >= 10")(
		sumBy(by, growth(calls.with(`error_type=~"tool_error|-32602"`), "30m")), sumBy(by, growth(calls, "30m")))
}()

// toolListGrew is the growth of a server's list of tools compared with the median of the last day, for lists over 4 KiB
// that grew by more than a quarter.
var toolListGrew = lines("%[1]s / quantile_over_time(0.5, %[1]s[1d]) - 1 > 0.25", "and %[1]s > 4096")(toolListSize)

// stuck returns the requests in flight by labels, if no request with the same labels ended in ten minutes. It excludes
// methods that take that long by design.
func stuck(labels string, active, done series) string {
	meant := `mcp_method_name!~"tasks/result|subscriptions/listen"`
	return lines("%s > 0", "unless %s > 0")(sumBy(labels, active.with(meant).String()),
		sumBy(labels, growth(done.count(), "10m")))
}
