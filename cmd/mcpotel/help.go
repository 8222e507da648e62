package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newHelp returns the command "help". Each command has the flag --help as well.
func newHelp(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "print this help, or the help of a command with its flags and examples",
		Example: "mcpotel help call\nmcpotel call --help\nmcpotel help task wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(found, strings.Join(rest, " "))
			}
			found.InitDefaultHelpFlag()
			return printText(s.out, helpOf(found))
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			found, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range found.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// The groups of shared flags, with their titles in the help. A flag without a group is the command's own.
const (
	groupKey    = "group"
	groupServer = "server and connection"
	groupShown  = "output"
)

// grouped defines flags and adds them to a group.
func grouped(to *pflag.FlagSet, group string, define func(*pflag.FlagSet)) {
	var flags pflag.FlagSet
	define(&flags)
	flags.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{groupKey: {group}}
		to.AddFlag(f)
	})
}

// helpOf returns the help of a command.
func helpOf(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return rootHelp(cmd)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s %s\n\n%s\n", cmd.Parent().CommandPath(), cmd.Use, cmd.Short)
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.Long)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\ncommands:\n" + commandLines(cmd))
	}
	if cmd.Example != "" {
		b.WriteString("\nexamples:\n")
		for line := range strings.Lines(cmd.Example) {
			b.WriteString("  " + line)
		}
		b.WriteString("\n")
	}
	for _, group := range []string{"", groupServer, groupShown} {
		var flags pflag.FlagSet
		flags.SortFlags = false
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || strings.Join(f.Annotations[groupKey], "") != group {
				return
			}
			flags.AddFlag(f)
		})
		if flags.HasFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", cmp.Or(group, "flags"), flags.FlagUsagesWrapped(helpWidth))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// helpWidth is the width of the help for flags.
const helpWidth = 100

// commandLines returns a line for each command below cmd.
func commandLines(cmd *cobra.Command) string {
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			fmt.Fprintf(&b, "  %-10s %s\n", c.Name(), c.Short)
		}
	}
	return b.String()
}

// commandGroups are the commands as the help groups them.
var commandGroups = []struct {
	title string
	names []string
}{
	{"use a server", []string{"demo", "inspect", "shell", "tools", "describe", "call", "task", "resources", "read",
		"prompts", "prompt", "complete", "watch", "ping"}},
	{"look into it", []string{"doctor", "cost", "check", "view", "mcp"}},
	{"run and watch", []string{"proxy", "wrap", "unwrap", "probe", "explain", "audit", "gameday"}},
	{"record and test", []string{"mock", "replay", "diff", "tail", "serve-demo"}},
	{"saved servers", []string{"add", "list", "remove", "install"}},
	{"this program", []string{"completion", "man", "version", "help"}},
}

// groupedCommands returns a line for each command, in groups.
func groupedCommands(root *cobra.Command) string {
	lines := map[string]string{}
	for line := range strings.Lines(commandLines(root)) {
		lines[strings.Fields(line)[0]] = line
	}
	var b strings.Builder
	for _, g := range commandGroups {
		b.WriteString("\n" + g.title + ":\n")
		for _, name := range g.names {
			b.WriteString(lines[name])
		}
	}
	return b.String()
}

// aboutAll is the part of the help that applies to all commands.
const aboutAll = `
To select a server, use one of these: a command after --, which mcpotel starts; --url URL; --server NAME, for a server
that "mcpotel add" or a host such as Claude Desktop or Cursor has saved; or --config FILE, for the servers of an
mcpServers file. --server NAME selects one server of the file. Without it mcpotel uses all of them, and the names of
tools begin with the server's name.
Flags may appear anywhere before --. "mcpotel help COMMAND" lists them, with examples. mcpotel asks the questions of a
server at the terminal. --trace draws the trace of a command, --web shows it on a page. If OTEL_EXPORTER_OTLP_ENDPOINT
is set, mcpotel exports spans, metrics and log records there, over gRPC or, with
OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, over HTTP. With OTEL_TRACES_EXPORTER=console, it prints spans to standard
error.

Results go to standard output, everything else to standard error.
`

// aboutExit describes the exit codes.
const aboutExit = `0 ok, 1 the tool reported an error or the server rejected the request, 2 usage, 3 connection,
130 Ctrl-C, 143 SIGTERM. Commands that run until they are interrupted (watch, view, serve-demo, --web) exit
with 0 then.`

// rootHelp returns the help of the program.
func rootHelp(root *cobra.Command) string {
	return "mcpotel uses MCP servers from the shell, and shows the trace of each call.\n\n" +
		"usage: mcpotel COMMAND [ARG...]\n" + groupedCommands(root) + aboutAll + "\nexit codes: " + aboutExit
}
