package mcp

import (
	"fmt"
	"strings"
)

// Meta is the _meta object that params, results and many of their parts may carry: metadata of the protocol, of
// extensions and of applications side by side.
// See https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta.
type Meta = Object

// Names of members of [Meta] that the protocol reserves.
const (
	// MetaProgressToken asks, on a request, for progress notifications; its value is a [ProgressToken].
	MetaProgressToken = "progressToken"

	// MetaProtocolVersion is the [Version] of a modern request; required there.
	MetaProtocolVersion = "io.modelcontextprotocol/protocolVersion"
	// MetaClientInfo is the [Implementation] that sends a modern request.
	MetaClientInfo = "io.modelcontextprotocol/clientInfo"
	// MetaClientCapabilities are the [ClientCapabilities] that hold for one modern request; required there.
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	// MetaLogLevel is the least severe [LoggingLevel] the client wants during a modern request; absent: no log messages.
	MetaLogLevel = "io.modelcontextprotocol/logLevel"
	// MetaServerInfo is the [Implementation] that answers a modern request.
	MetaServerInfo = "io.modelcontextprotocol/serverInfo"
	// MetaSubscriptionID is, on what a subscription delivers and on the result that ends it, the [RequestID] of the
	// subscriptions/listen request.
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"

	// MetaRelatedTask is the [RelatedTask] that a message of 2025-11-25 belongs to.
	MetaRelatedTask = "io.modelcontextprotocol/related-task"
	// MetaModelImmediateResponse is, on a [LegacyCreateTaskResult], the text to hand to the model while the task runs.
	MetaModelImmediateResponse = "io.modelcontextprotocol/model-immediate-response"

	// MetaTraceParent, MetaTraceState and MetaBaggage carry W3C trace context and baggage.
	MetaTraceParent = "traceparent"
	MetaTraceState  = "tracestate"
	MetaBaggage     = "baggage"
)

// CheckMetaName says what is wrong with name as a member of [Meta] that you make, nil if nothing is. Valid names have
// an optional prefix of dot-separated labels that ends with a slash, such as com.example/, and a name of letters,
// digits, hyphens, underscores and dots that begins and ends with a letter or digit.
//
// Prefixes whose second label is modelcontextprotocol or mcp are reserved for the protocol. Of these, the specification
// has given out io.modelcontextprotocol/, to its own members and to those of official extensions; all others are
// refused.
//
// Both ends of this module refuse other names wherever you give them, and take whatever a peer sends.
func CheckMetaName(name string) error {
	prefix, rest, found := strings.Cut(name, "/")
	if !found {
		prefix, rest = "", name
	} else if err := checkPrefix(prefix); err != nil {
		return fmt.Errorf("meta name %q: %w", name, err)
	}
	if rest != "" && (!alphanumeric(rest[0]) || !alphanumeric(rest[len(rest)-1])) {
		return fmt.Errorf("meta name %q does not begin and end with a letter or digit", name)
	}
	for i := range len(rest) {
		if c := rest[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return fmt.Errorf("meta name %q has an invalid character %q", name, c)
		}
	}
	if found && prefix != officialPrefix && ReservedMetaName(name) {
		return fmt.Errorf("meta name %q has a prefix that the protocol reserves", name)
	}
	return nil
}

// officialPrefix is the one that the specification uses itself, and gives to official extensions.
const officialPrefix = "io.modelcontextprotocol"

// CheckExtensionName says what is wrong with name as that of an extension, a key of Extensions in [ClientCapabilities]
// and [ServerCapabilities], nil if nothing is: the rules are those of [CheckMetaName], and there must be a prefix.
// (specification 2026-07-28, basic/versioning, "Extension Negotiation")
func CheckExtensionName(name string) error {
	if !strings.Contains(name, "/") {
		return fmt.Errorf("extension %q has no prefix, such as com.example/", name)
	}
	if err := CheckMetaName(name); err != nil {
		return fmt.Errorf("extension: %w", err)
	}
	return nil
}

func checkPrefix(prefix string) error {
	for label := range strings.SplitSeq(prefix, ".") {
		if label == "" {
			return fmt.Errorf("prefix has an empty label")
		}
		if !letter(label[0]) || !alphanumeric(label[len(label)-1]) {
			return fmt.Errorf("label %q does not begin with a letter and end with a letter or digit", label)
		}
		for i := range len(label) {
			if c := label[i]; !alphanumeric(c) && c != '-' {
				return fmt.Errorf("label %q has an invalid character %q", label, c)
			}
		}
	}
	return nil
}

// ReservedMetaName reports whether the protocol reserves name: because the second label of its prefix is
// modelcontextprotocol or mcp, or because it is progressToken or one of the names of trace context.
func ReservedMetaName(name string) bool {
	switch name {
	case MetaProgressToken, MetaTraceParent, MetaTraceState, MetaBaggage:
		return true
	}
	prefix, _, found := strings.Cut(name, "/")
	if !found {
		return false
	}
	_, rest, _ := strings.Cut(prefix, ".")
	second, _, _ := strings.Cut(rest, ".")
	return second == "modelcontextprotocol" || second == "mcp"
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func alphanumeric(c byte) bool { return letter(c) || c >= '0' && c <= '9' }
