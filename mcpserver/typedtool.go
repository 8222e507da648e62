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

// AddTool adds a tool that a Go function implements. If t lacks a schema, AddTool infers it from the type In or Out.
//
// In is a struct, or a map with string keys. The fields of a struct are the tool's arguments, under their JSON names.
// An argument is required unless its field has omitempty, omitzero or a default. Two tags describe an argument to the
// model:
//
//	Units string   `json:"units" jsonschema:"how to say it" keywords:"enum=metric|imperial,default=metric"`
//	Days  int      `json:"days,omitzero" keywords:"minimum=1,maximum=14"`
//	Codes []string `json:"codes" keywords:"pattern='^[A-Z]{3,4}$',minItems=1"`
//
// The tag jsonschema is the description. The tag keywords sets keywords of JSON Schema: enum, default, minimum,
// maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, format, minItems, maxItems
// and uniqueItems. Put a value with commas between single quotation marks, and double a single quotation mark in it.
// Separate the values of enum, and the elements of a default, by |. In the tag of a list, a keyword that does not
// apply to lists applies to the elements. An unknown keyword is an error, as is a keyword that does not apply to the
// field's type, or a default that violates the schema. For other keywords use [SchemaOf]. A time.Duration is a number
// of nanoseconds.
//
// For each call, the server fills in the defaults of the input schema: at most 10,000 defaults of 1 MiB in all. It does
// not fill in defaults inside an inserted default. Then the server validates the arguments against the schema, until
// the context of the call ends, and decodes them. The server does not call h with invalid arguments. From 2025-11-25
// on, the answer is a result with isError, so that the model can correct itself. Before 2025-11-25, the answer is the
// error -32602.
//
// Out determines the result:
//   - [*mcp.CallToolResult]: the value is the result; nil means an empty result;
//   - string: the result is a block of text;
//   - any other type: the result has structured content, and the same JSON in a block of text for clients that know
//     only text. The list of tools contains the output schema. Clients of revisions before 2025-06-18 get only the
//     text, and clients of revisions before 2026-07-28 get only the text if the output is not a JSON object.
//
// Arguments are invalid if their Go values would take more than 128 MiB or eight times the size of their text,
// whichever is more. Two million numbers are accepted. The method [Server.AddTool] passes JSON unchanged.
//
// The server validates structured content against the output schema; a mismatch is an internal error. It treats errors
// of h as [ToolHandler] describes.
//
// AddTool returns an error if a type has no schema, if a schema is invalid, or if the server already has a tool of that
// name. Connected clients get a notification of the changed list.
// (specification 2026-07-28, server/tools, "Structured Content" and "Error Handling")
func AddTool[In, Out any](s *Server, t *mcp.Tool, h func(ctx context.Context, in In) (Out, error),
	options ...ToolOption) error {
	if h == nil {
		return errors.New("add tool: no handler")
	}
	added, input, output, err := typedTool[In, Out](t)
	if err != nil {
		return err
	}
	run := func(ctx context.Context, in In) (*mcp.CallToolResult, error) {
		out, err := h(ctx, in)
		if err != nil {
			return nil, err
		}
		return resultOf(ctx, out, output)
	}
	return s.addTool(added, toolOptionsOf(options),
		func(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error) {
			in, err := decodeArguments[In](ctx, input, r.Arguments)
			if err != nil {
				return nil, err
			}
			return run(ctx, in)
		}, func(ctx context.Context, r *CallToolRequest) (taskWork, error) {
			in, err := decodeArguments[In](ctx, input, r.Arguments)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) (*mcp.CallToolResult, error) { return run(ctx, in) }, nil
		})
}

// typedTool returns a copy of t for a function from In to Out, and its compiled schemas.
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

// decodeArguments validates the arguments of a call and decodes them.
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

// fitting fills defaults into the arguments of a call, validates the arguments and returns them.
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

// invalidArguments returns the error for a call with invalid arguments, or the cause of ctx if ctx ended first.
func invalidArguments(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &argumentsError{err}
}

// resultOf returns the result of a tool whose function returned out.
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

// checkOutput validates structured content against the output schema.
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
