package telemetry

import "context"

// ContentKind says which content of a message is offered to a [Redactor].
type ContentKind uint8

const (
	// ToolArguments are the arguments of a tool call: a JSON object. Kept as gen_ai.tool.call.arguments, a map.
	ToolArguments ContentKind = iota
	// ToolResult is the result of a tool call: a JSON object. Kept as gen_ai.tool.call.result, a map.
	ToolResult
	// PromptVariable is one argument of a prompt: plain text. Kept as gen_ai.prompt.variable. and its name.
	PromptVariable
	// ErrorMessage is the text of an error: that of the status of a span, and that of a log record. It is not offered
	// for the sake of capturing it, but can be kept from there.
	ErrorMessage
)

// Side is the side of MCP whose process captures a content.
type Side uint8

const (
	ClientSide Side = iota
	ServerSide
)

// Content is what is offered to a [Redactor].
type Content struct {
	Kind      ContentKind
	Side      Side
	Direction Direction // Sent if the request is one that this side sends, Received if it answers it
	// of the request, as it is; empty for an error that is about none, such as that of an attempt to connect
	Method string
	Target string // name of the tool or prompt, as it is; empty for none
	Name   string // of the prompt's variable; empty for any other content

	// Data is the content. It is part of a message: it must not be changed, and not be kept longer than the call.
	Data []byte
}

// Redactor decides what is kept of a content: the text that it returns, or nothing if ok is false. It is called in the
// context of the span, in the goroutine of the call, only for spans that are recorded; it must be quick and is called
// from any number of goroutines. Of what it returns, 8 KiB are kept; of the text of an error 256 bytes. A JSON object
// or array, of arguments or a result, is kept as such: what is beyond 8 KiB is left out member by member, and a member
// "…" says so. Other text is kept as text. If it panics, or ends its goroutine, nothing is kept, and that is logged and
// counted as a panic of a handler.
//
//	func(_ context.Context, c telemetry.Content) (string, bool) {
//		switch {
//		case c.Kind == telemetry.ErrorMessage:
//			return string(c.Data), true
//		case c.Kind == telemetry.ToolArguments && c.Target == "search":
//			return string(c.Data), true
//		}
//		return "", false
//	}
type Redactor func(ctx context.Context, c Content) (keep string, ok bool)

// WithContentCapture puts the contents of messages onto spans, as far as keep lets them through: arguments and results
// of tools, and variables of prompts. They are on spans only, never on metrics, and in no log record. The default, and
// nil, is that there is none. The texts of errors go through keep as well, which are there without it: in the status of
// spans and in the field error of records, those about connections included, where a server may have written a part of
// them.
func WithContentCapture(keep Redactor) Option {
	return func(c *config) { c.Keep = keep }
}

// WithContentAsText keeps the arguments and results of tools as strings of JSON, for backends that take no maps as
// attributes. It means nothing without [WithContentCapture].
func WithContentAsText() Option {
	return func(c *config) { c.ContentAsText = true }
}
