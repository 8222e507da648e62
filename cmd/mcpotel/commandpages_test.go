package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:generate go test . -run ^TestEachCommandHasAPageInTheDocumentation$ -update

var update = flag.Bool("update", false, "write the pages of docs/command")

// commandPages is the directory with a page for each command.
const commandPages = "../../docs/command"

func TestEachCommandHasAPageInTheDocumentation(t *testing.T) {
	want := map[string]string{}
	every(quiet(), func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() {
			want[documentName(cmd)] = documentOf(cmd)
		}
	})
	if *update {
		if err := os.RemoveAll(commandPages); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(commandPages, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, page := range want {
			if err := os.WriteFile(filepath.Join(commandPages, name), []byte(page), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := os.ReadDir(commandPages)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range files {
		page, err := os.ReadFile(filepath.Join(commandPages, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = string(page)
	}
	if !maps.Equal(got, want) {
		t.Error("docs/command is stale; run go generate ./cmd/mcpotel")
	}
}

// documentName returns the file name of a command's page, such as task-wait.md.
func documentName(cmd *cobra.Command) string {
	return strings.TrimPrefix(pageName(cmd), "mcpotel-") + ".md"
}

// documentOf returns the page of a command in Markdown, with the content of its help.
func documentOf(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- Generated from the commands by `go generate ./cmd/mcpotel`. Do not edit. -->\n\n",
		cmd.CommandPath())
	fmt.Fprintf(&b, "%s.\n\n", prose(strings.ToUpper(cmd.Short[:1])+cmd.Short[1:]))
	fmt.Fprintf(&b, "```sh\n%s %s\n```\n", cmd.Parent().CommandPath(), cmd.Use)
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", prose(cmd.Long))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n## Commands\n\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "- [%s](%s): %s\n", c.CommandPath(), documentName(c), prose(c.Short))
			}
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", cmd.Example)
	}
	for _, group := range []struct{ key, title string }{
		{"", "Flags"}, {groupServer, "Server and connection"}, {groupShown, "Output"},
	} {
		var rows strings.Builder
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && strings.Join(f.Annotations[groupKey], "") == group.key {
				rows.WriteString(flagRow(f))
			}
		})
		if rows.Len() > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n| flag | |\n|---|---|\n%s", group.title, rows.String())
		}
	}
	b.WriteString("\nAll commands, and their exit codes: [the command](../command.md).\n")
	return b.String()
}

// flagRow returns the row of a flag in a table.
func flagRow(f *pflag.Flag) string {
	kind, about := pflag.UnquoteUsage(f)
	name := strings.TrimSpace("--" + f.Name + " " + kind)
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	switch f.DefValue {
	case "", "0", "0s", "[]", "false":
	default:
		about += " (default " + f.DefValue + ")"
	}
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	return fmt.Sprintf("| `%s` | %s |\n", cell.Replace(name), cell.Replace(prose(about)))
}

// prose escapes text that Markdown or the site would read as HTML.
func prose(text string) string { return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(text) }
