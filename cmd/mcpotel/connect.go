package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// connection holds the flags and the servers of the commands that talk to servers.
type connection struct {
	asJSON, trace, verbose bool
	timeout                time.Duration // for the whole command, unless it is endless; zero for no limit
	timed                  bool          // --timeout was given
	connectTimeout         time.Duration // for each server; zero for the defaults
	endless                bool          // the command runs until it is interrupted
	examines               bool          // the command is "doctor", which has its own timeouts and draws no trace
	passes                 bool          // the command is "proxy"; the host sends the requests and sets the timeouts
	paged                  bool          // the command is "inspect" or "probe", whose pages show the results
	shares                 bool          // the command is "shell", whose connection other commands use
	longest                time.Duration // the longest request timeout of all servers
	pin                    string
	roots                  roots
	remote                 remote
	file                   configured
	saver                  saver // of the commands with results to save
	web                    webFlag
	chaos                  chaosFlags // of the commands with this flag
	record                 recorder   // of the commands with this flag
	audit                  auditFlags // of the commands with these flags
	// adapt changes the options of each client; nil for no change
	adapt func(server string, o *mcpclient.Options)

	several   bool     // the command runs in a shell with several servers
	secrets   *headers // further headers of the command line; nil for none
	names     bool     // the first argument names something, such as a tool
	spans     []string // the spans of a complete trace, besides the span of the command
	arguments []string // arguments before --
	server    []string // command after --; empty for none
	streams   streams
	console   *console
}

// behind is the end of a usage line for commands that accept the server's command after --.
const behind = " [-- COMMAND [ARG...]]"

// command adds the flags of a connection to cmd, after its own flags. cmd checks its arguments and then runs work.
func (c *connection) command(s streams, cmd *cobra.Command, work func(context.Context) error,
	own ...func(*pflag.FlagSet)) *cobra.Command {
	c.streams = s
	c.names = strings.Contains(strings.TrimSuffix(cmd.Use, behind), "] ")
	f := cmd.Flags()
	f.SortFlags = false
	for _, flags := range own {
		flags(f)
	}
	grouped(f, groupServer, func(f *pflag.FlagSet) {
		c.remote.flags(f)
		c.file.flags(f)
		if c.passes {
			return
		}
		f.Func("root", "announce this `DIRECTORY` to the server as a root; may be repeated", c.roots.add)
		f.StringVar(&c.pin, "pin-version", "", "use only this `VERSION` of the protocol")
		if c.examines {
			return
		}
		f.DurationVar(&c.timeout, "timeout", 0, "limit the whole command to this `DURATION`, such as 500ms or 5m, "+
			"not counting the time for your answers to questions; 0 means no limit. The default is 30s for each answer")
		f.DurationVar(&c.connectTimeout, "connect-timeout", 0, "limit the start and the handshake of a server to this "+
			"`DURATION`. The default is 60s until the first output of a process, and 30s from there")
	})
	grouped(f, groupShown, func(f *pflag.FlagSet) {
		if !c.passes && !c.paged && !c.shares {
			f.BoolVar(&c.asJSON, "json", false, "print the result as JSON, for programs")
		}
		if !c.passes && !c.examines && !c.paged && !c.shares {
			f.BoolVar(&c.trace, "trace", false, "draw the trace, client and server")
		}
		if !c.examines && !c.paged {
			c.web.flags(f)
		}
		f.BoolVarP(&c.verbose, "verbose", "v", false,
			"log all actions of the client, and the server's standard error")
	})
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, err, c.guess(cmd.Flags().Args()))
	})
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.console = newConsole(s)
		c.timed = f.Changed("timeout")
		c.arguments = args
		if dash := cmd.ArgsLenAtDash(); dash >= 0 {
			c.arguments, c.server = args[:dash], args[dash:]
		}
		if c.timeout < 0 || c.connectTimeout < 0 {
			return misuse("a timeout must not be negative")
		}
		if err := c.checkServer(sessionOf(cmd.Context())); err != nil {
			return err
		}
		if err := c.checkFlags(sessionOf(cmd.Context()), f); err != nil {
			return err
		}
		if err := c.remote.check(c.file.path != "" || c.file.only != ""); err != nil {
			return err
		}
		if err := c.saver.make(); err != nil {
			return err
		}
		return work(cmd.Context())
	}
	return cmd
}

