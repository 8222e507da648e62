package telemetry

import "context"

// ContentKind is the kind of content that a [Redactor] decides about.
type ContentKind uint8

const (
	// ContentToolArguments are the arguments of a tool call: a JSON object. The span attribute is
	// gen_ai.tool.call.arguments, a map.
	ContentToolArguments ContentKind = iota
	// ContentToolResult is the result of a tool call: a JSON object. The span attribute is gen_ai.tool.call.result, a map.
	ContentToolResult
	// ContentPromptVariable is one argument of a prompt: plain text. The span attribute is gen_ai.prompt.variable. and
	// its name.
	ContentPromptVariable
	// ContentErrorMessage is the text of an error, for the status of a span and for a log record. These texts are
	// recorded even without content capture; the Redactor can shorten or remove them.
	ContentErrorMessage
)

// Side is the side of MCP that captures a content.
type Side uint8

const (
	SideClient Side = iota
	SideServer
)

// Content is the content that a [Redactor] decides about.
type Content struct {
	Kind      ContentKind
	Side      Side
	Direction Direction // DirectionSent if this side sends the request, DirectionReceived if it answers
	// Method is the method of the request, as in the message. It is empty for an error outside of requests, such as the
	// error of an attempt to connect.
	Method string
	Target string // name of the tool or prompt, as in the message; empty for none
	Name   string // name of the prompt's variable; empty for any other content

	// Data is the content, as a part of a message. A Redactor must not change Data, and must not keep Data after it
	// returns.
	Data []byte
}

// Redactor decides how much of a content is recorded: the text that it returns, or nothing if ok is false.
//
// A Redactor is called in the goroutine of the call, with the context of the span, and only for recorded spans. It may
// be called concurrently, and must be quick. At most 8 KiB of its result are recorded; for an error's text, at most 256
// bytes. Arguments or results that are a JSON object or array are recorded as structured values; if they exceed 8 KiB,
// members are omitted and a member "…" marks the omission. Other text is recorded as text. If the Redactor panics or
// ends its goroutine, nothing is recorded, and the failure is logged and counted as a panic of a handler.
//
//	func(_ context.Context, c telemetry.Content) (string, bool) {
//		switch {
//		case c.Kind == telemetry.ContentErrorMessage:
//			return string(c.Data), true
//		case c.Kind == telemetry.ContentToolArguments && c.Target == "search":
//			return string(c.Data), true
//		}
//		return "", false
//	}
type Redactor func(ctx context.Context, c Content) (keep string, ok bool)

// WithContentCapture records the contents of messages on spans, as far as keep allows: arguments and results of
// tools, and variables of prompts. Metrics and log records never contain them. Without this option, or if keep is nil,
// no contents are recorded.
//
// keep also decides about the texts of errors, which are recorded by default: in the status of spans and in the error
// field of log records, including records about connections. A server may have written a part of such a text.
func WithContentCapture(keep Redactor) Option {
	return func(c *config) { c.Keep = keep }
}

// WithContentAsText records the arguments and results of tools as JSON strings, for backends without support for map
// attributes. It has no effect without [WithContentCapture].
func WithContentAsText() Option {
	return func(c *config) { c.ContentAsText = true }
}
