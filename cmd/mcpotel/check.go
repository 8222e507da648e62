package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/userfile"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
)

// check is one run of the command "check".
type check struct {
	connection
	path   string // path of the baseline
	update bool
	text   []byte // text of the baseline when it was read; nil if there was no file
}

func newCheck(s streams) *cobra.Command {
	var c check
	return c.command(s, &cobra.Command{
		Use: "check --baseline FILE [flags]" + behind, Short: "show which tools have changed since a baseline",
		Long: "A server may change a tool after people have approved it. A baseline contains a fingerprint of each tool: " +
			"of\nits title, description, schemas and annotations, without their text. The exit code is 1 if tools have " +
			"been\nadded, removed or changed since. With --update the baseline is written instead, and the exit code is 0.",
		Example: "mcpotel check --baseline tools.json --update -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel check --baseline tools.json -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel check --baseline tools.json --config mcp.json --json",
	}, c.run, func(f *pflag.FlagSet) {
		f.StringVar(&c.path, "baseline", "", "compare with the fingerprints in this `FILE`")
		f.BoolVar(&c.update, "update", false, "write the baseline, and print the changes since the previous baseline")
	})
}

func (c *check) run(ctx context.Context) error {
	if err := c.none(); err != nil {
		return err // a surplus argument is reported before a missing baseline
	}
	before, err := c.baseline()
	if err != nil {
		return err
	}
	return c.withTools(ctx, "mcpotel check", func(tools []*mcp.Tool, err error) error {
		if err != nil {
			return err // an incomplete list would show tools as removed
		}
		return c.compare(before, drift.ToolsOf(tools))
	})
}

// baseline reads the baseline, before any server starts. It returns nil if there is no file and --update is given.
func (c *check) baseline() (drift.Tools, error) {
	if c.path == "" {
		return nil, misuse("no baseline: give --baseline FILE, and --update to write it")
	}
	var err error
	c.text, _, err = userfile.Read(c.path, userfile.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.update:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, misuse("--baseline: %w; --update writes it", err)
	case err != nil:
		return nil, misuse("--baseline: %w", err)
	}
	before, err := drift.ParseBaseline(c.text)
	if err != nil {
		return nil, misuse("--baseline: %s: %w", c.path, err)
	}
	return before, nil
}

// checked is the result of a check.
type checked struct {
	Tools   int            `json:"tools"` // number of tools that the servers list now
	Changes []drift.Change `json:"changes"`
}

func (c *check) compare(before, now drift.Tools) error {
	found := checked{len(now), []drift.Change{}}
	if before != nil {
		found.Changes = append(found.Changes, drift.Compare(before, now)...)
	}
	if err := c.print(found); err != nil {
		return err
	}
	switch {
	case c.update:
		text, err := now.Baseline()
		if err != nil {
			return err
		}
		err = userfile.Change(c.path, 0, func(now []byte) ([]byte, error) {
			if !bytes.Equal(now, c.text) && !bytes.Equal(now, text) {
				return nil, userfile.ErrChanged
			}
			return text, nil
		})
		if err != nil {
			return misuse("--baseline: %s: %w", c.path, err)
		}
		return nil
	case len(found.Changes) > 0:
		return &exitError{exitTool, fmt.Errorf("%s different from %s; if the change is intended, --update writes a new "+
			"baseline",
			areTools(len(found.Changes)), c.path)}
	}
	return nil
}

func (c *check) print(found checked) error {
	if c.asJSON {
		return printJSON(c.streams.out, found)
	}
	for _, change := range found.Changes {
		line := fmt.Sprintf("%-7s  %s", change.Kind, visible.Line(change.Tool))
		var parts []string
		for _, part := range change.Parts {
			parts = append(parts, strings.ReplaceAll(string(part), "_", " "))
		}
		if parts != nil {
			line += ": " + strings.Join(parts, ", ")
		}
		if err := printLine(c.streams.out, line); err != nil {
			return err
		}
	}
	switch {
	case c.update:
		return printLine(c.streams.out, fmt.Sprintf("%s in %s", areTools(found.Tools), c.path))
	case len(found.Changes) == 0:
		return printLine(c.streams.out, fmt.Sprintf("%s the same as in %s", areTools(found.Tools), c.path))
	}
	return nil
}

func areTools(n int) string {
	if n == 1 {
		return "1 tool is"
	}
	return fmt.Sprintf("%d tools are", n)
}
