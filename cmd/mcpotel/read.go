package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"

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
		data, err := bytesOf(part)
		if err != nil {
			return &exitError{exitTool, fmt.Errorf("%s: %w", part.URI, err)}
		}
		text := string(data)
		switch {
		case !isTerminal(c.streams.out):
		case part.Blob != nil:
			text = fmt.Sprintf("[%s, %d bytes: not for a terminal]\n", clean(part.MIMEType), len(data))
		default:
			text = clean(text) + "\n"
		}
		if _, err := io.WriteString(c.streams.out, text); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns the contents as they are, without the encoding that the protocol needs.
func bytesOf(part *mcp.ResourceContents) ([]byte, error) {
	if part.Blob == nil {
		return []byte(part.Text), nil
	}
	return base64.StdEncoding.DecodeString(*part.Blob)
}
