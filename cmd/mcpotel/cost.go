package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/contextcost"
)

func newCost(s streams) *cobra.Command {
	var c costCommand
	c.secrets = &c.used.headers
	return c.command(s, &cobra.Command{
		Use: "cost [flags]" + behind, Short: "show how much of a model's context each tool uses",
		Long: "The context of a model holds all tools that it may call: the name, the description and the input\n" +
			"schema of each tool. The bytes are counted in compact JSON. The tokens are estimated for o200k_base; models\n" +
			"with other vocabularies have other counts. With --used, the table has the number of calls of each tool, and\n" +
			"the command prints which tools were never called, and a policy without them.",
		Example: "mcpotel cost -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel cost --config mcp.json --json\n" +
			"mcpotel cost --used http://localhost:9090 --over 4w --url https://mcp.example.com/mcp",
	}, c.run, c.used.flags)
}

// costCommand is one run of the command "cost".
type costCommand struct {
	connection
	used used
}

func (c *costCommand) run(ctx context.Context) error {
	if err := c.none(); err != nil {
		return err
	}
	shell := sessionOf(ctx)
	several := c.file.path != "" && c.file.only == "" || shell != nil && shell.servers.group != nil
	if several && len(c.used.sources) > 0 {
		return misuse("--used needs one server: select it with --server NAME")
	}
	n, err := c.used.count(ctx)
	if err != nil {
		return err
	}
	return c.withTools(ctx, "mcpotel cost", asFarAsListed(func(tools []*mcp.Tool) error {
		costs := costsOf(tools)
		costs.join(n)
		if c.asJSON {
			return printJSON(c.streams.out, costs)
		}
		return costs.print(c.streams.out)
	}))
}

// window is the context size, in tokens, to which costs are compared: the context size of many large models.
const window = 200_000

// toolCosts holds the costs of all tools in a model's context, the largest first.
type toolCosts struct {
	Tools []toolCost `json:"tools"`
	contextcost.Size
	Window      int     `json:"contextWindow"`  // in tokens
	WindowShare float64 `json:"contextShare"`   // the share of the window that all tools use
	Usage       *usage  `json:"usage,omitzero"` // nil without --used
}

type toolCost struct {
	Name string `json:"name"`
	contextcost.Definition
	contextcost.Size
	Share float64 `json:"share"`          // share of the tokens of all tools
	Calls *int64  `json:"calls,omitzero"` // number of calls; nil without --used
}

func costsOf(tools []*mcp.Tool) *toolCosts {
	all := &toolCosts{Tools: []toolCost{}, Window: window}
	for _, t := range tools {
		d := contextcost.Of(t)
		all.Tools = append(all.Tools, toolCost{Name: t.Name, Definition: d, Size: d.Total()})
		all.Size = all.Plus(d.Total())
	}
	for i := range all.Tools {
		t := &all.Tools[i]
		t.Share = float64(t.EstimatedTokens) / float64(all.EstimatedTokens)
	}
	all.WindowShare = float64(all.EstimatedTokens) / window
	slices.SortStableFunc(all.Tools, func(a, b toolCost) int {
		return cmp.Or(-cmp.Compare(a.EstimatedTokens, b.EstimatedTokens), -cmp.Compare(a.Bytes, b.Bytes))
	})
	return all
}

// print prints a table. The names are in the last column, because their width varies.
func (all *toolCosts) print(w io.Writer) error {
	var description, schema int
	line := func(tokens, share, bytes, description, schema, tool any) error {
		return printLine(w, fmt.Sprintf("%7v  %7v  %8v  %11v  %8v  %v", tokens, share, bytes, description, schema, tool))
	}
	if all.Usage != nil {
		return all.printUsed(w)
	}
	if err := line("~tokens", "share", "bytes", "description", "schema", "tool"); err != nil {
		return err
	}
	for _, t := range all.Tools {
		description += t.Description.Bytes
		schema += t.InputSchema.Bytes
		if err := line(t.EstimatedTokens, percent(t.Share), t.Bytes, t.Description.Bytes, t.InputSchema.Bytes,
			visible.Line(t.Name)); err != nil {
			return err
		}
	}
	return line(all.EstimatedTokens, "", all.Bytes, description, schema,
		fmt.Sprintf("total: %s of a context of %d tokens", percent(all.WindowShare), all.Window))
}

// printUsed prints the table with the numbers of calls.
func (all *toolCosts) printUsed(w io.Writer) error {
	line := func(tokens, share, calls, tool any) error {
		return printLine(w, fmt.Sprintf("%7v  %7v  %8v  %v", tokens, share, calls, tool))
	}
	if err := line("~tokens", "share", "calls", "tool"); err != nil {
		return err
	}
	for _, t := range all.Tools {
		if err := line(t.EstimatedTokens, percent(t.Share), *t.Calls, visible.Line(t.Name)); err != nil {
			return err
		}
	}
	err := line(all.EstimatedTokens, "", "", fmt.Sprintf("total: %s of a context of %d tokens", percent(all.WindowShare),
		all.Window))
	return errors.Join(err, all.Usage.print(w))
}

func percent(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }
