package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

const (
	rounds = 5
	warm   = 100 // calls before the measured one; after them, the client no longer treats tools as new
)

// start starts the server, which is another process of this program. It returns a transport to the server, and a
// function that stops the server.
func start(ctx context.Context, over string) (server transport.Transport, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if over == "stdio" {
		return transport.Stdio{Command: self, Args: []string{"-serve", "stdio"}}, func() error { return nil }, nil
	}
	cmd := exec.CommandContext(ctx, self, "-serve", over)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe() // closing it ends the server
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() error { in.Close(); return cmd.Wait() }
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("the server did not print its URL: %w", err)
	}
	return &transport.HTTP{URL: strings.TrimSpace(url)}, stop, nil
}

// travel makes the rounds. Each round has a tool of its own, because the server no longer trusts a tool to be quick
// after the tool has written counters.
//
// The work after a call is the same as the work after the call before it. So each round covers all work of one call,
// although the counters may be written before all work after the measured call is done.
func travel(ctx context.Context, server transport.Transport, version mcp.Version, out string, p probe) error {
	c, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Versions: []mcp.Version{version}})
	if err != nil {
		return err
	}
	defer c.Close()
	for round := range rounds {
		dir := func(end string) string { return filepath.Join(out, end, strconv.Itoa(round+1)) }
		calls := caller{ctx, c, toolName(round)}
		for _, step := range []func() error{
			calls.warm, p.clear, calls.plain, func() error { return p.write(dir("client")) },
			calls.warm, func() error { return calls.probe(clearing) }, func() error { return calls.probe(dir("server")) },
		} {
			if err := step(); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
	}
	return nil
}

// A caller calls one tool.
type caller struct {
	ctx  context.Context // parent of all calls
	c    *mcpclient.Client
	tool string
}

func (c caller) warm() error {
	for range warm {
		if err := c.plain(); err != nil {
			return err
		}
	}
	return nil
}

func (c caller) plain() error { return c.call(map[string]any{"text": "hello"}) }

func (c caller) probe(what string) error {
	return c.call(map[string]any{"text": "hello", "probe": what})
}

func (c caller) call(arguments map[string]any) error {
	result, err := c.c.CallTool(c.ctx, c.tool, arguments)
	if err == nil && result.IsError {
		err = fmt.Errorf("the tool failed: %v", result.Content)
	}
	return err
}
