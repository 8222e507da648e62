package receiver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/dashboard"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// A row describes where the cause of an alert is, like its section in the runbook.
type row struct {
	alert  string
	window time.Duration // how long before the alert its cause may have begun

	// query returns the query for the parts of the number behind the alert, or an empty text. Its result is evidence.
	query func(subject) string

	// metric is the metric with exemplars of the cause; empty for none. The metric of a client stands for the metric of a
	// server as well, if the alert is about one.
	metric string

	// shows returns the patterns of spans that show the cause, the best first. Without a pattern, a trace only shows who is
	// affected. parts are the labels of the results of query, the largest result first.
	shows func(s subject, parts []map[string]string) []pattern

	// traced means that the cause is in the trace. Otherwise the metrics show the cause, and the trace gives an example.
	traced bool

	// cause returns the cause according to the labels and the results of query, or nil if they do not suffice.
	cause func(s subject, parts []map[string]string) *explain.Cause
}

// A pattern describes spans. The span must also belong to the service, and to the client or server, of the alert.
type pattern struct {
	attributes map[string]string // values of attributes; anything matches every value
	failed     bool
	atLeast    time.Duration
}

// anything matches every value of an attribute that is present.
const anything = "*"

// with returns a pattern of attributes, given as keys and values.
func with(attributes ...string) pattern {
	p := pattern{attributes: map[string]string{}}
	for pair := range slices.Chunk(attributes, 2) {
		p.attributes[pair[0]] = pair[1]
	}
	return p
}

// patterns returns the same patterns for each alert.
func patterns(p ...pattern) func(subject, []map[string]string) []pattern {
	return func(subject, []map[string]string) []pattern { return p }
}

var (
	disturbed = with(names.KeyMCPClientFaultKind, anything) // a fault plan disturbed the message
	failed    = pattern{failed: true}
	listed    = with(names.KeyMCPMethodName, "tools/list")
)

