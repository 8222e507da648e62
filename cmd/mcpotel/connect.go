package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// connection is what "tools" and "call" have in common: their flags, and the server they talk to.
type connection struct {
	asJSON, trace, verbose bool
	timeout                time.Duration
	pin                    string
	remote                 remote

	arguments []string // before --
	server    []string // after --, or none with a URL
	stderr    io.Writer
}

// parse reads the flags and divides the arguments at "--".
func (c *connection) parse(s streams, name, arguments string, args []string) error {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(s.err)
	c.stderr = s.err
	f.Usage = func() {
		fmt.Fprintf(s.err, "usage: mcpotel %s %s\n", name, arguments)
		f.PrintDefaults()
	}
	f.BoolVar(&c.asJSON, "json", false, "print the result as JSON, for programs")
	f.BoolVar(&c.trace, "trace", false, "draw the call's trace, client and server")
	f.BoolVar(&c.verbose, "v", false, "log everything the client does, and what the server writes to standard error")
	f.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long to wait for each answer")
	f.StringVar(&c.pin, "pin-version", "", "speak this `version` of the protocol only")
	c.remote.flags(f)
	if end := slices.Index(args, "--"); end >= 0 {
		args, c.server = args[:end], args[end+1:]
	}
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return &exitError{code: exitOK}
		}
		return &exitError{code: exitUsage}
	}
	c.arguments = f.Args()
	switch {
	case c.remote.url == "" && len(c.server) == 0:
		return misuse("no server: give --url URL, or end the arguments with -- COMMAND [ARG...]")
	case c.remote.url != "" && len(c.server) > 0:
		return misuse("two servers: give either --url URL or -- COMMAND [ARG...]")
	}
	return c.remote.check()
}

// unexpected is the error for an argument too many. It does not quote what may be the rest of a header.
func (c *connection) unexpected(argument string) error {
	if len(c.remote.headers) > 0 {
		return misuse("unexpected argument; quote a header whose value has spaces")
	}
	return misuse("unexpected argument %q", argument)
}

// level is what the console shows.
func (c *connection) level() slog.Level {
	if c.verbose {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// open connects to the server. close ends the connection and all that belongs to it.
func (c *connection) open(ctx context.Context, o *observation) (_ *mcpclient.Client, close func(), _ error) {
	options, err := c.options(o)
	if err != nil {
		return nil, nil, err
	}
	t, free, err := c.transport(o)
	if err != nil {
		return nil, nil, err
	}
	client, err := mcpclient.Connect(ctx, t, options)
	if err != nil {
		free()
		return nil, nil, c.remote.hint(err)
	}
	return client, func() {
		client.Stop(context.WithoutCancel(ctx))
		free()
	}, nil
}

func (c *connection) transport(o *observation) (_ transport.Transport, free func(), _ error) {
	if c.remote.url != "" {
		return c.remote.transport(o, c.stderr)
	}
	return transport.Stdio{Command: c.server[0], Args: c.server[1:]}, func() {}, nil
}

func (c *connection) options(o *observation) (*mcpclient.Options, error) {
	options := &mcpclient.Options{
		ClientInfo:      mcp.Implementation{Name: "mcpotel", Version: version()},
		RequestTimeout:  c.timeout,
		InitTimeout:     max(c.timeout, 10*time.Second),
		InitialAttempts: 1,
		CloseTimeout:    2 * time.Second, // a server that exports its own spans needs a moment
		Telemetry:       o.telemetry(),
	}
	if c.pin != "" {
		options.Versions = []mcp.Version{mcp.Version(c.pin)}
		if !options.Versions[0].Supported() {
			return nil, misuse("unknown protocol version %q, want one of %v", c.pin, mcp.SupportedVersions())
		}
	}
	return options, nil
}

// failed gives err of a call its exit code.
func (c *connection) failed(err error) error {
	if e, ok := errors.AsType[*mcpclient.Error](err); ok && (e.Kind == mcpclient.KindJSONRPC || e.Kind == mcpclient.KindInvalid) {
		return &exitError{exitTool, err}
	}
	return c.remote.hint(err)
}
