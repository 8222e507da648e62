package mcp

import (
	"fmt"
	"strings"
)

// Meta is the _meta object of params, results and many of their parts. It holds metadata of the protocol, of
// extensions and of applications. See https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta.
type Meta = Object

// Member names of [Meta] that the protocol reserves.
const (
	// MetaProgressToken, in a request, requests progress notifications. Its value is a [ProgressToken].
	MetaProgressToken = "progressToken"

	// MetaProtocolVersion is the [Version] of a modern request. The member is required.
	MetaProtocolVersion = "io.modelcontextprotocol/protocolVersion"
	// MetaClientInfo is the [Implementation] that sends a modern request.
	MetaClientInfo = "io.modelcontextprotocol/clientInfo"
	// MetaClientCapabilities are the [ClientCapabilities] for one modern request. The member is required.
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	// MetaLogLevel is the least severe [LoggingLevel] that the client wants during a modern request. Without it, the
	// server sends no log messages.
	MetaLogLevel = "io.modelcontextprotocol/logLevel"
	// MetaServerInfo is the [Implementation] that answers a modern request.
	MetaServerInfo = "io.modelcontextprotocol/serverInfo"
	// MetaSubscriptionID is the [RequestID] of a subscriptions/listen request. Each message of the subscription contains
	// this id, and so does the result that ends the subscription.
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"

	// MetaRelatedTask is the [RelatedTask] to which a message of 2025-11-25 belongs.
	MetaRelatedTask = "io.modelcontextprotocol/related-task"
	// MetaModelImmediateResponse, in a [LegacyCreateTaskResult], is text for the model while the task runs.
	MetaModelImmediateResponse = "io.modelcontextprotocol/model-immediate-response"

	// MetaTraceParent, MetaTraceState and MetaBaggage carry W3C trace context and baggage.
	MetaTraceParent = "traceparent"
	MetaTraceState  = "tracestate"
	MetaBaggage     = "baggage"
)

// CheckMetaName returns an error if name is not valid for a member of [Meta] that your program defines. A valid name
// has an optional prefix of dot-separated labels that ends with a slash, such as com.example/, and a name of letters,
// digits, hyphens, underscores and dots that begins and ends with a letter or digit.
//
// The protocol reserves prefixes with modelcontextprotocol or mcp as their second label. Of these, CheckMetaName
// allows only io.modelcontextprotocol/, which the specification assigns to its own members and to official
// extensions.
//
// Clients and servers of this module reject invalid names in your options and calls, and accept any name from a peer.
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

// officialPrefix is the prefix of the specification's own members and of official extensions.
const officialPrefix = "io.modelcontextprotocol"

// CheckExtensionName returns an error if name is not valid for an extension, which is a key of Extensions in
// [ClientCapabilities] and [ServerCapabilities]. The rules of [CheckMetaName] apply, and a prefix is required.
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

// ReservedMetaName reports whether the protocol reserves name. It reserves progressToken, the names of trace context,
// and each name whose prefix has the second label modelcontextprotocol or mcp.
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