// rows has a row for each alert of the dashboards.
var rows = []row{
	{alert: "MCPClientErrorBudgetFast", window: time.Hour, query: failures(false, "1h"), shows: ofErrors, traced: true,
		cause: mostFailures},
	{alert: "MCPClientErrorBudgetSlow", window: 6 * time.Hour, query: failures(false, "6h"), shows: ofErrors, traced: true,
		cause: mostFailures},
	{alert: "MCPServerErrorBudgetFast", window: time.Hour, query: failures(true, "1h"), shows: ofErrors, traced: true,
		cause: mostFailures},
	{alert: "MCPServerErrorBudgetSlow", window: 6 * time.Hour, query: failures(true, "6h"), shows: ofErrors, traced: true,
		cause: mostFailures},
	{alert: "MCPClientSlow", window: time.Hour, traced: true,
		query: func(s subject) string { return dashboard.Slow(s.matchers(), "1h") },
		shows: patterns(pattern{atLeast: slow}),
		cause: func(s subject, parts []map[string]string) *explain.Cause {
			if len(parts) == 0 {
				return nil
			}
			return sure("slow_requests", "Most of the slow answers to "+s.who()+" are those of "+operation(parts[0])+".",
				"find out with a trace whether the server, the network or a queue takes the time")
		}},
	{alert: "MCPToolErrors", window: 30 * time.Minute, traced: true, shows: patterns(
		with(names.KeyErrorType, names.ErrorToolError), with(names.KeyErrorType, "-32602"))},
	{alert: "MCPToolLoop", window: 15 * time.Minute, metric: "mcp_client_tool_loops_total",
		shows: patterns(with(names.KeyMCPClientLoopKind, anything)), cause: byWord(loops, "loop_kind")},
	{alert: "MCPToolListGrew", window: time.Hour, shows: patterns(listed),
		query: func(s subject) string {
			return "max by (mcp_client_name) (mcp_client_tool_list_size_bytes{" + s.matchers() + "})"
		},
		cause: fixed("tool_list_grew", "The server lists more tools, or longer definitions, than on most of the last day.",
			"rank the tools with \"mcpotel cost\", and review the definitions that have grown")},
	{alert: "MCPToolChanged", window: 10 * time.Minute, metric: "mcp_client_tool_changes_total",
		shows: patterns(with(names.KeyErrorType, names.ErrorToolChanged), listed), cause: byWord(changes, "tool_change_kind")},
	{alert: "MCPClientNotReady", window: 15 * time.Minute, traced: true,
		query: func(s subject) string {
			return dashboard.Growth("mcp_client_connection_from, mcp_client_connection_to, mcp_client_connection_reason",
				"mcp_client_connection_transitions_total", s.matchers(), "15m")
		},
		shows: patterns(pattern{attributes: map[string]string{names.KeyMCPClientConnectionAttemptNumber: anything},
			failed: true}, with(names.KeyErrorType, names.ErrorNotReady)),
		cause: fixed("not_ready", "The client has no connection to its server.",
			"find the reasons of the transitions, which are part of the evidence, in the table of the runbook")},
	{alert: "MCPClientReconnectLoop", window: 15 * time.Minute, traced: true,
		query: func(s subject) string {
			return dashboard.Growth("mcp_client_connection_reason", "mcp_client_connection_transitions_total",
				s.matchers()+`,mcp_client_connection_from="ready"`, "15m")
		},
		shows: patterns(with(names.KeyErrorType, names.ErrorConnectionLost), disturbed),
		cause: fixed("reconnect_loop", "The connection breaks again soon after it becomes ready.",
			"find the reason of the breaks, and whether one tool causes them")},
	{alert: "MCPProtocolViolations", window: 5 * time.Minute, metric: "mcp_client_protocol_violations_total",
		shows: patterns(with(names.KeyErrorType, names.ErrorViolation), disturbed),
		cause: violation},
	{alert: "MCPTransportBusy", window: 15 * time.Minute, metric: "mcp_client_transport_send_retries_total",
		shows: patterns(with(names.KeyErrorType, names.ErrorTransportBusy), with(names.KeyMCPClientSendRetries, anything)),
		cause: byWord(retries, "retry_reason")},
	{alert: "MCPServerRefusals", window: 15 * time.Minute, metric: "mcp_server_request_refused_total",
		shows: patterns(with(names.KeyErrorType, names.ErrorOverloaded), with(names.KeyErrorType, names.ErrorRateLimited)),
		cause: byWord(refusals, "refusal_reason")},
	{alert: "MCPServerNearLimit", window: 5 * time.Minute, cause: nearLimit},
	{alert: "MCPStuckInFlight", window: 30 * time.Minute, cause: func(s subject, _ []map[string]string) *explain.Cause {
		if s.server() {
			return likely("stuck", "A handler of the server does not return.",
				"find the place with a goroutine profile; most often the handler ignores its context")
		}
		return likely("stuck", "Calls without a timeout wait for a server that does not answer them.",
			"set a timeout; look for the calls on the debug page")
	}},
	{alert: "MCPNotificationsDropped", window: 15 * time.Minute, cause: byWord(droppedNotices, "drop_reason"),
		metric: "mcp_client_notification_drops_total"},
	{alert: "MCPResponsesDropped", window: 5 * time.Minute, metric: "mcp_client_response_drops_total",
		shows: patterns(disturbed), cause: byWord(droppedAnswers, "drop_reason")},
	{alert: "MCPSendQueueWait", window: 5 * time.Minute, metric: "mcp_client_send_queue_wait_seconds_bucket",
		cause: func(subject, []map[string]string) *explain.Cause {
			return likely("slow_reader", "The peer reads its messages more slowly than this side writes them.",
				"check the processor and the work of the peer, and the size of the messages")
		}},
	{alert: "MCPHandlerPanics", window: 15 * time.Minute, metric: "mcp_client_handler_panics_total",
		shows: patterns(with(names.KeyErrorType, "-32603"), with(names.KeyErrorType, names.ErrorPanic)),
		cause: fixed("handler_panicked", "A handler panicked: this is a bug of the program. The process continues.",
			"read the stack in the record mcp_server.handler.panic or mcp_client.handler.panic")},
	{alert: "MCPCardinalityOverflow", window: time.Hour, cause: func(s subject, _ []map[string]string) *explain.Cause {
		return sure("too_many_series", "The process has more series of "+s.word("metric")+" than its SDK allows. The SDK "+
			"merges the others into one.", "remove the lower limit of the process, or the label with so many values")
	}},
	{alert: "MCPTelemetryAbsent", window: 6 * time.Hour, cause: func(s subject, _ []map[string]string) *explain.Cause {
		return likely("no_telemetry", "The service "+s.word("job")+" has ended, or its telemetry does not arrive.",
			"check whether the service runs, and whether other services of the machine still report")
	}},
	{alert: "MCPTelemetryDropped", window: 15 * time.Minute, cause: func(s subject, _ []map[string]string) *explain.Cause {
		return sure("telemetry_dropped", "A queue of "+s.word("job")+" for telemetry is nearly full, or has dropped data.",
			"check whether the backend of the exporter can be reached and is fast enough")
	}},
}