// checkServer checks that the flags name a server in exactly one way, or in no way in a shell.
func (c *connection) checkServer(shell *session) error {
	var ways []string
	if c.remote.url != "" {
		ways = append(ways, "--url URL")
	}
	if c.file.path != "" {
		ways = append(ways, "--config FILE")
	}
	if len(c.server) > 0 {
		ways = append(ways, "-- COMMAND [ARG...]")
	}
	if c.file.saved() {
		ways = append(ways, "--server NAME of a saved server")
	}
	switch {
	case shell != nil && (len(ways) > 0 || c.web.wanted):
		return misuse("the shell has its own server; start another shell for another server, or with --web")
	case shell != nil:
	case len(ways) == 0:
		return misuse("no server: give --url URL, or --config FILE, or --server NAME of a server in \"mcpotel list\", "+
			"or end the arguments with -- COMMAND [ARG...]%s", c.guess(c.arguments))
	case len(ways) > 1:
		return misuse("more than one server: give either %s", strings.Join(ways, " or "))
	}
	return nil
}

// checkFlags refuses the flags of a connection in a shell, whose connection is open already.
func (c *connection) checkFlags(shell *session, f *pflag.FlagSet) (err error) {
	if shell == nil {
		return nil
	}
	c.several = shell.servers.group != nil
	f.VisitAll(func(flag *pflag.Flag) {
		group := ""
		if of := flag.Annotations[groupKey]; len(of) > 0 {
			group = of[0]
		}
		connects := flag.Name == "chaos" || strings.HasPrefix(flag.Name, "record") || strings.HasPrefix(flag.Name, "audit")
		own := group == "" && !connects || flag.Name == "json" || flag.Name == "trace"
		if flag.Changed && !own && err == nil {
			err = misuse("--%s is a flag of the shell itself: the commands of a shell share its connection", flag.Name)
		}
	})
	return err
}

// guess returns a hint for arguments that were probably meant to select a server; empty for none. If --header was given,
// there is no hint, because an argument may be the rest of a header with a secret.
func (c *connection) guess(arguments []string) string {
	if c.hasSecrets() {
		return ""
	}
	saved, _ := hostfile.All() // a file that cannot be read gives no hint
	for i, a := range arguments {
		for _, s := range saved {
			if a == s.Name || a == s.Full() {
				return "; did you mean --server " + a + "?"
			}
		}
		if i == 0 && c.names {
			continue
		}
		if _, err := exec.LookPath(a); err == nil {
			return "; if " + a + " starts the server, put -- before it"
		}
	}
	return ""
}

// unexpected returns the error for a surplus argument. If --header was given, the error does not quote the argument,
// because it may be the rest of a header with a secret.
func (c *connection) unexpected(argument string) error {
	if c.hasSecrets() {
		return misuse("unexpected argument; quote a header if its value has spaces")
	}
	return misuse("unexpected argument %q", argument)
}

// hasSecrets reports whether an argument may be the rest of a header.
func (c *connection) hasSecrets() bool {
	return len(c.remote.headers.given) > 0 || c.secrets != nil && len(c.secrets.given) > 0
}

// none checks that there are no arguments.
func (c *connection) none() error {
	if len(c.arguments) > 0 {
		return c.unexpected(c.arguments[0])
	}
	return nil
}

// one returns the only argument.
func (c *connection) one(what string) (string, error) {
	switch len(c.arguments) {
	case 0:
		return "", misuse("the %s is missing", what)
	case 1:
		return c.arguments[0], nil
	}
	return "", c.unexpected(c.arguments[1])
}

// assignments reads arguments of the form NAME=VALUE.
func (c *connection) assignments(arguments []string) (map[string]string, error) {
	values := map[string]string{}
	for _, a := range arguments {
		name, value, ok := strings.Cut(a, "=")
		if _, twice := values[name]; twice || !ok || name == "" {
			return nil, fmt.Errorf("%w; want NAME=VALUE, each name once", c.unexpected(a))
		}
		values[name] = value
	}
	return values, nil
}

