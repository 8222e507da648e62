package instrument

import (
	"bytes"
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxVariables bounds the variables of a prompt on one span.
const maxVariables = 16

// Captures reports whether the user's options enable content capture. Callers check this before they encode content.
func (op *Op) Captures() bool { return op.side != nil && op.trace.recording && op.side.tel.Keep != nil }

// Arguments passes the arguments of a tool call, or the variables of a prompt, to the redactor. raw is a JSON object or
// empty.
func (op *Op) Arguments(raw []byte) {
	if len(raw) == 0 || !op.Captures() {
		return
	}
	switch op.info.targetKind {
	case Tool:
		op.capture(names.KeyGenAIToolCallArguments, telemetry.ContentToolArguments, "", raw)
	case Prompt:
		op.variables(raw)
	}
}

// Answer passes the result of a tool call to the redactor. raw is a JSON object. Answer ignores results of other
// methods.
func (op *Op) Answer(raw []byte) {
	if op.Captures() && op.info.targetKind == Tool {
		op.capture(names.KeyGenAIToolCallResult, telemetry.ContentToolResult, "", raw)
	}
}

// variables passes the string members of a JSON object to the redactor, one by one. Other members are not variables.
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
		name := truncate(key.(string), words.MaxName) // the keys of an object are strings
		if text, ok := value.(string); ok && name != "" {
			op.capture(names.KeyGenAIPromptVariable+name, telemetry.ContentPromptVariable, name, []byte(text))
		}
	}
}

func (op *Op) capture(key string, kind telemetry.ContentKind, name string, data []byte) {
	c := op.content(kind)
	c.Name, c.Data = name, data
	if text, ok := op.side.traces.redact(op.ctx, c); ok {
		op.trace.span.SetAttributes(attribute.KeyValue{Key: attribute.Key(key), Value: op.side.traces.kept(kind, text)})
	}
}

// kept returns the attribute value for a text that the redactor has returned.
func (t *traces) kept(kind telemetry.ContentKind, text string) attribute.Value {
	switch {
	case kind == telemetry.ContentPromptVariable:
		return attribute.StringValue(truncate(text, maxContent))
	case t.side.tel.ContentAsText:
		return attribute.StringValue(structured(text).String())
	}
	return structured(text)
}

// content returns a description of the operation's content, without name and data.
func (op *Op) content(kind telemetry.ContentKind) telemetry.Content {
	return telemetry.Content{Kind: kind, Side: op.side.which, Direction: op.direction, Method: op.method,
		Target: op.target}
}

// errorMessage returns the redacted text of the operation's error.
func (op *Op) errorMessage(text string) string {
	return op.side.errorMessage(op.ctx, op.content(telemetry.ContentErrorMessage), text)
}

// textOf returns the redacted text of an error outside of requests. A part of the text may come from a server.
func (s *side) textOf(ctx context.Context, err error) string {
	return s.errorMessage(ctx, telemetry.Content{Kind: telemetry.ContentErrorMessage, Side: s.which}, err.Error())
}

func (s *side) errorMessage(ctx context.Context, c telemetry.Content, text string) string {
	if text == "" {
		return ""
	}
	c.Data = []byte(text)
	if s.tel.Keep != nil {
		text, _ = s.traces.redact(ctx, c)
	} else if s.traces.scrub != nil {
		text = string(s.traces.scrub(c))
	}
	return truncate(text, words.MaxMessage)
}

// redact calls the user's redactor. It returns an empty text if the redactor fails.
func (t *traces) redact(ctx context.Context, c telemetry.Content) (kept string, ok bool) {
	if t.scrub != nil {
		c.Data = t.scrub(c)
	}
	usercode.Run(func() { kept, ok = t.side.tel.Keep(ctx, c) }, t.side.failed(ctx, "redactor"))
	if !ok {
		kept = ""
	}
	return kept, ok
}

// failed returns a function that records a failure of the user's function with this name.
func (s *side) failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { s.panicked(ctx, name, f.Value, f.Stack) }
}

// Redacting returns a Telemetry with the options and instruments of t. Its clients and servers pass the contents of
// messages through scrub first, and then to a [telemetry.Redactor], spans and log records. Redacting is for programs
// that relay messages of others and must not disclose the contents.
func Redacting(t *telemetry.Telemetry, scrub func(telemetry.Content) []byte) *telemetry.Telemetry {
	return (*telemetry.Telemetry)((*settings.Source[telemetry.Redactor])(t).Scrubbing(scrub))
}

// scrubOf returns the function that was passed to [Redacting], or nil.
func scrubOf(t *telemetry.Telemetry) func(telemetry.Content) []byte {
	scrub, _ := (*settings.Source[telemetry.Redactor])(t).Scrub().(func(telemetry.Content) []byte)
	return scrub
}
