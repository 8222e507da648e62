package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

func newPrompts(s streams) *cobra.Command {
	var c connection
	return c.command(s, &cobra.Command{
		Use: "prompts [flags]" + behind, Short: "list the prompts of a server",
		Example: "mcpotel prompts -- mcpotel serve-demo\nmcpotel prompts --json --config mcp.json",
	}, c.runPrompts)
}

func (c *connection) runPrompts(ctx context.Context) error {
	c.spans = []string{"CLIENT " + mcp.MethodListPrompts}
	return c.list(ctx, "prompts", func(ctx context.Context, one *server) (listing, error) {
		prompts, err := collect(c, one.client.Prompts(ctx))
		return &promptList{one.ofSeveral(), prompts}, err
	})
}

// promptList holds the prompts of a server.
type promptList struct {
	Server  string        `json:"server"` // empty if there is only one server
	Prompts []*mcp.Prompt `json:"prompts"`
}

func (l *promptList) json() any {
	if l.Server == "" {
		return l.Prompts
	}
	return l
}

func (l *promptList) print(w io.Writer, label string) error {
	for _, p := range l.Prompts {
		var arguments []string
		for _, a := range p.Arguments {
			name := a.Name
			if !a.Required {
				name += "?"
			}
			arguments = append(arguments, name)
		}
		if err := printEntry(w, label+p.Name+"("+strings.Join(arguments, ", ")+")", nil, cmp.Or(p.Description, p.Title),
			""); err != nil {
			return err
		}
	}
	return nil
}

func newPrompt(s streams) *cobra.Command {
	var c connection
	return c.suggest(c.command(s, &cobra.Command{
		Use: "prompt [flags] NAME" + argumentsUsage + behind, Short: "show the messages of a prompt",
		Long: aboutPromptArguments,
		Example: "mcpotel prompt pack city=Oslo days=3 -- mcpotel serve-demo\n" +
			`mcpotel prompt pack '{"city":"Oslo"}' --json -- mcpotel serve-demo`,
	}, c.runPrompt, c.saver.flags), suggestPrompts)
}

func (c *connection) runPrompt(ctx context.Context) error {
	if len(c.arguments) == 0 {
		return misuse("the name of the prompt is missing")
	}
	name := c.arguments[0]
	given, err := c.readArguments(c.arguments[1:])
	if err != nil {
		return err
	}
	c.spans = []string{"CLIENT " + mcp.MethodGetPrompt + " " + name}
	return c.observed(ctx, "mcpotel prompt "+name, func(ctx context.Context, o *observation) error {
		one, close, err := c.open(ctx, o)
		if err != nil {
			return err
		}
		defer close()
		arguments, err := given.toPrompt(ctx, one.client, name)
		if err != nil {
			return c.failed(err)
		}
		r, err := one.client.GetPrompt(ctx, name, arguments)
		if err != nil {
			return c.failed(err)
		}
		return c.printPrompt(name, r)
	})
}

// printPrompt prints the messages of a prompt.
func (c *connection) printPrompt(name string, r *mcp.GetPromptResult) error {
	var lines []string
	for _, m := range r.Messages {
		block, err := c.content(name, m.Content)
		if err != nil {
			return err
		}
		lines = append(lines, visible.Line(string(m.Role))+": "+visible.Indented(block))
	}
	if c.asJSON {
		return printJSON(c.streams.out, r)
	}
	for _, line := range lines {
		if err := printText(c.streams.out, line); err != nil {
			return err
		}
	}
	return nil
}
