package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// rewriting is one run of the command "wrap" or "unwrap".
type rewriting struct {
	undo        bool
	config      string // path of the file; empty for the file of a host
	only        []string
	env         []string // as given; they may hold secrets, so no message quotes them
	limits      policyFlags
	translate   bool
	options     []string // the policy flags, as arguments of a proxy
	dryRun, yes bool
	streams     streams
	console     *console
}

func newWrap(s streams) *cobra.Command {
	r := &rewriting{streams: s}
	return r.command(&cobra.Command{
		Use: "wrap" + ofAHost, Short: "change the file of a host so that its servers run behind the proxy",
		Long: "Each server in the file is replaced with this program, which starts the server or connects to its URL: see\n" +
			"\"mcpotel help proxy\". The command first shows the changes, without arguments and values, and asks for\n" +
			"confirmation. The rest of the file stays the same, byte for byte. A backup is kept beside the file.\n" +
			"\"mcpotel unwrap\" undoes the change.",
		Example: "mcpotel wrap cursor --dry-run\n" +
			"mcpotel wrap cursor --server files --env OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317\n" +
			"mcpotel wrap cursor --server files --deny-tool 'delete_*' --timeout 30s\n" +
			"mcpotel wrap --config .mcp.json --yes",
	}, "change only this `SERVER`; may be repeated. The default is all servers that are neither disabled nor wrapped")
}

func newUnwrap(s streams) *cobra.Command {
	r := &rewriting{undo: true, streams: s}
	return r.command(&cobra.Command{
		Use: "unwrap" + ofAHost, Short: "undo \"wrap\": remove the proxy from the file of a host",
		Long: "Each wrapped server is restored byte for byte from a backup or, without one, derived from the wrapped\n" +
			"server. The rest of the file stays the same.",
		Example: "mcpotel unwrap cursor --dry-run\nmcpotel unwrap cursor --server files\n" +
			"mcpotel unwrap --config .mcp.json --yes",
	}, "change only this `SERVER`; may be repeated")
}

// ofAHost ends the usage of wrap and unwrap.
const ofAHost = " [flags] (HOST | --config FILE)"

func (r *rewriting) command(cmd *cobra.Command, aboutServer string) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.console = newConsole(r.streams)
		return r.run(cmd.Context(), args)
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		for _, h := range hosts {
			if len(args) == 0 {
				ids = append(ids, cobra.CompletionWithDesc(h.id, h.title))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.config, "config", "", "change this `FILE`, with servers in its mcpServers")
	f.Func("server", aboutServer, func(name string) error {
		r.only = append(r.only, name)
		return nil
	})
	if !r.undo {
		f.Func("env", "set this variable, `NAME=VALUE`, for the proxy and the server that it starts, unless the file sets "+
			"it for the server; may be repeated", func(value string) error {
			r.env = append(r.env, value)
			return nil
		})
		f.BoolVar(&r.translate, "translate", false, translateUsage)
		r.limits.flags(f)
	}
	f.BoolVar(&r.dryRun, "dry-run", false, "show the changes without making them")
	f.BoolVar(&r.yes, "yes", false, "change it without asking")
	return cmd
}

// rewrite is a server to change.
type rewrite struct {
	member // its place in the file
	before *savedServer
	after  []byte
}