// slow is the duration of a slow request, as in the alert.
const slow = 5 * time.Second

// known returns the row of an alert, or nil.
func known(alert string) *row {
	if i := slices.IndexFunc(rows, func(r row) bool { return r.alert == alert }); i >= 0 {
		return &rows[i]
	}
	return nil
}

// unknown is the row for alerts that are not of the dashboards.
var unknown = row{window: time.Hour, shows: patterns(failed), traced: true}

func sure(id, text, do string) *explain.Cause {
	return &explain.Cause{ID: id, Sure: explain.Certain, Text: text, Do: do}
}

func likely(id, text, do string) *explain.Cause {
	c := sure(id, text, do)
	c.Sure = explain.Likely
	return c
}

// fixed returns the same cause for each alert.
func fixed(id, text, do string) func(subject, []map[string]string) *explain.Cause {
	return func(subject, []map[string]string) *explain.Cause { return sure(id, text, do) }
}

func failures(server bool, window string) func(subject) string {
	return func(s subject) string { return dashboard.Failures(server, s.matchers(), window) }
}

// operation returns the method and the tool in the labels of a result.
func operation(labels map[string]string) string {
	text := visible.Word(labels["mcp_method_name"], maxName)
	if tool := labels["gen_ai_tool_name"]; tool != "" {
		text += " " + visible.Word(tool, maxName)
	}
	return text
}

// ofErrors returns a pattern for each kind of failure, the most frequent first.
func ofErrors(_ subject, parts []map[string]string) (all []pattern) {
	for _, p := range parts {
		attributes := []string{names.KeyErrorType, p["error_type"]}
		if tool := p["gen_ai_tool_name"]; tool != "" && tool != names.Other {
			attributes = append(attributes, names.KeyGenAIToolName, tool)
		}
		all = append(all, with(attributes...))
	}
	if len(parts) == 0 {
		all = append(all, failed)
	}
	return all
}

// mostFailures returns the most frequent failure.
func mostFailures(s subject, parts []map[string]string) *explain.Cause {
	if len(parts) == 0 {
		return nil
	}
	return sure("failures", "Most of the failures of "+s.who()+" are those of "+operation(parts[0])+" with the error "+
		"type "+visible.Word(parts[0]["error_type"], maxName)+".", "look up the error type in the table of the runbook")
}

// nearLimit names the limit.
func nearLimit(s subject, _ []map[string]string) *explain.Cause {
	kind := cmp.Or(s.labels["mcp_server_capacity_kind"], s.labels["mcp_server_memory_kind"])
	return sure("near_limit", "The server uses nearly all of its limit "+visible.Word(kind, maxName)+".",
		"one client alone: look at its requests, and whether handlers return. Many clients: add processes or raise the limit")
}

// A meaning explains one value of a label.
type meaning struct{ text, do string }

// byWord returns the cause for the value of a label. The label begins with mcp_client_ or mcp_server_, and ends with
// suffix. An unknown value has a cause without an explanation.
func byWord(words map[string]meaning, suffix string) func(subject, []map[string]string) *explain.Cause {
	return func(s subject, _ []map[string]string) *explain.Cause {
		value := cmp.Or(s.labels["mcp_client_"+suffix], s.labels["mcp_server_"+suffix])
		m, ok := words[value]
		if !ok {
			m = meaning{fmt.Sprintf("The %s is %s.", strings.ReplaceAll(suffix, "_", " "), visible.Word(value, maxName)),
				"look up the word in the runbook"}
			value = "other"
		}
		return sure(strings.TrimSuffix(strings.TrimSuffix(suffix, "_reason"), "_kind")+"_"+value, m.text, m.do)
	}
}

