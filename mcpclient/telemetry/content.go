package telemetry

import (
	"bytes"
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// ContentKind says which content of a message is offered to a [Redactor].
type ContentKind uint8

const (
	// ToolArguments are the arguments of a tool call: a JSON object. Kept as gen_ai.tool.call.arguments.
	ToolArguments ContentKind = iota
	// ToolResult is the result of a tool call: a JSON object. Kept as gen_ai.tool.call.result.
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
	Method    string    // of the request, as it is; empty for an error that is about none, such as that of an attempt to connect
	Target    string    // name of the tool or prompt, as it is; empty for none
	Name      string    // of the prompt's variable; empty for any other content

	// Data is the content. It is part of a message: it must not be changed, and not be kept longer than the call.
	Data []byte
}

// Redactor decides what is kept of a content: the text that it returns, or nothing if ok is false. It is called in the
// context of the span, in the goroutine of the call, only for spans that are recorded; it must be quick and is called
// from any number of goroutines. Of what it returns, 8 KiB are kept, which may cut JSON in two; of the text of an error 256
// bytes. If it panics, or ends its goroutine, nothing is kept, and that is logged and counted as a panic of a handler.
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

// WithContentCapture puts the contents of messages onto spans, as far as keep lets them through: arguments and results of
// tools, and variables of prompts. They are on spans only, never on metrics, and in no log record. The default, and nil,
// is that there is none. The texts of errors go through keep as well, which are there without it: in the status of spans
// and in the field error of records, those about connections included, where a server may have written a part of them.
func WithContentCapture(keep Redactor) Option {
	return func(c *config) { c.keep = keep }
}

// Limits of contents on a span.
const (
	maxContent   = 8 << 10 // bytes of each
	maxVariables = 16      // of a prompt
)

// Captures reports whether contents are wanted. Whoever has to encode one asks before.
func (op *Op) Captures() bool { return op.side != nil && op.recording && op.side.tel.keep != nil }

// Arguments offers the arguments of the call to the redactor: those of a tool, or the variables of a prompt. raw is a JSON
// object, or nothing.
func (op *Op) Arguments(raw []byte) {
	if len(raw) == 0 || !op.Captures() {
		return
	}
	switch op.info.targetKind {
	case Tool:
		op.capture(keyToolArguments, ToolArguments, "", raw)
	case Prompt:
		op.variables(raw)
	}
}

// Answer offers the result of the call to the redactor, if it is that of a tool. raw is a JSON object.
func (op *Op) Answer(raw []byte) {
	if op.Captures() && op.info.targetKind == Tool {
		op.capture(keyToolResult, ToolResult, "", raw)
	}
}

// variables offers the members of a JSON object one by one. Those that are no strings are no variables.
func (op *Op) variables(raw []byte) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for range maxVariables {
		if !d.More() {
			return
		}
		key, err := d.Token()
		if err != nil {
			return
		}
		var value any
		if d.Decode(&value) != nil {
			return
		}
		name := truncate(key.(string), maxName) // the keys of an object are strings
		if text, ok := value.(string); ok && name != "" {
			op.capture(keyPromptVariable+name, PromptVariable, name, []byte(text))
		}
	}
}

func (op *Op) capture(key string, kind ContentKind, name string, data []byte) {
	c := op.content(kind)
	c.Name, c.Data = name, data
	if text, ok := op.side.redact(op.ctx, c); ok {
		op.span.SetAttributes(attribute.String(key, truncate(text, maxContent)))
	}
}

// content is a content of the operation, without the content.
func (op *Op) content(kind ContentKind) Content {
	return Content{Kind: kind, Side: op.side.which, Direction: op.direction, Method: op.method, Target: op.target}
}

// errorMessage returns what may be told of the text of the operation's error.
func (op *Op) errorMessage(text string) string {
	return op.side.errorMessage(op.ctx, op.content(ErrorMessage), text)
}

// textOf returns what may be told of an error that is about no request. A server may have written a part of it.
func (s *side) textOf(ctx context.Context, err error) string {
	return s.errorMessage(ctx, Content{Kind: ErrorMessage, Side: s.which}, err.Error())
}

func (s *side) errorMessage(ctx context.Context, c Content, text string) string {
	if text != "" && s.tel.keep != nil {
		c.Data = []byte(text)
		text, _ = s.redact(ctx, c)
	}
	return truncate(text, maxMessage)
}

// redact asks the user's function, which may fail: then nothing is kept.
func (s *side) redact(ctx context.Context, c Content) (kept string, ok bool) {
	usercode.Run(func() { kept, ok = s.tel.keep(ctx, c) }, s.failed(ctx, "redactor"))
	if !ok {
		kept = ""
	}
	return kept, ok
}

// failed returns what tells of a failure of the user's function of this name.
func (s *side) failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { s.panicked(ctx, name, f.Value, f.Stack) }
}
