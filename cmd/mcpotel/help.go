package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newHelp is "help", which also knows the flag --help of every command.
func newHelp(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "print this, or what a command does, with examples and its flags",
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

// The groups of flags that commands have in common, as help calls them. A flag without one is the command's own.
const (
	groupKey    = "group"
	groupServer = "which server, and how"
	groupShown  = "what is shown"
)

// grouped defines flags and puts them into a group.
func grouped(to *pflag.FlagSet, group string, define func(*pflag.FlagSet)) {
	var flags pflag.FlagSet
	define(&flags)
	flags.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{groupKey: {group}}
		to.AddFlag(f)
	})
}

// helpOf is the help of a command.
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

// helpWidth is how wide the help of flags is.
const helpWidth = 100

// commandLines has a line for each command below cmd.
func commandLines(cmd *cobra.Command) string {
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			fmt.Fprintf(&b, "  %-10s %s\n", c.Name(), c.Short)
		}
	}
	return b.String()
}

// aboutAll is what holds for all commands.
const aboutAll = `
A server is a command behind --, which is started; or among the flags --url URL; or --server NAME, for one that "mcpotel
add" has saved or a host such as Claude Desktop or Cursor; or --config FILE, for the servers of an mcpServers file, of
which --server NAME picks one. Without it, all are asked, and tools have the server's name in front.
Flags may stand anywhere before --. "mcpotel help COMMAND" lists them, with examples. What a server asks is asked at the
terminal. --trace draws what a command did, --web shows it on a page. With OTEL_EXPORTER_OTLP_ENDPOINT set, spans,
metrics and log records are exported there, by gRPC or OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf. With
OTEL_TRACES_EXPORTER=console, spans are lines on standard error.

Results are on standard output, everything else is on standard error.
`

// aboutExit are the exit codes.
const aboutExit = `0 ok, 1 the tool reported an error or the server refused, 2 usage, 3 connection, 130 Ctrl-C,
143 SIGTERM. What runs until it is interrupted (watch, view, serve-demo, --web) ends with 0 then.`

// rootHelp is the help of the program.
func rootHelp(root *cobra.Command) string {
	return "mcpotel uses MCP servers from the shell, and shows what each call does.\n\n" +
		"usage: mcpotel COMMAND [ARG...]\n\ncommands:\n" + commandLines(root) + aboutAll + "\nexit codes: " + aboutExit
}
