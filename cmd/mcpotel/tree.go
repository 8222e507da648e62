package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/typing"
)

func init() { cobra.EnableCommandSorting = false } // help lists the most useful commands first

// newTree returns the tree of commands, which runs the program and provides help and completions. Each run needs its
// own tree, because parsing changes the flags of the tree.
func newTree(s streams) *cobra.Command {
	var wantsVersion bool
	root := &cobra.Command{
		Use:   "mcpotel",
		Short: "use MCP servers from the shell, and see the trace of each call",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case wantsVersion:
				return printVersion(s.out)
			case len(args) == 0 || cmd.ArgsLenAtDash() == 0:
				_ = printText(s.err, rootHelp(cmd))
				return &exitError{code: exitUsage}
			}
			return unknownCommand(cmd, args[0])
		},
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Flags().BoolVar(&wantsVersion, "version", false, "print the version")
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetHelpCommand(newHelp(s))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = printText(s.out, helpOf(cmd)) })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err, "") })
	root.AddCommand(
		newDemo(s), newTools(s), newDescribe(s), newCost(s), newCheck(s), newCall(s), newTask(s), newResources(s),
		newRead(s), newPrompts(s), newPrompt(s),
		newComplete(s), newWatch(s), newPing(s), newDoctor(s), newProbe(s), newMCP(s), newExplain(s), newProxy(s), newWrap(s),
		newUnwrap(s), newMock(s), newReplay(s), newDiff(s), newTail(s), newAudit(s), newGameDay(s),
		newAdd(s), newList(s), newRemove(s), newInstall(s), newView(s), newInspect(s), newShell(s),
		newServeDemo(s), newCompletion(s),
		newMan(s), newVersion(s),
	)
	root.InitDefaultHelpCmd()
	knowFlags(root)
	return root
}

// flagError returns the error for a flag that cannot be parsed. hint is a further hint, or empty.
func flagError(cmd *cobra.Command, err error, hint string) error {
	return misuse(`%w%s%s; "mcpotel help%s" lists the flags`, err, flagHint(cmd, err), hint,
		strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()))
}

// flagHint suggests a similar flag for an unknown flag, or the unit for a duration without a unit. It returns an empty
// text without a suggestion.
func flagHint(cmd *cobra.Command, err error) string {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		return typing.Hint("--"+unknown.GetSpecifiedName(), known)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && invalid.GetFlag().Value.Type() == "duration" {
		if _, bare := strconv.ParseFloat(invalid.GetValue(), 64); bare == nil {
			return " (did you mean " + invalid.GetValue() + "s?)"
		}
	}
	return ""
}

// knowFlags makes a command accept the flags of its subcommands, so that flags may precede the name of the subcommand:
// "mcpotel --json tools".
func knowFlags(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		knowFlags(cmd)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if parent.Flags().Lookup(f.Name) == nil {
				known := *f
				known.Hidden = true
				parent.Flags().AddFlag(&known)
			}
		})
	}
}

// unknownCommand returns the error for a name that is not a subcommand of parent.
func unknownCommand(parent *cobra.Command, name string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return misuse(`unknown command %q%s; "mcpotel help" lists the commands`, name, typing.Hint(name, names))
}

// refuseArguments returns an error for any argument. Commands that have only flags use it.
func refuseArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misuse("unexpected argument %q", args[0])
	}
	return nil
}
