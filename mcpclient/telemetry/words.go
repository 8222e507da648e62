package telemetry

import (
	"slices"
	"strconv"
)

// other stands for every value that a closed or limited set does not hold, as the semantic conventions have it.
const other = "_OTHER"

// TargetKind says what a request is aimed at, and so which attribute names the target.
type TargetKind uint8

const (
	NoTarget TargetKind = iota
	Tool                // gen_ai.tool.name
	Prompt              // gen_ai.prompt.name
)

// Direction says which way a message goes, seen from this process.
type Direction uint8

const (
	Sent Direction = iota
	Received
)

var directions = []string{"sent", "received"}

// String returns the word that telemetry has for d.
func (d Direction) String() string { return directions[d] }

// MessageKind is the kind of a JSON-RPC message.
type MessageKind uint8

const (
	KindRequest MessageKind = iota
	KindResponse
	KindError
	KindNotification
)

var messageKinds = []string{"request", "response", "error", "notification"}

// String returns the word that telemetry has for k.
func (k MessageKind) String() string { return messageKinds[k] }

// Values of error.type that this module gives itself. A JSON-RPC error has its code there instead, and any other error
// what its ErrorType method says or else its Go type.
const (
	ErrorToolError      = "tool_error"         // the tool reports an error in its result
	ErrorTimeout        = "timeout"            // no answer in time
	ErrorCancelled      = "cancelled"          // whoever waited for the answer left
	ErrorConnectionLost = "connection_lost"    // the connection ended before the answer
	ErrorTransportBusy  = "transport_busy"     // every try to send found no room
	ErrorViolation      = "protocol_violation" // the answer breaks the protocol
	ErrorNotReady       = "not_ready"          // there was no connection to send on
	ErrorShutdown       = "shutdown"           // this end was stopped
	ErrorPanic          = "panic"              // the handler of a notification panicked
)

// Kinds of errors, by which the errors of a client are sorted.
const (
	kindTransport = "transport"
	kindProtocol  = "protocol"
	kindJSONRPC   = "jsonrpc"
	kindState     = "state"
	kindTimeout   = "timeout"
	kindCancelled = "cancelled"
	kindShutdown  = "shutdown"
	kindInvalid   = "invalid"
	kindTool      = "tool"
	kindHandler   = "handler"
)

var errorKinds = []string{
	kindTransport, kindProtocol, kindJSONRPC, kindState, kindTimeout, kindCancelled, kindShutdown, kindInvalid, kindTool,
	kindHandler,
}

// errorWord is one of our own words and the kind of error it is.
type errorWord struct{ word, kind string }

// errorWords has each under itself, so that a look-up returns a string that is no part of a frame.
var errorWords = map[string]errorWord{
	ErrorToolError:      {ErrorToolError, kindTool},
	ErrorTimeout:        {ErrorTimeout, kindTimeout},
	ErrorCancelled:      {ErrorCancelled, kindCancelled},
	ErrorConnectionLost: {ErrorConnectionLost, kindTransport},
	ErrorTransportBusy:  {ErrorTransportBusy, kindTransport},
	ErrorViolation:      {ErrorViolation, kindProtocol},
	ErrorNotReady:       {ErrorNotReady, kindState},
	ErrorShutdown:       {ErrorShutdown, kindShutdown},
	ErrorPanic:          {ErrorPanic, kindHandler},
}

// httpStatuses are the statuses that stand for an answer which HTTP alone gave, as error types: those that are registered
// and mean that a request was not served. They are told apart on metrics without counting towards a limit.
var httpStatuses = func() map[string]bool {
	m := make(map[string]bool)
	for _, span := range [][2]int{{300, 308}, {400, 418}, {421, 426}, {428, 429}, {431, 431}, {451, 451}, {500, 508}, {510, 511}} {
		for code := span[0]; code <= span[1]; code++ {
			m[strconv.Itoa(code)] = true
		}
	}
	return m
}()

