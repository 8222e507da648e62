package main

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// readUsage are the arguments of "read".
const readUsage = "[flags] URI" + behind

func runRead(ctx context.Context, s streams, args []string) error {
	var c connection
	if err := c.parse(s, "read", readUsage, args); err != nil {
		return err
	}
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
		if c.asJSON {
			return printJSON(s.out, r)
		}
		return c.printContents(r.Contents)
	})
}

// printContents prints what was read, byte for byte unless it goes to a terminal.
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
				fmt.Sprintf("[%s, %d bytes: not for a terminal]", visible.Line(part.MIMEType), len(data)))
		default:
			err = printText(c.streams.out, string(data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
