package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// lineVariable is the environment variable for the whole line to complete, because the words that select the server may
// follow the cursor.
const lineVariable = "MCPOTEL_COMPLETE_LINE"

// shell is a shell that has completions.
type shell struct {
	name string
	load string // command that loads the completions
	// script writes the completion script for root
	script func(root *cobra.Command, w *bytes.Buffer) error
	// patches has pairs of a text in the script and its replacement, which sets lineVariable
	patches []string
}

var shells = []shell{
	{
		"bash", "source <(mcpotel completion bash)   # needs bash-completion",
		func(root *cobra.Command, w *bytes.Buffer) error { return root.GenBashCompletionV2(w, true) },
		[]string{
			`    words=("${words[@]:0:$cword+1}")`, "    local line=\"${words[*]}\"\n" + `    words=("${words[@]:0:$cword+1}")`,
			`out=$(eval `, `out=$(export ` + lineVariable + `="${line}"; eval `,
		},
	},
	{
		"zsh", "source <(mcpotel completion zsh)   # after compinit",
		func(root *cobra.Command, w *bytes.Buffer) error { return root.GenZshCompletion(w) },
		[]string{
			`    words=("${=words[1,CURRENT]}")`, "    local line=\"${words[*]}\"\n" + `    words=("${=words[1,CURRENT]}")`,
			`out=$(eval `, `out=$(export ` + lineVariable + `="${line}"; eval `,
		},
	},
	{
		"fish", "mcpotel completion fish | source",
		func(root *cobra.Command, w *bytes.Buffer) error { return root.GenFishCompletion(w, true) },
		[]string{
			"    set -l results (eval", "    set -lx " + lineVariable + " (commandline -p)\n    set -l results (eval",
		},
	},
	{
		"powershell", "mcpotel completion powershell | Out-String | Invoke-Expression",
		func(root *cobra.Command, w *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(w) },
		nil,
	},
}

func newCompletion(s streams) *cobra.Command {
	var names, loads []string
	for _, sh := range shells {
		names = append(names, sh.name)
		loads = append(loads, fmt.Sprintf("%-10s  %s", sh.name, sh.load))
	}
	return &cobra.Command{
		Use: "completion (" + strings.Join(names, " | ") + ")", Short: "write a shell's completion script for mcpotel",
		Long: "The script also completes names of tools, prompts, resources and servers: it asks the server on the " +
			"line,\nwhich has three seconds to answer, or the duration in " + patienceVariable + ", such as 10s. To load\n" +
			"the completions, run this in the shell or add it to the shell's start file:\n\n  " +
			strings.Join(loads, "\n  "),
		Example:   "mcpotel completion bash >~/.local/share/bash-completion/completions/mcpotel",
		ValidArgs: names,
		Args:      cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("completion: want one of %s", strings.Join(names, ", "))
			}
			for _, sh := range shells {
				if sh.name == args[0] {
					script, err := sh.write(cmd.Root())
					if err != nil {
						return err
					}
					return printBytes(s.out, script)
				}
			}
			return misuse("completion: %q is not one of %s", args[0], strings.Join(names, ", "))
		},
	}
}

// write returns the script with its patches.
func (sh *shell) write(root *cobra.Command) ([]byte, error) {
	var b bytes.Buffer
	if err := sh.script(root, &b); err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer(sh.patches...).Replace(b.String())), nil
}
