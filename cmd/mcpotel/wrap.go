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

	"github.com/mcpotel/mcpotel/internal/visible"
)

// rewriting is one run of "wrap" or "unwrap".
type rewriting struct {
	undo        bool
	config      string // the file, if it is not that of a host
	only        []string
	env         []string // as they were given: they may hold secrets, so that nothing quotes them
	limits      policyFlags
	translate   bool
	options     []string // what those say, as arguments of a proxy
	dryRun, yes bool
	streams     streams
	console     *console
}

func newWrap(s streams) *cobra.Command {
	r := &rewriting{streams: s}
	return r.command(&cobra.Command{
		Use: "wrap" + ofAHost, Short: "let a host run its servers behind the proxy: change its file, with a backup",
		Long: "A server of the file becomes this program, which starts the server, or talks to its URL: \"mcpotel help\n" +
			"proxy\". What changes is shown first, without arguments and values, and asked for. The rest of the file stays\n" +
			"as it is, byte for byte, and the file as it was is kept beside it. \"mcpotel unwrap\" undoes it.",
		Example: "mcpotel wrap cursor --dry-run\n" +
			"mcpotel wrap cursor --server files --env OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317\n" +
			"mcpotel wrap cursor --server files --deny-tool 'delete_*' --timeout 30s\n" +
			"mcpotel wrap --config .mcp.json --yes",
	}, "change this `SERVER`; may be repeated. Unless it is given, all are that are neither disabled nor changed yet")
}

func newUnwrap(s streams) *cobra.Command {
	r := &rewriting{undo: true, streams: s}
	return r.command(&cobra.Command{
		Use: "unwrap" + ofAHost, Short: "undo \"wrap\": let a host run its servers itself",
		Long: "Each server behind the proxy becomes what it was before: byte for byte, if a backup has that; or else put\n" +
			"together from what it is now. The rest of the file stays as it is.",
		Example: "mcpotel unwrap cursor --dry-run\nmcpotel unwrap cursor --server files\n" +
			"mcpotel unwrap --config .mcp.json --yes",
	}, "change this `SERVER` only; may be repeated")
}

// ofAHost is how the usage ends.
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
		f.Func("env", "give the proxy, and the server that it starts, this variable, `NAME=VALUE`, where the file has none "+
			"of this name for the server; may be repeated", func(value string) error {
			r.env = append(r.env, value)
			return nil
		})
		f.BoolVar(&r.translate, "translate", false, translateUsage)
		r.limits.flags(f)
	}
	f.BoolVar(&r.dryRun, "dry-run", false, "show what would change, and change nothing")
	f.BoolVar(&r.yes, "yes", false, "change it without asking")
	return cmd
}

// rewrite is a server that is to be changed.
type rewrite struct {
	member // in the file
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
		r.console.say("the proxy exports where OTEL_EXPORTER_OTLP_ENDPOINT says, which most hosts do not hand on: " +
			"--env OTEL_EXPORTER_OTLP_ENDPOINT=URL has it in the file")
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
		r.console.say("%s reads its file when it starts", host.title)
	}
	return printLine(r.streams.out, fmt.Sprintf("changed %d of %d servers; the file as it was is kept as %s", len(changes),
		len(f.servers), backup))
}

// exporting reports whether the file says where a server exports its telemetry.
func exporting(c rewrite) bool { return bytes.Contains(c.after, []byte("OTEL_EXPORTER_OTLP_")) }

// locate returns the file, and the host that it is of; no host if the file was given.
func (r *rewriting) locate(args []string) (path string, _ *host, _ error) {
	switch {
	case len(args) == 0 && r.config == "":
		return "", nil, misuse("whose file? give a host, such as cursor, or --config FILE")
	case len(args) > 1 || len(args) == 1 && r.config != "":
		return "", nil, misuse("several files: give either one host or --config FILE")
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

// changes returns what is to be changed, and says what is not, and why.
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

// choose returns the servers that are meant.
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
			r.console.say("%s is behind the proxy already", visible.Line(m.name))
		case s.wrapped() || !r.undo && (!s.disabled() || len(r.only) > 0):
			chosen = append(chosen, rewrite{member: m, before: s})
		case len(r.only) > 0:
			r.console.say("%s is not behind the proxy", visible.Line(m.name))
		case s.disabled() && !r.undo:
			r.console.say("%s is disabled, and left as it is", visible.Line(m.name))
		}
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// refuse returns why a server cannot be changed that was asked for, and says it of another.
func (r *rewriting) refuse(name string, err error) error {
	if len(r.only) > 0 {
		return fmt.Errorf("%s: %w", visible.Line(name), err)
	}
	r.console.say("%s is left as it is: %v", visible.Line(name), err)
	return nil
}

// wrapped returns what makes servers wrapped ones.
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

// thisProgram is the absolute path of this program, since hosts may look for programs elsewhere than shells do: the
// path under which the shell finds it, which stays the same when a package manager replaces it, or else where it is.
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

// same reports whether two paths are of one file.
func same(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}

// unwrapped returns what makes wrapped servers what they were.
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
			r.console.say("no backup has %s as it was: it is put together from what it is now", visible.Line(c.name))
		}
		return text, err
	}, nil
}

// ask lets the person agree.
func (r *rewriting) ask(ctx context.Context) error {
	if r.yes {
		return nil
	}
	if !r.console.person {
		return misuse("nothing was changed: there is no terminal to ask at; --yes changes it without asking")
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
	if agreed, err := yes(text); err != nil || !agreed {
		return &exitError{exitTool, errors.New("nothing was changed")}
	}
	return nil
}