// Values of mcp_client.drop.reason and mcp_server.drop.reason: why a response or a notification went to nobody.
const (
	DropLateTimeout   = "late_timeout"   // response: the call had timed out
	DropLateCancelled = "late_cancelled" // response: the caller had left
	DropLateLost      = "late_lost"      // response: the call was failed with its connection
	DropDuplicate     = "duplicate"      // response: the call was answered before
	DropUnknownID     = "unknown_id"     // response: no call ever had this id
	DropUnexpected    = "unexpected"     // response: it came when none could
	DropNotReady      = "not_ready"      // both: the connection was not negotiated yet
	DropQueueFull     = "queue_full"     // notification: its handlers were too slow
	DropCoalesced     = "coalesced"      // notification: one like it was waiting already
	DropUnsubscribed  = "unsubscribed"   // notification: it belongs to no subscription that is open
	DropNoStream      = "no_stream"      // notification: the client has opened no stream to send it on
	DropRateLimited   = "rate_limited"   // notification: the client was sent many of its kind
)

var dropReasons = []string{
	DropLateTimeout, DropLateCancelled, DropLateLost, DropDuplicate, DropUnknownID, DropUnexpected, DropNotReady,
	DropQueueFull, DropCoalesced, DropUnsubscribed, DropNoStream, DropRateLimited,
}

// Values of mcp_client.retry.reason: why a message had to be sent again.
const (
	RetryBusy           = "busy"            // the transport had no room
	RetryServerBusy     = "server_busy"     // the server had none: HTTP 429 or 503
	RetryHeaderMismatch = "header_mismatch" // the server missed headers, or found other values in the body
)

var retryReasons = []string{RetryBusy, RetryServerBusy, RetryHeaderMismatch}

// resultInputRequired is the type of a result that asks the client for something. (specification 2026-07-28,
// basic/patterns/mrtr)
const resultInputRequired = "input_required"

// resultTask is the type of a result that is a task, which goes on. (tasks extension)
const resultTask = "task"

// violationReasons are the rules of the protocol that a frame can break, in the words of the package that checks them.
var violationReasons = []string{
	"invalid_json", "too_deep", "batch", "invalid_envelope", "invalid_version", "duplicate_member", "mixed_members",
	"invalid_id", "null_id", "missing_id", "invalid_method", "invalid_params", "invalid_result", "invalid_error",
	"frame_too_large", "unexpected_request", "foreign_answer", "no_answer",
}

// serverViolations are those that a client can break: the last ones are about the answers to requests over HTTP and about
// who may ask whom.
var serverViolations = violationReasons[:slices.Index(violationReasons, "unexpected_request")]

var attemptKinds = []string{"initial", "reconnect"}

// Notifications that are treated in a way of their own.
const (
	methodProgress  = "notifications/progress"
	methodMessage   = "notifications/message"
	methodCancelled = "notifications/cancelled"
)

// A tool call is what the GenAI conventions call an execution of a tool.
const (
	methodCallTool       = "tools/call"
	operationExecuteTool = "execute_tool"
)

// methods are the methods of every revision of the protocol and of its extensions. They are told apart on metrics without counting towards a
// limit.
var methods = []string{
	"completion/complete", "elicitation/create", "initialize", "logging/setLevel", methodCancelled,
	"notifications/elicitation/complete", "notifications/initialized", methodMessage, methodProgress,
	"notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/resources/updated",
	"notifications/roots/list_changed", "notifications/subscriptions/acknowledged", "notifications/tasks",
	"notifications/tasks/status", "notifications/tools/list_changed", "ping", "prompts/get", "prompts/list", "resources/directory/read",
	"resources/list", "resources/read",
	"resources/subscribe", "resources/templates/list", "resources/unsubscribe", "roots/list", "sampling/createMessage",
	"server/discover", "skills/get", "skills/list", "subscriptions/listen", "tasks/cancel", "tasks/get", "tasks/list", "tasks/result", "tasks/update",
	methodCallTool, "tools/list",
}

// knownMethods has each of them under itself, so that a look-up returns a string that is no part of a frame.
var knownMethods = func() map[string]string {
	m := make(map[string]string, len(methods))
	for _, name := range methods {
		m[name] = name
	}
	return m
}()

// oneOf returns word if the set holds it and _OTHER if not.
func oneOf(words []string, word string) string {
	if i := slices.Index(words, word); i >= 0 {
		return words[i]
	}
	return other
}
