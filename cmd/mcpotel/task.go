package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// startTool calls a tool. If the server makes the call a task, startTool prints the task's id.
func (c *connection) startTool(ctx context.Context, client *mcpclient.Client, tool string, arguments any) error {
	task, err := client.StartTool(ctx, tool, arguments, mcpclient.WithProgress(c.console.progress))
	if err != nil {
		return c.failed(err)
	}
	if task.ID() == "" {
		c.console.say("the server answered immediately, without a task")
		result, err := task.Wait(ctx)
		if err != nil {
			return c.failed(err)
		}
		return c.printResult(tool, result)
	}
	if len(c.server) > 0 {
		c.console.say("the server ends with this command, and so does the task unless the server stores tasks")
	}
	if c.asJSON {
		return printJSON(c.streams.out, task.Status())
	}
	return printLine(c.streams.out, visible.Line(task.ID()))
}

// taskStatus returns an option that shows the state of a task whenever it changes.
func (c *connection) taskStatus() mcpclient.CallOption {
	var shown string
	return mcpclient.WithTaskStatus(func(t mcp.Task) {
		if line := statusLine(&t); line != shown {
			shown = line
			c.console.say("task %s", line)
		}
	})
}

// statusLine returns the state of a task without its id, because the id may be enough to read the task's result.
func statusLine(t *mcp.Task) string {
	if message := visible.FirstLine(t.StatusMessage); message != "" {
		return visible.Line(string(t.Status)) + ": " + message
	}
	return visible.Line(string(t.Status))
}

func newTask(s streams) *cobra.Command {
	const want = "task: want get, wait or cancel"
	task := &cobra.Command{
		Use:     "task (get | wait | cancel) [flags] ID" + behind,
		Short:   "show the state of a task, wait for its result, or cancel it",
		Long:    "\"mcpotel call --task\" prints the ID.",
		Example: "mcpotel task wait --url https://mcp.example.com/mcp 786512e2",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(*cobra.Command, []string) error { return misuse(want) },
	}
	for _, verb := range []struct {
		name, short string
		do          func(c *connection, ctx context.Context, client *mcpclient.Client, id string) error
	}{
		{"get", "show the state of a task", (*connection).getTask},
		{"wait", "wait for the result of a task, and print it", (*connection).waitTask},
		{"cancel", "cancel a task", (*connection).cancelTask},
	} {
		var c connection
		var own []func(*pflag.FlagSet)
		if verb.name == "wait" {
			own = append(own, c.saver.flags)
		}
		task.AddCommand(c.command(s, &cobra.Command{
			Use: verb.name + " [flags] ID" + behind, Short: verb.short,
			Example: "mcpotel task " + verb.name + " --url https://mcp.example.com/mcp 786512e2",
		}, func(ctx context.Context) error { return c.onTask(ctx, verb.name, verb.do) }, own...))
	}
	return task
}

// onTask connects, and calls do with the id of the task from the arguments.
func (c *connection) onTask(ctx context.Context, verb string,
	do func(c *connection, ctx context.Context, client *mcpclient.Client, id string) error) error {
	id, err := c.one("task")
	if err != nil {
		return err
	}
	return c.observed(ctx, "mcpotel task "+verb, func(ctx context.Context, o *observation) error {
		one, close, err := c.open(ctx, o)
		if err != nil {
			return err
		}
		defer close()
		if err := do(c, ctx, one.client, id); err != nil {
			return c.failed(err)
		}
		return nil
	})
}

func (c *connection) getTask(ctx context.Context, client *mcpclient.Client, id string) error {
	now, err := client.ResumeTask(id).Poll(ctx)
	if err != nil {
		return err
	}
	if c.asJSON {
		return printJSON(c.streams.out, now)
	}
	return printLine(c.streams.out, statusLine(&now.Task))
}

func (c *connection) waitTask(ctx context.Context, client *mcpclient.Client, id string) error {
	result, err := client.ResumeTask(id, c.taskStatus()).Wait(ctx)
	if err != nil {
		return err
	}
	return c.printResult("task", result)
}

func (c *connection) cancelTask(ctx context.Context, client *mcpclient.Client, id string) error {
	return client.ResumeTask(id).Cancel(ctx)
}
