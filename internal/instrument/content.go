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

// maxVariables is how many variables of a prompt are on a span.
const maxVariables = 16

// Captures reports whether the user's options ask for contents. A caller that would have to encode one asks first.
func (op *Op) Captures() bool { return op.side != nil && op.trace.recording && op.side.tel.Keep != nil }

// Arguments offers the arguments of the call to the redactor: those of a tool, or the variables of a prompt. raw is a
// JSON object, or nothing.
func (op *Op) Arguments(raw []byte) {
	if len(raw) == 0 || !op.Captures() {
		return
	}
	switch op.info.targetKind {
	case Tool:
		op.capture(names.KeyGenAIToolCallArguments, telemetry.ToolArguments, "", raw)
	case Prompt:
		op.variables(raw)
	}
}

// Answer offers the result of the call to the redactor, if it is that of a tool. raw is a JSON object.
func (op *Op) Answer(raw []byte) {
	if op.Captures() && op.info.targetKind == Tool {
		op.capture(names.KeyGenAIToolCallResult, telemetry.ToolResult, "", raw)
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
		name := truncate(key.(string), words.MaxName) // the keys of an object are strings
		if text, ok := value.(string); ok && name != "" {
			op.capture(names.KeyGenAIPromptVariable+name, telemetry.PromptVariable, name, []byte(text))
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

// kept returns the value of an attribute for what the redactor keeps.
func (t *traces) kept(kind telemetry.ContentKind, text string) attribute.Value {
	switch {
	case kind == telemetry.PromptVariable:
		return attribute.StringValue(truncate(text, maxContent))
	case t.side.tel.ContentAsText:
		return attribute.StringValue(structured(text).String())
	}
	return structured(text)
}

// content is a content of the operation, without the content.
func (op *Op) content(kind telemetry.ContentKind) telemetry.Content {
	return telemetry.Content{Kind: kind, Side: op.side.which, Direction: op.direction, Method: op.method,
		Target: op.target}
}

// errorMessage returns what may be told of the text of the operation's error.
func (op *Op) errorMessage(text string) string {
	return op.side.errorMessage(op.ctx, op.content(telemetry.ErrorMessage), text)
}

// textOf returns what may be told of an error that is about no request. A server may have written a part of it.
func (s *side) textOf(ctx context.Context, err error) string {
	return s.errorMessage(ctx, telemetry.Content{Kind: telemetry.ErrorMessage, Side: s.which}, err.Error())
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

// redact asks the user's function, which may fail: then nothing is kept.
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

// failed returns what tells of a failure of the user's function of this name.
func (s *side) failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { s.panicked(ctx, name, f.Value, f.Stack) }
}

// Redacting returns a Telemetry with the options and instruments of t, whose clients and servers pass contents of
// messages through scrub, before a [telemetry.Redactor] and before they are on spans and in log records. It is for what
// passes messages of others on, and must not have them elsewhere.
func Redacting(t *telemetry.Telemetry, scrub func(telemetry.Content) []byte) *telemetry.Telemetry {
	return (*telemetry.Telemetry)((*settings.Source[telemetry.Redactor])(t).Scrubbing(scrub))
}

// scrubOf returns the function of [Redacting], nil for none.
func scrubOf(t *telemetry.Telemetry) func(telemetry.Content) []byte {
	scrub, _ := (*settings.Source[telemetry.Redactor])(t).Scrub().(func(telemetry.Content) []byte)
	return scrub
}
