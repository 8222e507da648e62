package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// rewriting is one run of the command "wrap" or "unwrap".
type rewriting struct {
	undo        bool
	config      string // path of the file; empty for the file of a host
	only        []string
	env         []string // unparsed; they may contain secrets, so messages do not quote them
	limits      policyFlags
	translate   bool
	options     []string // the policy flags and --translate, as arguments of a proxy
	dryRun, yes bool
	streams     streams
	console     *console
}

func newWrap(s streams) *cobra.Command {
	r := &rewriting{streams: s}
	return r.command(&cobra.Command{
		Use: "wrap" + ofAHost, Short: "change the configuration file of a host so that its servers run behind the proxy",
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
		Use: "unwrap" + ofAHost, Short: "undo \"wrap\": remove the proxy from the configuration file of a host",
		Long: "Each wrapped server is restored byte for byte from a backup or, without one, derived from the wrapped\n" +
			"server. The rest of the file stays the same.",
		Example: "mcpotel unwrap cursor --dry-run\nmcpotel unwrap cursor --server files\n" +
			"mcpotel unwrap --config .mcp.json --yes",
	}, "change only this `SERVER`; may be repeated")
}

// ofAHost is the end of the usage lines of wrap and unwrap.
const ofAHost = " [flags] (HOST | --config FILE)"

