package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// callUsage and toolsUsage are the arguments of the two commands.
const (
	callUsage  = "[flags] (--url URL TOOL ['{json}'] | TOOL ['{json}'] -- COMMAND [ARG...])"
	toolsUsage = "[flags] (--url URL | -- COMMAND [ARG...])"
)

func runCall(ctx context.Context, s streams, args []string) error {
	var c connection
	if err := c.parse(s, "call", callUsage, args); err != nil {
		return err
	}
	tool, arguments, err := c.callArguments()
	if err != nil {
		return err
	}
	o, err := observe(ctx, "mcpotel", c.level(), s.err, c.trace)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	spanCtx, span := o.start(ctx, "mcpotel call "+tool)
	result, err := c.callTool(spanCtx, o, s.err, tool, arguments)
	span.End()
	if err == nil {
		err = printResult(s, result, c.asJSON)
	}
	if c.trace {
		drawErr := o.draw(ctx, s.err, span, has("INTERNAL mcpotel call "+tool, "CLIENT tools/call "+tool))
		if drawErr != nil && err == nil {
			err = drawErr
		}
	}
	return err
}

// callArguments reads the name of the tool and its arguments.
func (c *connection) callArguments() (tool string, arguments any, err error) {
	switch args := c.arguments; len(args) {
	case 0:
		return "", nil, misuse("which tool?")
	case 1:
		return args[0], nil, nil
	case 2:
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args[1]), &object); err != nil || object == nil {
			return "", nil, misuse("the arguments are not a JSON object: %s", args[1])
		}
		return args[0], json.RawMessage(args[1]), nil
	default:
		return "", nil, fmt.Errorf("%w; the tool's arguments are one JSON object", c.unexpected(args[2]))
	}
}

func (c *connection) callTool(ctx context.Context, o *observation, stderr io.Writer, tool string, arguments any) (*mcp.CallToolResult, error) {
	client, close, err := c.open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer close()
	line := newProgressLine(stderr)
	defer line.clear()
	result, err := client.CallTool(ctx, tool, arguments, mcpclient.WithProgress(line.show))
	if err != nil {
		return nil, c.failed(err)
	}
	return result, nil
}

// printResult prints a result for people or for programs. A tool's error goes to standard error and makes the exit code.
func printResult(s streams, r *mcp.CallToolResult, asJSON bool) error {
	if asJSON {
		if err := printJSON(s.out, r); err != nil {
			return err
		}
		if r.IsError {
			return &exitError{code: exitTool}
		}
		return nil
	}
	w := s.out
	if r.IsError {
		fmt.Fprintln(s.err, "mcpotel: the tool reports an error:")
		w = s.err
	}
	for _, block := range r.Content {
		if _, err := fmt.Fprintln(w, describe(block)); err != nil {
			return err
		}
	}
	if len(r.Content) == 0 && r.StructuredContent != nil {
		if err := printJSON(w, r.StructuredContent); err != nil {
			return err
		}
	}
	if r.IsError {
		return &exitError{code: exitTool}
	}
	return nil
}
