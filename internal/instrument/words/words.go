// Package words holds the closed sets of the schema: values of attributes, methods and codes of the protocol, and
// limits for values that a peer chooses. The rows of package schema list these values, and package instrument emits no
// other values.
package words

import (
	"slices"
	"strconv"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Directions lists the directions of a message, in the order of telemetry.Direction.
var Directions = []string{Sent, Received}

// The names of the directions.
const (
	Sent     = "sent"
	Received = "received"
)

// MessageKinds lists the kinds of JSON-RPC messages, in the order of instrument.MessageKind.
var MessageKinds = []string{Request, Response, "error", "notification"}

// The kinds that occur in rows of the schema.
const (
	Request  = "request"
	Response = "response"
)

// Kinds of errors, in a client's classification.
const (
	KindTransport = "transport"
	kindProtocol  = "protocol"
	KindJSONRPC   = "jsonrpc"
	kindState     = "state"
	kindTimeout   = "timeout"
	kindCancelled = "cancelled"
	kindShutdown  = "shutdown"
	kindInvalid   = "invalid"
	kindTool      = "tool"
	kindHandler   = "handler"
)

// ErrorKinds lists all kinds of errors.
var ErrorKinds = []string{
	KindTransport, kindProtocol, KindJSONRPC, kindState, kindTimeout, kindCancelled, kindShutdown, kindInvalid, kindTool,
	kindHandler,
}

// ErrorWord describes a value of the attribute error.type that this module defines. Word is the value, such as
// "timeout". Kind is the kind of the error, one of ErrorKinds.
type ErrorWord struct{ Word, Kind string }

// ErrorWords maps each value of error.type that this module defines to its ErrorWord. If a look-up uses a key from a
// frame, the caller can keep Word in place of the key, so that the frame can be freed.
var ErrorWords = map[string]ErrorWord{
	names.ErrorToolError:      {names.ErrorToolError, kindTool},
	names.ErrorTimeout:        {names.ErrorTimeout, kindTimeout},
	names.ErrorCancelled:      {names.ErrorCancelled, kindCancelled},
	names.ErrorConnectionLost: {names.ErrorConnectionLost, KindTransport},
	names.ErrorTransportBusy:  {names.ErrorTransportBusy, KindTransport},
	names.ErrorViolation:      {names.ErrorViolation, kindProtocol},
	names.ErrorNotReady:       {names.ErrorNotReady, kindState},
	names.ErrorShutdown:       {names.ErrorShutdown, kindShutdown},
	names.ErrorLoop:           {names.ErrorLoop, kindState},
	names.ErrorUnsupported:    {names.ErrorUnsupported, kindState},
	names.ErrorToolChanged:    {names.ErrorToolChanged, kindState},
	names.ErrorPanic:          {names.ErrorPanic, kindHandler},
	names.ErrorOverloaded:     {names.ErrorOverloaded, kindState},
	names.ErrorRateLimited:    {names.ErrorRateLimited, kindState},
}

// HTTPStatuses holds the HTTP statuses that may become the value of error.type, if the only answer came from HTTP. They
// are registered statuses which mean that the request was not served. They do not count towards a limit of metrics.
var HTTPStatuses = func() map[string]bool {
	m := make(map[string]bool)
	for _, span := range [][2]int{
		{300, 308}, {400, 418}, {421, 426}, {428, 429}, {431, 431}, {451, 451}, {500, 508}, {510, 511},
	} {
		for code := span[0]; code <= span[1]; code++ {
			m[strconv.Itoa(code)] = true
		}
	}
	return m
}()

// DropReasons lists the reasons for dropping a message.
var DropReasons = []string{
	names.DropLateTimeout, names.DropLateCancelled, names.DropLateLost, names.DropDuplicate, names.DropUnknownID,
	names.DropUnexpected, names.DropNotReady, names.DropQueueFull, names.DropCoalesced, names.DropUnsubscribed,
	names.DropNoStream, names.DropRateLimited,
}

// RetryReasons lists the reasons for sending a message again.
var RetryReasons = []string{names.RetryBusy, names.RetryServerBusy, names.RetryHeaderMismatch}

// ViolationReasons lists the rules of the protocol that a frame can violate, by their names in package jsonrpc.
var ViolationReasons = []string{
	"invalid_json", "too_deep", "batch", "invalid_envelope", "invalid_version", "duplicate_member", "mixed_members",
	"invalid_id", "null_id", "missing_id", "invalid_method", "invalid_params", "invalid_result", "invalid_error",
	"frame_too_large", "unexpected_request", "foreign_answer", "no_answer",
}

// ServerViolations lists the violations that a server can find. The other violations concern answers to HTTP requests,
// and requests in a direction that the protocol forbids.
var ServerViolations = ViolationReasons[:slices.Index(ViolationReasons, "unexpected_request")]

// CPUModes lists the modes of the CPU that the metrics of processes distinguish.
var CPUModes = []string{CPUUser, CPUSystem}

// The names of the modes.
const (
	CPUUser   = "user"
	CPUSystem = "system"
)

// AttemptKinds distinguishes attempts of a client that was never ready from attempts of a client that was.
var AttemptKinds = []string{"initial", "reconnect"}

// Notifications with special treatment.
const (
	MethodProgress  = "notifications/progress"
	MethodMessage   = "notifications/message"
	MethodCancelled = "notifications/cancelled"
)

// WaitingMethods lists the requests that wait for a person, a task or an event. A long duration of such a request is
// not a sign of slowness.
var WaitingMethods = []string{"elicitation/create", "subscriptions/listen", "tasks/result"}

// In the GenAI conventions, a tool call is the execution of a tool.
const (
	MethodCallTool       = "tools/call"
	OperationExecuteTool = "execute_tool"
	ToolTypeExtension    = "extension"
)

// Methods whose results may be unusable in part.
const (
	MethodListTools = "tools/list"
	MethodSubscribe = "resources/subscribe"
)

// Methods lists the methods of every revision of the protocol and of its extensions. They do not count towards a limit
// of metrics.
var Methods = []string{
	"completion/complete", "elicitation/create", "initialize", "logging/setLevel", MethodCancelled,
	"notifications/elicitation/complete", "notifications/initialized", MethodMessage, MethodProgress,
	"notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/resources/updated",
	"notifications/roots/list_changed", "notifications/subscriptions/acknowledged", "notifications/tasks",
	"notifications/tasks/status", "notifications/tools/list_changed", "ping", "prompts/get", "prompts/list",
	"resources/directory/read",
	"resources/list", "resources/read",
	"resources/subscribe", "resources/templates/list", "resources/unsubscribe", "roots/list", "sampling/createMessage",
	"server/discover", "skills/get", "skills/list", "subscriptions/listen", "tasks/cancel", "tasks/get", "tasks/list",
	"tasks/result", "tasks/update",
	MethodCallTool, "tools/list",
}

// KnownMethods maps each method to itself. If a look-up uses a key from a frame, the caller can keep the result in
// place of the key, so that the frame can be freed.
var KnownMethods = func() map[string]string {
	m := make(map[string]string, len(Methods))
	for _, name := range Methods {
		m[name] = name
	}
	return m
}()

// OneOf returns word if words contains it, and otherwise _OTHER.
func OneOf(words []string, word string) string {
	if i := slices.Index(words, word); i >= 0 {
		return words[i]
	}
	return names.Other
}

// Values of mcp_client.cache.outcome.
const (
	CacheHit  = "hit"  // the cache had a fresh result
	CacheMiss = "miss" // the client sends a request
)

// CacheOutcomes lists the outcomes of a look-up in the cache.
var CacheOutcomes = []string{CacheHit, CacheMiss}

// DefinitionParts lists the measured parts of a tool definition.
var DefinitionParts = []string{names.DefinitionDescription, names.DefinitionInputSchema}

// LoopKinds lists the kinds of loops of tool calls.
var LoopKinds = []string{names.LoopSameCall, names.LoopSameResult, names.LoopCycle}

// GapCauses lists the reasons why a client may have missed changes.
var GapCauses = []string{
	names.GapSession, names.GapStream, names.GapReplay, names.GapSubscription, names.GapReplacement,
}

// ToolChanges lists the kinds of changes of a tool.
var ToolChanges = []string{names.ChangeAdded, names.ChangeRemoved, names.ChangeChanged}

// PolicyDecisions lists the decisions of a proxy's policy about a message.
var PolicyDecisions = []string{
	names.PolicyDenied, names.PolicyHidden, names.PolicyLimited, names.PolicyTimedOut, names.PolicyRedacted,
}

// AuditOutcomes lists the outcomes of audited calls.
var AuditOutcomes = []string{names.AuditRan, names.AuditDidNotRun, names.AuditMayHaveRun}

// Refusals lists the reasons for refusing a request before it reaches a handler.
var Refusals = []string{
	names.RefusalOrigin, names.RefusalHost, names.RefusalUnauthorized, names.RefusalMethod, names.RefusalMediaType,
	names.RefusalHeader, names.RefusalVersion, names.RefusalSession, names.RefusalTooLarge, names.RefusalBody,
	names.RefusalInvalid, names.RefusalOverloaded, names.RefusalRateLimited, names.RefusalStore, names.RefusalShutdown,
}

// Capacities lists the resources that a server limits.
var Capacities = []string{
	names.CapacityRequest, names.CapacityQueue, names.CapacityTotal, names.CapacityHTTPRequest,
	names.CapacityWaitingHandler, names.CapacitySession, names.CapacitySubscription, names.CapacityTask,
	names.CapacityKeptTask,
}

// Memories lists the kinds of memory that a server limits.
var Memories = []string{
	names.MemoryFrame, names.MemoryBody, names.MemoryIntroduction, names.MemoryWatched, names.MemoryTaskResult,
}

// FaultKinds lists the faults that a fault plan can inject.
var FaultKinds = []string{
	names.FaultLatency, names.FaultDrip, names.FaultDrop, names.FaultDuplicate, names.FaultReorder, names.FaultTruncate,
	names.FaultGarbage, names.FaultOversize, names.FaultError, names.FaultBusy, names.FaultExpire, names.FaultFreeze,
	names.FaultCut, names.FaultDeath, names.FaultRefuse,
}

// StreamKinds lists the kinds of streams that serve no single request.
var StreamKinds = []string{names.StreamGet, names.StreamSSE, names.StreamListen}

// AuthSteps lists the steps of an authorization.
var AuthSteps = []string{
	names.AuthDiscoverResource, names.AuthDiscoverServer, names.AuthRegister, names.AuthAuthorize, names.AuthToken,
	names.AuthRefresh,
}

// TaskStatuses lists the final statuses of a task. (tasks extension, "Task Status")
var TaskStatuses = []string{"completed", "failed", "cancelled"}

// SessionErrors lists the error types of a session that ended abnormally.
var SessionErrors = []string{names.ErrorConnectionLost, names.ErrorViolation}

// CodeTexts maps each code that the specifications of JSON-RPC and MCP define to its text.
var CodeTexts = map[int64]string{
	-32700: "-32700", // parse error
	-32600: "-32600", // invalid request
	-32601: "-32601", // method not found
	-32602: "-32602", // invalid params
	-32603: "-32603", // internal error
	-32002: "-32002", // resource not found
	-32020: "-32020", // header mismatch
	-32021: "-32021", // missing client capability
	-32022: "-32022", // unsupported protocol version
	-32042: "-32042", // URL elicitation required
	-1:     "-1",     // user rejected sampling
}
