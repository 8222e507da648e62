package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func newTools(s streams) *cobra.Command {
	var c connection
	return c.command(s, &cobra.Command{
		Use: "tools [flags]" + behind, Short: "list the tools of a server",
		Example: "mcpotel tools -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel tools --url https://mcp.example.com/mcp --auth\nmcpotel tools --config mcp.json --json\n" +
			"mcpotel tools --chaos plan.yaml --url https://mcp.example.com/mcp",
	}, c.runTools, c.chaos.flags)
}

func (c *connection) runTools(ctx context.Context) error {
	return c.withTools(ctx, "mcpotel tools", asFarAsListed(func(tools []*mcp.Tool) error {
		return printTools(c.streams.out, tools, c.asJSON)
	}))
}

// asFarAsListed returns a function that calls show if at least one server has listed its tools. The function also
// returns the errors of the other servers.
func asFarAsListed(show func([]*mcp.Tool) error) func([]*mcp.Tool, error) error {
	return func(tools []*mcp.Tool, err error) error {
		if err != nil && len(tools) == 0 {
			return err
		}
		return errors.Join(err, show(tools))
	}
}

// withTools connects, under a span with this name, and calls use with the tools of all servers and the joined errors.
func (c *connection) withTools(ctx context.Context, span string, use func([]*mcp.Tool, error) error) error {
	if err := c.none(); err != nil {
		return err
	}
	return c.observed(ctx, span, func(ctx context.Context, o *observation) error {
		servers, err := c.openAll(ctx, o)
		if err != nil {
			return err
		}
		defer servers.close()
		return use(c.tools(ctx, servers))
	})
}

// tools returns the tools of all servers, and the joined errors of servers that failed.
func (c *connection) tools(ctx context.Context, s *servers) ([]*mcp.Tool, error) {
	if s.group == nil {
		tools, err := collect(c, s.all[0].client.Tools(ctx))
		if err != nil {
			return nil, c.failed(err)
		}
		return tools, nil
	}
	tools := []*mcp.Tool{}
	var failed []error
	for t, err := range shown(c, s.group.Tools(ctx, mcpclient.WaitForReady())) {
		if err != nil {
			failed = append(failed, c.failed(err))
			continue
		}
		tools = append(tools, &t.Tool)
	}
	s.wait.end()
	return tools, together(failed)
}

func printTools(w io.Writer, tools []*mcp.Tool, asJSON bool) error {
	if asJSON {
		return printJSON(w, tools)
	}
	for _, t := range tools {
		if err := printLine(w, visible.Line(t.Name+signature(t.InputSchema))); err != nil {
			return err
		}
		if line := visible.FirstLine(t.Description); line != "" {
			if err := printLine(w, "    "+line); err != nil {
				return err
			}
		}
	}
	return nil
}

// signature returns the arguments of a schema in the form (city string, days? integer).
func signature(raw json.RawMessage) string {
	var arguments []string
	for _, p := range toolargs.Read(raw).All {
		argument := p.Name
		if !p.Required {
			argument += "?"
		}
		if len(p.Type) > 0 {
			argument += " " + strings.Join(p.Type, "|")
		}
		arguments = append(arguments, argument)
	}
	return "(" + strings.Join(arguments, ", ") + ")"
}