func (r *rewriting) command(cmd *cobra.Command, aboutServer string) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.console = newConsole(r.streams)
		return r.run(cmd.Context(), args)
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		for _, h := range hostfile.Hosts {
			if len(args) == 0 {
				ids = append(ids, cobra.CompletionWithDesc(h.ID, h.Title))
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

func (r *rewriting) run(ctx context.Context, args []string) (err error) {
	if !r.undo {
		if r.options, err = r.limits.arguments(); err != nil {
			return err
		}
		if r.translate {
			r.options = append(r.options, hostfile.Translate)
		}
	}
	path, host, err := r.locate(args)
	if err != nil {
		return err
	}
	f, err := hostfile.Open(path)
	if err != nil {
		return misuse("%s: %w", path, err)
	}
	changes, err := r.changes(f)
	if err == nil {
		err = showChanges(r.streams.out, f.Path, changes)
	}
	if !r.undo && len(changes) > 0 && !slices.ContainsFunc(changes, exporting) {
		r.console.say("the proxy exports to OTEL_EXPORTER_OTLP_ENDPOINT, which most hosts do not pass on: " +
			"--env OTEL_EXPORTER_OTLP_ENDPOINT=URL writes it to the file")
	}
	switch {
	case err != nil:
		return misuse("%s: %w", f.Path, err)
	case len(changes) == 0:
		r.console.say("nothing to change in %s", f.Path)
		return nil
	case r.dryRun:
		r.console.say("nothing was changed")
		return nil
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	backup, err := f.Replace(changes)
	if err != nil {
		return misuse("%s: %w", f.Path, err)
	}
	if host != nil {
		r.console.say("restart %s: it reads its file when it starts", host.Title)
	}
	return printLine(r.streams.out, fmt.Sprintf("changed %d of %d servers; the backup is %s", len(changes),
		len(f.Names()), backup))
}

// exporting reports whether the file configures a server's export of telemetry.
func exporting(c hostfile.Change) bool { return bytes.Contains(c.After, []byte("OTEL_EXPORTER_OTLP_")) }

// locate returns the path of the file and its host; the host is nil for --config.
func (r *rewriting) locate(args []string) (path string, _ *hostfile.Host, _ error) {
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
	if path, err = h.File(); err != nil {
		return "", nil, misuse("%w", err)
	}
	if exists(path) {
		return path, h, nil
	}
	if h.Project != "" && exists(filepath.FromSlash(h.Project)) {
		return "", nil, misuse("%s has no user file at %s; for the file of this project, use --config %s", h.Title, path,
			h.Project)
	}
	return "", nil, misuse("the file of %s does not exist: %s", h.Title, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hostOf returns the host with this id.
func hostOf(id string) (*hostfile.Host, error) {
	var ids []string
	for i := range hostfile.Hosts {
		if hostfile.Hosts[i].ID == id {
			return &hostfile.Hosts[i], nil
		}
		ids = append(ids, hostfile.Hosts[i].ID)
	}
	return nil, misuse("no host %q%s; want one of %s, or --config FILE", id, typing.Hint(id, ids),
		strings.Join(ids, ", "))
}

// widestChange bounds the columns of a line.
const widestChange = 200

// showChanges prints the changed members of servers without possible secrets.
func showChanges(w io.Writer, path string, changes []hostfile.Change) error {
	if len(changes) > 0 {
		if err := printLine(w, "--- "+visible.Line(path)); err != nil {
			return err
		}
	}
	for _, c := range changes {
		lines, err := c.Lines()
		if err != nil {
			return err
		}
		for _, line := range lines {
			if short := cut(line, widestChange); short != line {
				line = short + "…"
			}
			if err := printLine(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// changes returns the changes. For each server that stays unchanged, it prints the reason.
func (r *rewriting) changes(f *hostfile.File) (changes []hostfile.Change, _ error) {
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
	for _, e := range chosen {
		if text, err := after(e); err == nil {
			changes = append(changes, hostfile.Change{Entry: e, After: text})
		} else if err := r.refuse(e.Name, err); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// choose returns the selected servers.
func (r *rewriting) choose(f *hostfile.File) (chosen []*hostfile.Entry, _ error) {
	for _, name := range r.only {
		if !slices.Contains(f.Names(), name) {
			return nil, fmt.Errorf("the file has no server %s", visible.Line(name))
		}
	}
	for i, name := range f.Names() {
		if len(r.only) > 0 && !slices.Contains(r.only, name) {
			continue
		}
		e, err := f.Entry(i)
		switch {
		case errors.Is(err, hostfile.ErrNoObject):
			return nil, fmt.Errorf("%s: %w", visible.Line(name), err)
		case err != nil:
			err = r.refuse(name, err)
		case e.Wrapped() && !r.undo:
			r.console.say("%s is already behind the proxy", visible.Line(name))
		case e.Wrapped() || !r.undo && (!e.Disabled() || len(r.only) > 0):
			chosen = append(chosen, e)
		case len(r.only) > 0:
			r.console.say("%s is not behind the proxy", visible.Line(name))
		case e.Disabled() && !r.undo:
			r.console.say("%s is disabled and stays unchanged", visible.Line(name))
		}
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// refuse returns err if a flag names the server. For other servers it only prints the error.
func (r *rewriting) refuse(name string, err error) error {
	if len(r.only) > 0 {
		return fmt.Errorf("%s: %w", visible.Line(name), err)
	}
	r.console.say("%s stays unchanged: %v", visible.Line(name), err)
	return nil
}

// changer returns the new text of a server's entry in the file.
type changer func(*hostfile.Entry) ([]byte, error)

// wrapped returns a function that wraps a server.
func (r *rewriting) wrapped(*hostfile.File, []*hostfile.Entry) (changer, error) {
	program, err := thisProgram()
	if err != nil {
		return nil, err
	}
	env, err := pairs("variable", r.env)
	if err != nil {
		return nil, err
	}
	return func(e *hostfile.Entry) ([]byte, error) { return e.Wrap(program, r.options, env) }, nil
}

// thisProgram returns the absolute path of this program, because the search path of a host may differ from the shell's.
// It prefers the path that the shell's search path yields: this path stays valid when a package manager replaces the
// program.
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

// same reports whether two paths refer to the same file.
func same(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}

// unwrapped returns a function that restores a wrapped server.
func (r *rewriting) unwrapped(f *hostfile.File, wrapped []*hostfile.Entry) (changer, error) {
	originals := f.Originals(wrapped)
	return func(e *hostfile.Entry) ([]byte, error) {
		if text := originals[e.Name]; text != nil {
			return text, nil
		}
		text, err := e.Unwrap()
		if err == nil {
			r.console.say("no backup contains the original of %s: it is derived from the wrapped server", visible.Line(e.Name))
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
		return misuse("nothing was changed: there is no person at a terminal to ask; --yes changes the file without asking")
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
