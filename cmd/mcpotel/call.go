package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// callCommand is one run of the command "call".
type callCommand struct {
	connection
	log  logFlag
	hand bool // print the id of the task instead of waiting for its result
}

func newCall(s streams) *cobra.Command {
	var c callCommand
	return c.suggest(c.command(s, &cobra.Command{
		Use: "call [flags] TOOL" + argumentsUsage + behind, Short: "call a tool of a server", Long: aboutToolArguments,
		Example: `mcpotel call forecast city=Oslo days=3 -- mcpotel serve-demo
mcpotel call --server shop order to.city=Oslo 'lines[0].qty=2' note=@note.txt
mcpotel call echo '{"message":"hi"}' -- npx -y @modelcontextprotocol/server-everything
mcpotel call --url https://mcp.example.com/mcp search '{"q":"tracer"}'
mcpotel call --trace forecast '{"city":"Oslo"}' -- mcpotel serve-demo
mcpotel call --chaos plan.yaml forecast city=Oslo -- mcpotel serve-demo
mcpotel call show --output pictures -- mcpotel serve-demo
mcpotel call --config mcp.json github_search_issues '{"q":"is:open"}'`,
	}, c.run, c.log.flags, c.saver.flags, c.chaos.flags, c.record.flags, c.audit.flags, func(f *pflag.FlagSet) {
		f.BoolVar(&c.hand, "task", false,
			"if the server makes the call a task, print its id for \"mcpotel task\" and do not wait")
	}), suggestCall)
}

func (c *callCommand) run(ctx context.Context) error {
	if len(c.arguments) == 0 {
		return misuse("the name of the tool is missing")
	}
	tool := c.arguments[0]
	given, err := c.readArguments(c.arguments[1:])
	if err != nil {
		return err
	}
	c.adapt = c.log.hear(c.console)
	return c.observed(ctx, "mcpotel call "+tool, func(ctx context.Context, o *observation) error {
		servers, err := c.openAll(ctx, o)
		if err != nil {
			return err
		}
		defer servers.close()
		client, tool, err := c.route(ctx, servers, tool)
		if err != nil {
			return err
		}
		arguments, err := given.toTool(ctx, &c.connection, client, tool)
		if err != nil {
			return c.failed(err)
		}
		c.spans = []string{"CLIENT tools/call " + tool}
		if err := c.log.set(ctx, client); err != nil {
			return c.failed(err)
		}
		if c.hand {
			return c.startTool(ctx, client, tool, arguments)
		}
		return c.callTool(ctx, client, tool, arguments)
	})
}

// route finds the server of a tool and the tool's name on that server, and waits until that server is connected.
func (c *connection) route(ctx context.Context, s *servers, tool string) (*mcpclient.Client, string, error) {
	if s.group == nil {
		return s.all[0].client, tool, nil
	}
	client, own, err := s.group.Route(ctx, tool, mcpclient.WaitForReady())
	if err == nil {
		err = c.connecting(ctx, client.WaitForReady)
	}
	s.wait.end()
	switch {
	case errors.Is(err, mcpclient.ErrNoMember):
		return nil, "", c.noTool(ctx, s, tool)
	case err != nil:
		return nil, "", c.failed(err)
	}
	return client, own, nil
}

// noTool is the error for a tool that no server of the group has. The error lists the tools of the servers that answer.
func (c *connection) noTool(ctx context.Context, s *servers, name string) error {
	tools, _ := c.tools(ctx, s) // a server that fails contributes no tools
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return unknownTool(name, names)
}

func (c *connection) callTool(ctx context.Context, client *mcpclient.Client, tool string, arguments any) error {
	ctx, options, done := c.pausable(ctx, client)
	defer done()
	options = append(options, mcpclient.WithProgress(c.console.progress), c.taskStatus())
	result, err := client.CallTool(ctx, tool, arguments, options...)
	for range visits {
		again, refused := c.visitAll(ctx, err)
		if refused != nil {
			return refused
		}
		if !again {
			break
		}
		result, err = client.CallTool(ctx, tool, arguments, options...)
	}
	if err != nil {
		return c.failed(c.unlisted(ctx, client, tool, err))
	}
	return c.printResult(tool, result)
}

// content returns the text for a block of content: a description, or the path of the saved file. With --json, standard
// output contains only the result, so content also prints the path to standard error.
func (c *connection) content(name string, content mcp.Content) (string, error) {
	saved, err := c.saver.content(name, content)
	if saved == "" || err != nil {
		return describe(content), err
	}
	if c.asJSON {
		c.console.say("%s", saved)
	}
	return saved, nil
}

// printResult prints a result as text or as JSON. If the tool reports an error, the text goes to standard error and the
// exit code is exitTool.
func (c *connection) printResult(name string, r *mcp.CallToolResult) error {
	c.console.clear()
	blocks, err := c.described(name, r)
	if err != nil {
		return err
	}
	if c.asJSON {
		if err := printJSON(c.streams.out, r); err != nil {
			return err
		}
		if r.IsError {
			return &exitError{code: exitTool}
		}
		return nil
	}
	if r.IsError {
		c.console.say("the tool reported an error:\n%s", strings.Join(blocks, "\n"))
		return &exitError{code: exitTool}
	}
	for _, block := range blocks {
		if err := printText(c.streams.out, block); err != nil {
			return err
		}
	}
	return nil
}

// described returns the text of each block of a result, or the structured content if there are no blocks. It saves
// files if --output is given.
func (c *connection) described(name string, r *mcp.CallToolResult) (blocks []string, err error) {
	for _, content := range r.Content {
		block, err := c.content(name, content)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 && r.StructuredContent != nil {
		var b strings.Builder
		err = printJSON(&b, r.StructuredContent)
		blocks = append(blocks, strings.TrimSuffix(b.String(), "\n"))
	}
	return blocks, err
}
