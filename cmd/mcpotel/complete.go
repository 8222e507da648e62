package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

func newComplete(s streams) *cobra.Command {
	var c connection
	return c.suggest(c.command(s, &cobra.Command{
		Use:   "complete [flags] (PROMPT | TEMPLATE) ARGUMENT=BEGINNING [OTHER=VALUE...]" + behind,
		Short: "complete an argument of a prompt, or a variable of a template",
		Example: "mcpotel complete pack city=Os -- mcpotel serve-demo\n" +
			"mcpotel complete 'demo://forecast/{city}' city=B --json -- mcpotel serve-demo",
	}, c.runComplete), suggestPrompts)
}

func (c *connection) runComplete(ctx context.Context) error {
	if len(c.arguments) < 2 {
		return misuse("complete: want the name of a prompt or a resource template, and ARGUMENT=BEGINNING")
	}
	settled, err := c.assignments(c.arguments[1:])
	if err != nil {
		return err
	}
	argument, beginning, _ := strings.Cut(c.arguments[1], "=")
	delete(settled, argument)
	ref := reference(c.arguments[0])
	return c.observed(ctx, "mcpotel complete", func(ctx context.Context, o *observation) error {
		one, close, err := c.open(ctx, o)
		if err != nil {
			return err
		}
		defer close()
		r, err := one.client.Complete(ctx, ref, mcp.CompleteArgument{Name: argument, Value: beginning}, settled)
		if err != nil {
			return c.failed(err)
		}
		return c.printCompletion(&r.Completion)
	})
}

// reference returns the reference to a resource template if the text contains "://" or "{", and otherwise the reference
// to a prompt.
func reference(to string) mcp.CompleteRef {
	if strings.Contains(to, "://") || strings.Contains(to, "{") {
		return mcp.CompleteRef{Type: mcp.RefResource, URI: to}
	}
	return mcp.CompleteRef{Type: mcp.RefPrompt, Name: to}
}

func (c *connection) printCompletion(found *mcp.Completion) error {
	if c.asJSON {
		return printJSON(c.streams.out, found)
	}
	for _, v := range found.Values {
		if err := printLine(c.streams.out, visible.Line(v)); err != nil {
			return err
		}
	}
	switch {
	case found.Total != nil && *found.Total > int64(len(found.Values)):
		c.console.say("%d of %d values are shown", len(found.Values), *found.Total)
	case found.HasMore:
		c.console.say("the server has more values")
	}
	return nil
}
