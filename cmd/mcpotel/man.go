package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newMan returns the command "man", which writes manual pages for packagers. Like the help, the pages are generated
// from the tree of commands. cobra's own generator is not used, because it depends on a Markdown parser and a YAML
// encoder.
func newMan(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "write the manual pages, one file for each command",
		Example: "mcpotel man ~/.local/share/man/man1",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("man: want one directory")
			}
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return misuse("%w", err)
			}
			return writeManual(s, args[0], cmd.Root())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
}

// writeManual writes the pages of a command and its subcommands.
func writeManual(s streams, dir string, cmd *cobra.Command) error {
	path := filepath.Join(dir, pageName(cmd)+".1")
	if err := os.WriteFile(path, []byte(manualPage(cmd)), 0o666); err != nil {
		return err
	}
	if err := printLine(s.out, path); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writeManual(s, dir, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageName returns the name of a command's page: mcpotel-task-wait.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage returns the page of a command.
func manualPage(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(name string) { b.WriteString(".SH " + name + "\n") }
	title := strings.ToUpper(pageName(cmd))
	b.WriteString(fmt.Sprintf(".TH %q 1 \"\" %q \"User Commands\"\n", title, "mcpotel "+version()))
	section("NAME")
	b.WriteString(roff(pageName(cmd)+" - "+cmd.Short) + "\n")
	section("SYNOPSIS")
	usage := cmd.Use
	if cmd.HasParent() {
		usage = cmd.Parent().CommandPath() + " " + usage
	} else {
		usage += " COMMAND [ARG...]"
	}
	b.WriteString(roff(usage) + "\n")
	section("DESCRIPTION")
	if cmd.HasParent() {
		b.WriteString(roff(cmp.Or(cmd.Long, cmd.Short)) + "\n")
	} else {
		b.WriteString(".nf\n" + roff(strings.TrimSpace(aboutAll)) + "\n.fi\n")
	}
	if cmd.HasAvailableSubCommands() {
		section("COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				b.WriteString(".TP\n\\fB" + roff(c.Name()) + "\\fR\n" + roff(c.Short) + "\n")
			}
		}
	}
	var flags strings.Builder
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, about := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		flags.WriteString(".TP\n\\fB" + roff(name) + "\\fR " + roff(kind) + "\n" + roff(about) + "\n")
	})
	if flags.Len() > 0 {
		section("OPTIONS")
		b.WriteString(flags.String())
	}
	if cmd.Example != "" {
		section("EXAMPLES")
		b.WriteString(".nf\n" + roff(cmd.Example) + "\n.fi\n")
	}
	section("EXIT STATUS")
	b.WriteString(roff(aboutExit) + "\n")
	section("SEE ALSO")
	if cmd.HasParent() {
		b.WriteString("\\fB" + roff(pageName(cmd.Parent())) + "\\fR(1)\n")
	} else {
		b.WriteString(roff("https://github.com/mcpotel/mcpotel") + "\n")
	}
	return b.String()
}

// roff escapes text for roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
