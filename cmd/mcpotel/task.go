package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// startTool calls a tool and, if the server makes the call a task, hands it over.
func (c *connection) startTool(ctx context.Context, client *mcpclient.Client, tool string, arguments any) error {
	task, err := client.StartTool(ctx, tool, arguments, mcpclient.WithProgress(c.console.progress))
	if err != nil {
		return c.failed(err)
	}
	if task.ID() == "" {
		c.console.say("the server has answered at once, without a task")
		result, err := task.Wait(ctx)
		if err != nil {
			return c.failed(err)
		}
		return c.printResult(tool, result)
	}
	if len(c.server) > 0 {
		c.console.say("the task is lost unless the server keeps it: this one ends with this command")
	}
	if c.asJSON {
		return printJSON(c.streams.out, task.Status())
	}
	return printLine(c.streams.out, visible.Line(task.ID()))
}

// taskStatus returns what shows how far a task is, whenever that changes.
func (c *connection) taskStatus() mcpclient.CallOption {
	var shown string
	return mcpclient.WithTaskStatus(func(t mcp.Task) {
		if line := statusLine(&t); line != shown {
			shown = line
			c.console.say("task %s", line)
		}
	})
}

// statusLine shows a task without its id, which may be all it takes to see what the task brings.
func statusLine(t *mcp.Task) string {
	if message := visible.FirstLine(t.StatusMessage); message != "" {
		return visible.Line(string(t.Status)) + ": " + message
	}
	return visible.Line(string(t.Status))
}

func newTask(s streams) *cobra.Command {
	const want = "task: want get, wait or cancel first"
	task := &cobra.Command{
		Use:     "task (get | wait | cancel) [flags] ID" + behind,
		Short:   "look at a call that goes on, wait for its outcome, or cancel it",
		Long:    "The ID is what \"mcpotel call --task\" prints.",
		Example: "mcpotel task wait --url https://mcp.example.com/mcp 786512e2",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(*cobra.Command, []string) error { return misuse(want) },
	}
	for _, verb := range []struct {
		name, short string
		do          func(c *connection, ctx context.Context, client *mcpclient.Client, id string) error
	}{
		{"get", "say how far a task is", (*connection).getTask},
		{"wait", "wait for the outcome of a task, and print it", (*connection).waitTask},
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

// onTask does something with the task that the arguments name.
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