var loops = map[string]meaning{
	names.LoopSameCall: {"A model repeats one call with the same result.",
		"stop the conversation; LoopOptions.Break makes the client refuse further calls"},
	names.LoopSameResult: {"A model calls a tool with varying arguments, and the tool always has the same result.",
		"stop the conversation, and check whether the description of the tool misleads the model"},
	names.LoopCycle: {"A model repeats a few calls in the same order, with the same results.",
		"stop the conversation; LoopOptions.Break makes the client refuse further calls"},
}

const review = "read the changes in the records mcp_client.tool.changed. Without a new version of the server, " +
	"remove it from models until its operator has explained the change"

var changes = map[string]meaning{
	names.ChangeAdded:   {"The server has added tools.", review},
	names.ChangeRemoved: {"The server has removed tools.", review},
	names.ChangeChanged: {"The server has changed the definitions of tools.", review},
}

// violation explains the reason of a violation.
func violation(s subject, _ []map[string]string) *explain.Cause {
	reason := cmp.Or(s.labels["mcp_client_violation_reason"], s.labels["mcp_server_violation_reason"])
	text, do := "A message arrived that breaks the protocol", "report the defect to the author of the peer; on a public "+
		"server it may be an attack"
	if about := explain.Violation(reason); about != "" {
		text += ": it " + about
	} else {
		reason = "other"
	}
	switch reason {
	case "invalid_json", "invalid_envelope":
		do = "find the code of the server that prints to its standard output, or the other program that writes into the pipe"
	case "frame_too_large":
		do = "raise the limit, or let the tool answer with a link"
	case "batch", "invalid_version":
		do = "update the peer"
	}
	return sure("violation_"+reason, text+".", do)
}

var retries = map[string]meaning{
	names.RetryBusy: {"The server does not read its input fast enough, so the client has no room to send.",
		"find the current work of the server"},
	names.RetryServerBusy: {"The server, or a proxy before it, answers 429 or 503.",
		"send fewer requests at once, or add processes"},
}

var refusals = map[string]meaning{
	names.RefusalOverloaded: {"A limit of the server is reached.", "see the usage of limits, and MCPServerNearLimit"},
	names.RefusalRateLimited: {"A client exceeds its rate limit.",
		"find the client in the records mcp_server.request.refused"},
	names.RefusalOrigin: {"Web pages of an origin that is not allowed send requests.",
		"add the origin to HTTPOptions.AllowedOrigins, if it is yours"},
	names.RefusalHost: {"Requests name a host that is not allowed.",
		"add the name to HTTPOptions.AllowedHosts, if it is yours"},
	names.RefusalTooLarge: {"Requests are larger than the limit.",
		"raise Options.Limits.Frame, or let clients pass links"},
	names.RefusalBody: {"Bodies of requests arrive too slowly, or incomplete.", "check the network and the client"},
	names.RefusalMediaType: {"A client sends, or accepts, other media types than MCP has.",
		"find the client; it may be a scanner"},
	names.RefusalInvalid: {"A client sends requests that break the protocol.", "find the client; it may be a scanner"},
	names.RefusalStore:   {"The store of sessions fails.", "check the store"},
}

var droppedNotices = map[string]meaning{
	names.DropQueueFull: {"Notifications arrive faster than their handler, or their receiver, works.",
		"do the work of the handler in a separate goroutine, or request fewer notifications"},
	names.DropNotReady: {"The server sends notifications before the connection is negotiated, which is forbidden.",
		"report the defect to the author of the server"},
	names.DropUnsubscribed: {"The server reports changes without a subscription of the client.",
		"report the defect to the author of the server"},
	names.DropRateLimited: {"The server sends more notifications of one kind than the rate allows.",
		"send fewer notifications, or raise the rate"},
}

var droppedAnswers = map[string]meaning{
	names.DropUnknownID: {"Answers arrive for requests that were never sent.",
		"check whether two processes write into one pipe; otherwise report the defect of the peer"},
	names.DropDuplicate:  {"Requests are answered twice.", "report the defect of the peer"},
	names.DropUnexpected: {"Answers arrive at a time without requests.", "report the defect of the peer"},
}
