package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

func newDescribe(s streams) *cobra.Command {
	var c connection
	return c.suggest(c.command(s, &cobra.Command{
		Use: "describe [flags] TOOL" + behind, Short: "show the arguments of a tool, and a command line to copy",
		Example: "mcpotel describe forecast -- mcpotel serve-demo\n" +
			"mcpotel describe order --json --url https://mcp.example.com/mcp",
	}, c.runDescribe), suggestTools)
}

func (c *connection) runDescribe(ctx context.Context) error {
	given, err := c.one("tool")
	if err != nil {
		return err
	}
	c.spans = []string{"CLIENT " + mcp.MethodListTools}
	return c.observed(ctx, "mcpotel describe", func(ctx context.Context, o *observation) error {
		servers, err := c.openAll(ctx, o)
		if err != nil {
			return err
		}
		defer servers.close()
		client, name, err := c.route(ctx, servers, given)
		if err != nil {
			return err
		}
		tool, err := c.findTool(ctx, client, name)
		if err != nil {
			return c.failed(err)
		}
		d := c.describeTool(ctx, given, tool)
		if c.asJSON {
			return printJSON(c.streams.out, d)
		}
		return d.print(c.streams.out)
	})
}

// description is the output of "describe" for a tool.
type description struct {
	Name        string              `json:"name"` // the name for calls; in a group, the server's name is its prefix
	Title       string              `json:"title,omitzero"`
	Description string              `json:"description,omitzero"`
	Arguments   []argument          `json:"arguments"`
	Open        bool                `json:"additionalArguments"` // the tool accepts arguments beyond Arguments
	Example     string              `json:"example"`
	Guess       bool                `json:"exampleIsIncomplete,omitzero"` // the example does not satisfy the schema
	Hints       mcp.ToolAnnotations `json:"annotations,omitzero"`
}

// argument is one argument of a tool.
type argument struct {
	Name        string            `json:"name"`
	Types       []string          `json:"types"` // empty for any
	Required    bool              `json:"required"`
	Default     json.RawMessage   `json:"default,omitzero"`
	Allowed     []json.RawMessage `json:"allowed,omitzero"`
	Limits      string            `json:"limits,omitzero"`
	Description string            `json:"description,omitzero"`
	Members     []argument        `json:"members,omitzero"` // members of an object, or of the objects in an array
}

// describeTool describes the arguments of a tool by its schema.
func (c *connection) describeTool(ctx context.Context, name string, t *mcp.Tool) *description {
	ps := toolargs.Read(t.InputSchema)
	d := &description{
		Name: name, Title: t.Title, Description: t.Description, Arguments: describeArguments(ps.All, 1),
		Open: ps.Open != nil,
	}
	if t.Annotations != nil {
		d.Hints = *t.Annotations
	}
	words, complete := toolargs.Read(t.InputSchema).Example(ctx, t.InputSchema) // with a budget of its own
	d.Guess = !complete
	d.Example = shellLine(append(append([]string{"call", name}, words...), c.serverWords()...))
	if sessionOf(ctx) == nil {
		d.Example = "mcpotel " + d.Example
	}
	return d
}

// describeArguments describes arguments, or members of objects, at a depth that begins with 1.
func describeArguments(all []*toolargs.Parameter, depth int) []argument {
	const deepest = 5
	list := []argument{}
	for _, p := range all {
		a := argument{
			Name: p.Name, Types: append([]string{}, p.Type...), Required: p.Required, Default: p.Default,
			Allowed: p.Allowed(), Limits: p.Limits(), Description: cmp.Or(p.Description, p.Title),
		}
		members := p.Members()
		if len(members) == 0 && p.Items != nil {
			members = p.Item().Members()
		}
		if len(members) > 0 && depth < deepest {
			a.Members = describeArguments(members, depth+1)
		}
		list = append(list, a)
	}
	return list
}

// print prints the description as text.
func (d *description) print(w io.Writer) error {
	var b strings.Builder
	b.WriteString(visible.Line(d.Name) + "\n")
	for _, text := range []string{d.Title, d.Description} {
		if text != "" {
			b.WriteString("    " + visible.Indented(text) + "\n")
		}
	}
	b.WriteString("\narguments:\n")
	const most = 200
	lines := argumentLines(d.Arguments, "  ")
	for _, line := range lines[:min(len(lines), most)] {
		b.WriteString(line + "\n")
	}
	if more := len(lines) - most; more > 0 {
		b.WriteString(fmt.Sprintf("  and %d more lines; --json prints all\n", more))
	}
	switch {
	case len(d.Arguments) == 0 && !d.Open:
		b.WriteString("  none\n")
	case d.Open:
		b.WriteString("  and other arguments, which the schema does not list\n")
	}
	example := visible.Map([]byte(d.Example), func(rune) rune { return utf8.RuneError })
	b.WriteString("\nexample:\n  " + string(example) + "\n")
	if d.Guess {
		b.WriteString("  (edit the example: it does not satisfy all requirements of the schema)\n")
	}
	return printText(w, strings.TrimSuffix(b.String(), "\n"))
}

// argumentLines returns the lines for arguments and their members.
func argumentLines(all []argument, indent string) (lines []string) {
	for _, a := range all {
		lines = append(lines, indent+visible.Line(a.line()))
		if a.Description != "" {
			lines = append(lines, indent+"    "+visible.Line(a.Description))
		}
		lines = append(lines, argumentLines(a.Members, indent+"  ")...)
	}
	return lines
}

// line describes an argument in one line, for example "days: integer, optional, default 1, from 1 to 7".
func (a *argument) line() string {
	known := []string{cmp.Or(strings.Join(a.Types, " or "), "any type"), "optional"}
	if a.Required {
		known[1] = "required"
	}
	if a.Default != nil {
		known = append(known, "default "+string(a.Default))
	}
	if a.Allowed != nil {
		known = append(known, "one of "+toolargs.Listed(a.Allowed))
	}
	if a.Limits != "" {
		known = append(known, a.Limits)
	}
	return a.Name + ": " + strings.Join(known, ", ")
}

// serverWords returns the arguments that select the same server. It omits values of headers, which may be secrets.
func (c *connection) serverWords() (words []string) {
	if c.remote.url != "" {
		words = append(words, "--url", c.remote.url)
	}
	for _, given := range c.remote.headers.given {
		name, _, _ := strings.Cut(given, "=")
		words = append(words, "--header", name+"=…")
	}
	if c.remote.auth {
		words = append(words, "--auth")
	}
	if c.file.path != "" {
		words = append(words, "--config", c.file.path)
	}
	if c.file.only != "" {
		words = append(words, "--server", c.file.only)
	}
	if len(c.server) > 0 {
		words = append(append(words, "--"), c.server...)
	}
	return words
}

// shellLine joins words into a line that a shell splits into the same words.
func shellLine(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,@%+"
	var quoted []string
	for _, w := range words {
		if w == "" || strings.Trim(w, plain) != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted = append(quoted, w)
	}
	return strings.Join(quoted, " ")
}
