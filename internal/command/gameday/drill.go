package gameday

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// A Drill is one way to raise an alert.
type Drill struct {
	// Alert is the name of the alert in the alerting system.
	Alert string

	// Does describes the failure, for people.
	Does string

	// Takes is the approximate time until the alert has fired and resolved. It applies to the rules of the dashboards, if
	// metrics are exported and scraped every 15 s or more often. 0 means unknown rules.
	Takes time.Duration

	// Trace has the attributes of a span that shows the cause, besides the name of the client or server.
	Trace map[string]string

	// Cause is the name of a cause that the explanation of the alert must have.
	Cause string

	service string        // service name of its telemetry; empty for [Service]
	warm    time.Duration // time without failures at the start
	server  bool          // the alert is about the server, so spans have the server's name instead of the client's
	unnamed bool          // the alert is about a service, and has the name of neither client nor server
	every   time.Duration // time between rounds; 0 means a second
	open    func(ctx context.Context, s *stage) (round, error)
}

// A round is a function that a drill calls repeatedly. It causes failures while broken is true, and otherwise lets the
// alert resolve. An error means that a call failed or succeeded unexpectedly.
type round func(ctx context.Context, broken bool) error

// Service names in the telemetry of game days. Two alerts are about a whole service, so each of the two has its own
// service.
const (
	Service   = "mcpotel-gameday"
	Absent    = "mcpotel-gameday-absent"
	Overflows = "mcpotel-gameday-overflow"
)

const (
	errorType = string(names.KeyErrorType)
	faultKind = string(names.KeyMCPClientFaultKind)
)

// Drills returns a drill for each alert of the dashboards, in the order of the alerts.
func Drills() []Drill {
	internal := map[string]string{errorType: "-32603"}
	return []Drill{
		{Alert: "MCPClientErrorBudgetFast", Does: "answers to calls become errors", Takes: 3 * time.Minute,
			Cause: "injected_error", Trace: internal, open: failing(false)},
		{Alert: "MCPClientErrorBudgetSlow", Does: "answers to calls become errors", Takes: 4 * time.Minute,
			Cause: "injected_error", Trace: internal, open: failing(false)},
		{Alert: "MCPServerErrorBudgetFast", Does: "a tool has an internal error", Takes: 3 * time.Minute,
			Cause: "server_failed", Trace: internal, server: true, open: failing(true)},
		{Alert: "MCPServerErrorBudgetSlow", Does: "a tool has an internal error", Takes: 4 * time.Minute,
			Cause: "server_failed", Trace: internal, server: true, open: failing(true)},
		{Alert: "MCPClientSlow", Does: "answers to calls arrive 6 s late", Takes: 3 * time.Minute,
			Cause: "injected_latency", Trace: map[string]string{faultKind: string(chaos.Latency)}, open: late},
		{Alert: "MCPToolErrors", Does: "the results of a tool are errors", Takes: 8 * time.Minute,
			Cause: "tool_error", Trace: map[string]string{errorType: names.ErrorToolError},
			every: 2 * time.Second, open: moody},
		{Alert: "MCPToolLoop", Does: "an agent repeats one call", Takes: 17 * time.Minute,
			Cause: "loop_same_call", open: looping},
		{Alert: "MCPToolListGrew", Does: "the description of a tool grows", Takes: 21 * time.Minute,
			Cause: "tool_list_grew", Trace: map[string]string{"mcp.method.name": "tools/list"},
			every: 15 * time.Second, open: growing},
		{Alert: "MCPToolChanged", Does: "the description of a tool changes", Takes: 11 * time.Minute,
			Cause: "tool_change_changed", Trace: map[string]string{"mcp.method.name": "tools/list"},
			every: 5 * time.Second, open: changing},
		{Alert: "MCPClientNotReady", Does: "the server cannot be reached", Takes: 3 * time.Minute,
			Cause: "not_ready", Trace: map[string]string{errorType: names.ErrorNotReady},
			every: 5 * time.Second, open: unreachable},
		{Alert: "MCPClientReconnectLoop", Does: "the connection breaks repeatedly", Takes: 17 * time.Minute,
			Cause: "connection_closed", Trace: map[string]string{errorType: names.ErrorConnectionLost}, open: breaking},
		{Alert: "MCPProtocolViolations", Does: "garbage precedes the answers", Takes: 6 * time.Minute,
			Cause: "injected_garbage", Trace: map[string]string{faultKind: string(chaos.Garbage)},
			open: faulty(chaos.Garbage)},
		{Alert: "MCPTransportBusy", Does: "the server rejects calls with HTTP 429", Takes: 17 * time.Minute,
			Cause: "retry_server_busy", Trace: map[string]string{faultKind: string(chaos.Busy)},
			every: 5 * time.Second, open: busy},
		{Alert: "MCPServerRefusals", Does: "the server has more calls than it accepts", Takes: 17 * time.Minute,
			Cause: "refusal_overloaded", Trace: map[string]string{errorType: names.ErrorOverloaded},
			server: true, every: 2 * time.Second, open: full(true)},
		{Alert: "MCPServerNearLimit", Does: "the server has as many calls as it accepts", Takes: 8 * time.Minute,
			Cause: "near_limit", server: true, open: full(false)},
		{Alert: "MCPStuckInFlight", Does: "a call is not answered", Takes: 12 * time.Minute,
			Cause: "stuck", Trace: map[string]string{errorType: names.ErrorCancelled}, open: stuck},
		{Alert: "MCPNotificationsDropped", Does: "a handler of notifications does not return", Takes: 17 * time.Minute,
			Cause: "drop_queue_full", Trace: map[string]string{"gen_ai.tool.name": chatty},
			every: 5 * time.Second, open: unheard},
		{Alert: "MCPResponsesDropped", Does: "answers arrive twice", Takes: 6 * time.Minute,
			Cause: "drop_duplicate", Trace: map[string]string{faultKind: string(chaos.Duplicate)},
			open: faulty(chaos.Duplicate)},
		{Alert: "MCPSendQueueWait", Does: "the server reads one message per second", Takes: 12 * time.Minute,
			Cause: "slow_reader", open: unread},
		{Alert: "MCPHandlerPanics", Does: "the handler of a tool panics", Takes: 17 * time.Minute,
			Cause: "handler_panicked", Trace: internal, server: true, every: 5 * time.Second, open: panicking},
		{Alert: "MCPCardinalityOverflow", Does: "a process has more series than its SDK allows", Takes: 7 * time.Minute,
			Cause: "too_many_series", service: Overflows, unnamed: true, open: overflowing},
		{Alert: "MCPTelemetryAbsent", Does: "a process ends, and starts again", Takes: 24 * time.Minute,
			Cause: "no_telemetry", service: Absent, unnamed: true, warm: 11 * time.Minute, open: absent},
	}
}
