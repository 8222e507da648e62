package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// promptsUsage and promptUsage are the arguments of "prompts" and "prompt".
const (
	promptsUsage = "[flags]" + behind
	promptUsage  = "[flags] NAME [ARGUMENT=VALUE...]" + behind
)

func runPrompts(ctx context.Context, s streams, args []string) error {
	var c connection
	if err := c.parse(s, "prompts", promptsUsage, args); err != nil {
		return err
	}
	c.spans = []string{"CLIENT " + mcp.MethodListPrompts}
	return c.list(ctx, "prompts", func(ctx context.Context, one *server) (listing, error) {
		prompts, err := collect(one.client.Prompts(ctx))
		return &promptList{one.ofSeveral(), prompts}, err
	})
}

// promptList are the prompts of a server.
type promptList struct {
	Server  string        `json:"server"` // empty if there is only one
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

func runPrompt(ctx context.Context, s streams, args []string) error {
	var c connection
	if err := c.parse(s, "prompt", promptUsage, args); err != nil {
		return err
	}
	if len(c.arguments) == 0 {
		return misuse("which prompt?")
	}
	name := c.arguments[0]
	arguments, err := c.assignments(c.arguments[1:])
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
		r, err := one.client.GetPrompt(ctx, name, arguments)
		if err != nil {
			return c.failed(err)
		}
		if c.asJSON {
			return printJSON(s.out, r)
		}
		for _, m := range r.Messages {
			if err := printText(s.out, visible.Line(string(m.Role))+": "+visible.Indented(describe(m.Content))); err != nil {
				return err
			}
		}
		return nil
	})
}
