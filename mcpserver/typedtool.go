package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/weigh"
	"github.com/mcpotel/mcpotel/mcp"
)

// AddTool adds a tool that is a Go function. The schemas that t does not have are made from the types.
//
// In is a struct, or a map with string keys. A struct's fields are the tool's arguments under their JSON names,
// required unless omitempty, omitzero or with a default. Two tags of a field say more to the model:
//
//	Units string   `json:"units" jsonschema:"how to say it" keywords:"enum=metric|imperial,default=metric"`
//	Days  int      `json:"days,omitzero" keywords:"minimum=1,maximum=14"`
//	Codes []string `json:"codes" keywords:"pattern='^[A-Z]{3,4}$',minItems=1"`
//
// jsonschema describes the argument. keywords sets those of JSON Schema: enum, default, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, format, minItems, maxItems and
// uniqueItems. Values with commas stand between single quotation marks, two of which are one; those of enum, and the
// elements of a default, are separated by |. Of a list, what is not said of lists is said of its elements. A keyword
// that is unknown, or not for the field's type, is an error, and so is a default that does not fit. [SchemaOf] is for
// the rest. A time.Duration is a number of nanoseconds.
//
// Defaults of the input schema are filled in, at most 10,000 of 1 MiB in all and none into another. Then the arguments
// are checked against the schema, for as long as the context of the call lasts, and decoded. What does not fit never
// reaches h: from 2025-11-25 on it is answered with a result with isError, so that the model can correct itself, and
// with -32602 before that.
//
// Out is how the tool answers:
//   - [*mcp.CallToolResult]: the result as it is, nil for an empty one;
//   - string: a block of text;
//   - anything else: structured content, and the same JSON in a block of text for clients that know no other. Its
//     output schema is listed. Clients of revisions before 2025-06-18 get only the text, and so do those before
//     2026-07-28 if it is no JSON object.
//
// Arguments that would take more than 128 MiB as Go values, or eight times their text if that is more, do not fit. Two
// million numbers do. [Server.AddRawTool] takes and gives JSON as it is; see [Checked].
//
// Structured content is checked against the output schema; one that does not fit is an internal error. Errors of h are
// treated as [ToolHandler] says.
//
// It is an error if a type has no schema, a schema is invalid, or the server has a tool of that name. Clients that are
// connected are told that the list has changed.
// (specification 2026-07-28, server/tools, "Structured Content" and "Error Handling")
func AddTool[In, Out any](s *Server, t *mcp.Tool, h func(ctx context.Context, in In) (Out, error)) error {
	if h == nil {
		return errors.New("add tool: no handler")
	}
	added, input, output, err := typedTool[In, Out](t)
	if err != nil {
		return err
	}
	return s.tools.register(added, func(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error) {
		in, err := decodeArguments[In](ctx, input, r.Arguments)
		if err != nil {
			return nil, err
		}
		out, err := h(ctx, in)
		if err != nil {
			return nil, err
		}
		return resultOf(ctx, out, output)
	}, nil)
}

// typedTool returns the tool that a function from In to Out is, with its schemas.
func typedTool[In, Out any](t *mcp.Tool) (added *mcp.Tool, input, output *schema.Schema, err error) {
	if added, err = copyTool(t); err != nil {
		return nil, nil, nil, err
	}
	if added.InputSchema == nil {
		if added.InputSchema, err = schema.InferInput(reflect.TypeFor[In]()); err != nil {
			return nil, nil, nil, fmt.Errorf("add tool %s: %w", t.Name, err)
		}
	}
	if added.OutputSchema == nil && structured[Out]() {
		if added.OutputSchema, _, err = schema.InferOutput(reflect.TypeFor[Out]()); err != nil {
			return nil, nil, nil, fmt.Errorf("add tool %s: %w", t.Name, err)
		}
	}
	input, output, err = compileSchemas(added)
	return added, input, output, err
}

// structured reports whether values of type Out become structured content.
func structured[Out any]() bool {
	switch reflect.TypeFor[Out]() {
	case reflect.TypeFor[*mcp.CallToolResult](), reflect.TypeFor[string]():
		return false
	}
	return true
}

// Checked returns a handler for [Server.AddRawTool] and [Server.AddRawTaskTool] that holds calls of h to the schemas of
// t, as [AddTool] does: defaults are filled in, arguments that do not fit never reach h, and structured content that
// does not fit is an internal error. What h gets and gives is JSON all the same. Of a call that becomes a task, this is
// done within the task.
//
//	err := s.AddRawTool(t, mcpserver.Checked(t, h))
//
// Invalid schemas are an error of AddRawTool. Checked takes the schemas that t has when it is called.
func Checked(t *mcp.Tool, h ToolHandler) ToolHandler {
	if h == nil || t == nil {
		return h
	}
	held, err := rawTool(t)
	if err != nil {
		return h // which nothing takes, for the same reason
	}
	input, output, err := compileSchemas(held)
	if err != nil {
		return h // likewise
	}
	return func(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error) {
		arguments, err := fitting(ctx, input, r.Arguments)
		if err != nil {
			return nil, invalidArguments(ctx, err)
		}
		out, err := h(ctx, &CallToolRequest{RequestInfo: r.RequestInfo, Name: r.Name, Arguments: arguments})
		if err != nil {
			return nil, err
		}
		return resultOf(ctx, out, output)
	}
}

// decodeArguments checks the arguments of a call and decodes them.
func decodeArguments[In any](ctx context.Context, s *schema.Schema, arguments json.RawMessage) (in In, err error) {
	if err = weigh.Decoding(arguments, &in); err == nil {
		arguments, err = fitting(ctx, s, arguments)
	}
	if err == nil {
		_, err = mcp.Decode(arguments, &in)
	}
	if err != nil {
		return in, invalidArguments(ctx, err)
	}
	return in, nil
}

// fitting returns the arguments of a call with the defaults that they lack, if they fit.
func fitting(ctx context.Context, s *schema.Schema, arguments json.RawMessage) (json.RawMessage, error) {
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	arguments, err := s.ApplyDefaults(ctx, arguments)
	if err != nil {
		return nil, err
	}
	return arguments, s.Validate(ctx, arguments)
}

// invalidArguments is the error of a call whose arguments do not fit, or whose context has ended before that was known.
func invalidArguments(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &argumentsError{err}
}

// resultOf makes the result of a tool that returned out.
func resultOf(ctx context.Context, out any, s *schema.Schema) (*mcp.CallToolResult, error) {
	switch out := out.(type) {
	case string:
		if s == nil {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(out)}}, nil
		}
	case *mcp.CallToolResult:
		if out == nil || out.IsError || s == nil {
			return out, nil
		}
		return out, checkOutput(ctx, out.StructuredContent, s)
	}
	raw, err := jsonv2.Marshal(out, jsonv2.Deterministic(true), jsonv1.FormatDurationAsNano(true))
	if err != nil {
		return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("encode output: %w", err))
	}
	if s != nil {
		if err := checkOutput(ctx, raw, s); err != nil {
			return nil, err
		}
	}
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(string(raw))}, StructuredContent: raw}, nil
}

// checkOutput holds a tool to its output schema.
func checkOutput(ctx context.Context, raw json.RawMessage, s *schema.Schema) error {
	err := errors.New("no structured content")
	if raw != nil {
		err = s.Validate(ctx, raw)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return rpc.Fail(errBadOutput, fmt.Errorf("output: %w", err))
}

var errBadOutput = &mcp.Error{Code: mcp.CodeInternalError,
	Message: "the tool's output does not match its output schema"}