func (r *rewriting) run(ctx context.Context, args []string) (err error) {
	if !r.undo {
		if r.options, err = r.limits.arguments(); err != nil {
			return err
		}
		if r.translate {
			r.options = append(r.options, quote(translates))
		}
	}
	path, host, err := r.locate(args)
	if err != nil {
		return err
	}
	f, err := readServersFile(path)
	if err != nil {
		return misuse("%s: %w", path, err)
	}
	changes, err := r.changes(f)
	if err == nil {
		err = showChanges(r.streams.out, f.path, changes)
	}
	if !r.undo && len(changes) > 0 && !slices.ContainsFunc(changes, exporting) {
		r.console.say("the proxy exports to OTEL_EXPORTER_OTLP_ENDPOINT, which most hosts do not pass on: " +
			"--env OTEL_EXPORTER_OTLP_ENDPOINT=URL writes it to the file")
	}
	switch {
	case err != nil:
		return misuse("%s: %w", f.path, err)
	case len(changes) == 0:
		r.console.say("nothing to change in %s", f.path)
		return nil
	case r.dryRun:
		r.console.say("nothing was changed")
		return nil
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	backup, err := f.write(f.with(changes))
	if err != nil {
		return misuse("%s: %w", f.path, err)
	}
	if host != nil {
		r.console.say("restart %s: it reads its file when it starts", host.title)
	}
	return printLine(r.streams.out, fmt.Sprintf("changed %d of %d servers; the backup is %s", len(changes),
		len(f.servers), backup))
}

// exporting reports whether the file configures a server's export of telemetry.
func exporting(c rewrite) bool { return bytes.Contains(c.after, []byte("OTEL_EXPORTER_OTLP_")) }

// locate returns the path of the file and its host; the host is nil for --config.
func (r *rewriting) locate(args []string) (path string, _ *host, _ error) {
	switch {
	case len(args) == 0 && r.config == "":
		return "", nil, misuse("no file: give a host, such as cursor, or --config FILE")
	case len(args) > 1 || len(args) == 1 && r.config != "":
		return "", nil, misuse("more than one file: give either one host or --config FILE")
	case len(args) == 0:
		return r.config, nil, nil
	}
	h, err := hostOf(args[0])
	if err != nil {
		return "", nil, err
	}
	if path, err = h.file(); err != nil {
		return "", nil, misuse("%w", err)
	}
	if exists(path) {
		return path, h, nil
	}
	if h.project != "" && exists(filepath.FromSlash(h.project)) {
		return "", nil, misuse("%s has no file of yours, which is %s; that of this project is --config %s", h.title, path,
			h.project)
	}
	return "", nil, misuse("%s has no file %s", h.title, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// changes returns the changes, and prints which servers stay unchanged and why.
func (r *rewriting) changes(f *serversFile) (changes []rewrite, _ error) {
	chosen, err := r.choose(f)
	if err != nil {
		return nil, err
	}
	to := r.unwrapped
	if !r.undo {
		to = r.wrapped
	}
	after, err := to(f, chosen)
	if err != nil {
		return nil, err
	}
	for _, c := range chosen {
		if c.after, err = after(&c); err == nil {
			changes = append(changes, c)
		} else if err := r.refuse(c.name, err); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// choose returns the selected servers.
func (r *rewriting) choose(f *serversFile) (chosen []rewrite, _ error) {
	for _, name := range r.only {
		if find(f.servers, name) < 0 {
			return nil, fmt.Errorf("there is no server %s", visible.Line(name))
		}
	}
	for _, m := range f.servers {
		if len(r.only) > 0 && !slices.Contains(r.only, m.name) {
			continue
		}
		s, err := readServer(f.text[m.from:m.end()])
		switch {
		case errors.Is(err, errNoObject):
			return nil, fmt.Errorf("%s: %w", visible.Line(m.name), err)
		case err != nil:
			err = r.refuse(m.name, err)
		case s.wrapped() && !r.undo:
			r.console.say("%s is already behind the proxy", visible.Line(m.name))
		case s.wrapped() || !r.undo && (!s.disabled() || len(r.only) > 0):
			chosen = append(chosen, rewrite{member: m, before: s})
		case len(r.only) > 0:
			r.console.say("%s is not behind the proxy", visible.Line(m.name))
		case s.disabled() && !r.undo:
			r.console.say("%s is disabled and stays unchanged", visible.Line(m.name))
		}
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// refuse returns the error for a server that was named by a flag; for other servers it only prints the error.
func (r *rewriting) refuse(name string, err error) error {
	if len(r.only) > 0 {
		return fmt.Errorf("%s: %w", visible.Line(name), err)
	}
	r.console.say("%s stays unchanged: %v", visible.Line(name), err)
	return nil
}

// wrapped returns a function that wraps a server.
func (r *rewriting) wrapped(*serversFile, []rewrite) (func(*rewrite) ([]byte, error), error) {
	program, err := thisProgram()
	if err != nil {
		return nil, err
	}
	variables, err := pairs("variable", r.env)
	if err != nil {
		return nil, err
	}
	var env []member
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		env = append(env, member{name: name, value: json.RawMessage(quote(variables[name]))})
	}
	return func(c *rewrite) ([]byte, error) {
		return c.before.wrap(append(proxyArgs(c.name), r.options...), quote(program), env)
	}, nil
}

// thisProgram returns the absolute path of this program, because hosts may have another search path than shells. It
// prefers the path in the shell's search path, which stays valid when a package manager replaces the program.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath("mcpotel"); err == nil && same(found, path) {
		return filepath.Abs(found)
	}
	return path, nil
}

// same reports whether two paths name the same file.
func same(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}

// unwrapped returns a function that restores a wrapped server.
func (r *rewriting) unwrapped(f *serversFile, wrapped []rewrite) (func(*rewrite) ([]byte, error), error) {
	servers := map[string]*savedServer{}
	for _, c := range wrapped {
		servers[c.name] = c.before
	}
	originals := f.originals(servers)
	return func(c *rewrite) ([]byte, error) {
		if text := originals[c.name]; text != nil {
			return text, nil
		}
		text, err := c.before.unwrap()
		if err == nil {
			r.console.say("no backup has the original of %s: it is derived from the wrapped server", visible.Line(c.name))
		}
		return text, err
	}, nil
}

// ask asks the person for confirmation.
func (r *rewriting) ask(ctx context.Context) error {
	if r.yes {
		return nil
	}
	if !r.console.person {
		return misuse("nothing was changed: no person at a terminal can be asked; --yes changes the file without asking")
	}
	done, err := r.console.asks(ctx)
	if err != nil {
		return err
	}
	defer done()
	text, err := r.console.ask(ctx, "Change it? (yes, no) [no]: ")
	if err != nil && err != io.EOF {
		return err
	}
	if agreed, err := typing.YesNo(text); err != nil || !agreed {
		return &exitError{exitTool, errors.New("nothing was changed")}
	}
	return nil
}