// level returns the level of the log on standard error.
func (c *connection) level() slog.Level {
	if c.verbose {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// observed runs work under a span, and draws the trace if --trace is given.
func (c *connection) observed(ctx context.Context, title string, work func(context.Context, *observation) error) error {
	if shell := sessionOf(ctx); shell != nil {
		c.console, c.longest = shell.console, shell.longest
		return c.traced(ctx, shell.observation, title, work)
	}
	o, err := observe(ctx, "mcpotel", c.level(), c.streams.err, receiverIf(c.trace || c.web.wanted || c.shares))
	if err != nil {
		return err
	}
	defer o.close(ctx)
	if err := o.auditTo(&c.audit); err != nil {
		return err
	}
	if err := o.publish(c.web); err != nil {
		return err
	}
	err = c.traced(ctx, o, title, work)
	if err != nil && o.site != nil && err.Error() != "" {
		c.console.say("%s", inFlags.Replace(err.Error()))
		err = &exitError{code: codeOf(err)} // the error has been printed already, before stay waits
	}
	o.stay(ctx, c.streams.err)
	return err
}

// traced runs work under a span, and draws the trace if --trace is given.
func (c *connection) traced(ctx context.Context, o *observation, title string,
	work func(context.Context, *observation) error) error {
	spanCtx, span := o.start(ctx, title)
	err := c.inTime(spanCtx, func(ctx context.Context) error { return work(ctx, o) })
	span.End()
	c.console.clear()
	if c.trace {
		if sessionOf(ctx) != nil { // otherwise the server has ended and has exported its spans
			select {
			case <-time.After(exported):
			case <-ctx.Done():
			}
		}
		drawErr := o.draw(ctx, c.streams.err, span, has(append(c.spans, "INTERNAL "+title)...))
		if drawErr != nil && err == nil {
			err = drawErr
		}
	}
	return err
}

// options returns the options for the client of a server. server is the name that messages to the person use.
func (c *connection) options(o *observation, server string) (*mcpclient.Options, error) {
	options := &mcpclient.Options{
		ClientInfo:     mcp.Implementation{Name: "mcpotel", Version: version()},
		RequestTimeout: 30 * time.Second,
		// Timeouts.Close gives a server that exports its own spans time to flush them
		Timeouts: mcpclient.Timeouts{Init: cmp.Or(c.connectTimeout,
			max(30*time.Second, c.timeout)), // inTime enforces a shorter --timeout
			Start: cmp.Or(c.connectTimeout, max(time.Minute, c.timeout)), Close: 2 * time.Second},
		Backoff:    mcpclient.Backoff{Attempts: 1},
		Telemetry:  o.telemetry(),
		Features:   c.answers(server),
		Middleware: []mcpclient.Middleware{c.oddTools(server)},
	}
	if c.pin != "" {
		options.Versions = []mcp.Version{mcp.Version(c.pin)}
		if !options.Versions[0].Supported() {
			return nil, misuse("unknown protocol version %q, want one of %v", c.pin, mcp.SupportedVersions())
		}
	}
	if c.timed {
		options.RequestTimeout = cmp.Or(c.timeout, -1)
	}
	c.longest = max(c.longest, options.RequestTimeout)
	if c.adapt != nil {
		c.adapt(server, options)
	}
	return options, nil
}

// answers returns the features with which a client answers its server's requests.
func (c *connection) answers(server string) []mcpclient.Feature {
	features := []mcpclient.Feature{
		mcpclient.UseTasks(nil),
		mcpclient.HandleElicitation(func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return c.console.form(ctx, server, p)
		}),
		mcpclient.HandleURLElicitation(func(ctx context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
			return c.console.visit(ctx, server, e)
		}, &mcpclient.URLElicitationOptions{RetryWithin: -1}), // see visitAll
	}
	return append(features, c.roots.features()...)
}

// failed sets the exit code for the error of a call.
func (c *connection) failed(err error) error {
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	for _, no := range []error{
		mcpclient.ErrUnsupported, mcpclient.ErrTaskFailed, mcpclient.ErrTaskCancelled, mcpclient.ErrTaskUnknown,
		mcpclient.ErrTaskExpired,
	} {
		if errors.Is(err, no) {
			return &exitError{exitTool, err}
		}
	}
	if e, ok := errors.AsType[*mcpclient.Error](err); ok &&
		(e.Kind == mcpclient.KindJSONRPC || e.Kind == mcpclient.KindInvalid) {
		return &exitError{exitTool, err}
	}
	return c.remote.hint(err)
}

// roots are the directories in which servers may work.
type roots []*mcp.Root

// features returns the feature that announces the directories; nil without any.
func (r roots) features() []mcpclient.Feature {
	if len(r) == 0 {
		return nil
	}
	return []mcpclient.Feature{mcpclient.UseRoots(r...)}
}

// add adds a directory by its path.
func (r *roots) add(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	slashed := filepath.ToSlash(absolute)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // such as C:/work on Windows
	}
	u := url.URL{Scheme: "file", Path: slashed}
	*r = append(*r, &mcp.Root{URI: u.String(), Name: filepath.Base(absolute)})
	return nil
}
