package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

func runTools(ctx context.Context, s streams, args []string) error {
	var c connection
	if err := c.parse(s, "tools", toolsUsage, args); err != nil {
		return err
	}
	if len(c.arguments) > 0 {
		return c.unexpected(c.arguments[0])
	}
	o, err := observe(ctx, "mcpotel", c.level(), s.err, c.trace)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	spanCtx, span := o.start(ctx, "mcpotel tools")
	tools, err := c.listTools(spanCtx, o)
	span.End()
	if err == nil {
		err = printTools(s.out, tools, c.asJSON)
	}
	if c.trace {
		if drawErr := o.draw(ctx, s.err, span, has("INTERNAL mcpotel tools")); drawErr != nil && err == nil {
			err = drawErr
		}
	}
	return err
}

func (c *connection) listTools(ctx context.Context, o *observation) ([]*mcp.Tool, error) {
	client, close, err := c.open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer close()
	tools := []*mcp.Tool{}
	for t, err := range client.Tools(ctx) {
		if err != nil {
			return nil, c.failed(err)
		}
		tools = append(tools, t)
	}
	return tools, nil
}

func printTools(w io.Writer, tools []*mcp.Tool, asJSON bool) error {
	if asJSON {
		return printJSON(w, tools)
	}
	for _, t := range tools {
		if _, err := fmt.Fprintf(w, "%s\n", clean(t.Name+signature(t.InputSchema))); err != nil {
			return err
		}
		if line := firstLine(t.Description); line != "" {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	return nil
}

// signature shows the arguments that a schema describes: (city string, days? integer).
func signature(raw json.RawMessage) string {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return ""
	}
	var arguments []string
	for name, p := range schema.Properties {
		if !slices.Contains(schema.Required, name) {
			name += "?"
		}
		if t, ok := p.Type.(string); ok {
			name += " " + t
		}
		arguments = append(arguments, name)
	}
	slices.SortFunc(arguments, func(a, b string) int { // what is required first
		if ra, rb := strings.Contains(a, "?"), strings.Contains(b, "?"); ra != rb {
			if ra {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return "(" + strings.Join(arguments, ", ") + ")"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return clean(line)
}
