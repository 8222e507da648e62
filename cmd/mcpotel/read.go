package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

func newRead(s streams) *cobra.Command {
	var c connection
	return c.suggest(c.command(s, &cobra.Command{
		Use: "read [flags] URI" + behind, Short: "read a resource, byte for byte",
		Example: "mcpotel read demo://about -- mcpotel serve-demo\n" +
			"mcpotel read demo://pixel -- mcpotel serve-demo >pixel.png\n" +
			"mcpotel read demo://pixel --output pictures -- mcpotel serve-demo",
	}, c.runRead, c.saver.flags), suggestResources)
}

func (c *connection) runRead(ctx context.Context) error {
	uri, err := c.one("resource")
	if err != nil {
		return err
	}
	c.spans = []string{"CLIENT " + mcp.MethodReadResource}
	return c.observed(ctx, "mcpotel read", func(ctx context.Context, o *observation) error {
		one, close, err := c.open(ctx, o)
		if err != nil {
			return err
		}
		defer close()
		r, err := one.client.ReadResource(ctx, uri)
		if err != nil {
			return c.failed(err)
		}
		if c.saver.dir != "" {
			if err := c.saveContents(r.Contents); err != nil {
				return err
			}
		}
		switch {
		case c.asJSON:
			return printJSON(c.streams.out, r)
		case c.saver.dir != "":
			return nil
		}
		return c.printContents(r.Contents)
	})
}

// saveContents saves all contents, including text, and prints the paths of the files.
func (c *connection) saveContents(contents []*mcp.ResourceContents) error {
	for _, part := range contents {
		saved, err := c.saver.resource("resource", part)
		if err != nil {
			return err
		}
		if c.asJSON {
			c.console.say("%s", saved)
		} else if err := printLine(c.streams.out, saved); err != nil {
			return err
		}
	}
	return nil
}

// printContents prints contents byte for byte, except for binary data on a terminal.
func (c *connection) printContents(contents []*mcp.ResourceContents) error {
	for _, part := range contents {
		if len(contents) > 1 {
			c.console.say("%s %s", part.URI, part.MIMEType)
		}
		data, err := part.Bytes()
		if err != nil {
			return &exitError{exitTool, fmt.Errorf("%s: %w", part.URI, err)}
		}
		switch {
		case !isTerminal(c.streams.out):
			err = printBytes(c.streams.out, data)
		case part.Blob != nil:
			err = printLine(c.streams.out,
				fmt.Sprintf("[%s, %d bytes: binary data, not printed to a terminal]", visible.Line(part.MIMEType), len(data)))
		default:
			err = printText(c.streams.out, string(data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
