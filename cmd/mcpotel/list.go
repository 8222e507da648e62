package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
	"github.com/mcpotel/mcpotel/internal/visible"
)

func newList(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list [--json]", Short: "list the servers that mcpotel and well-known hosts have saved",
		Long: "If several servers have the same name, the name means the server that mcpotel saved, and HOST:NAME means\n" +
			"the server of a host.\n" +
			"Arguments, variables and headers are not shown: they may be secrets.",
		Example:           "mcpotel list\nmcpotel ping --server cursor:github",
		Args:              refuseArguments,
		RunE:              func(*cobra.Command, []string) error { return listSaved(s, asJSON) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON, for programs")
	return cmd
}

// entry is a saved server in a list.
type entry struct {
	Name     string `json:"name"`
	FullName string `json:"fullName"`
	Host     string `json:"host"`
	Path     string `json:"path"`
	Type     string `json:"type,omitzero"`
	Way      string `json:"server,omitzero"` // the command or the URL
	Disabled bool   `json:"disabled,omitzero"`
	Problem  string `json:"problem,omitzero"`
}

func listSaved(s streams, asJSON bool) error {
	all, problems := hostfile.All()
	entries := []entry{}
	for _, one := range all {
		e := entry{Name: one.Name, FullName: one.Full(), Host: one.Host.Title, Path: one.Path}
		if c, err := one.ReadAnyway(); err != nil {
			e.Problem = err.Error()
		} else {
			e.Type, e.Way, e.Disabled = string(c.Type), hostfile.Way(c), c.Disabled
		}
		entries = append(entries, e)
	}
	console := newConsole(s)
	for _, p := range problems {
		console.say("%v", p)
	}
	if asJSON {
		return printJSON(s.out, entries)
	}
	path := ""
	for _, e := range entries {
		if e.Path != path {
			path = e.Path
			if err := printLine(s.out, visible.Line(e.Host+": "+path)); err != nil {
				return err
			}
		}
		about := e.Way
		if e.Problem != "" {
			about = "cannot be used: " + e.Problem
		}
		if err := printLine(s.out, "    "+visible.Line(e.Name+"  "+about)); err != nil {
			return err
		}
	}
	if len(entries) == 0 {
		console.say(`no server is saved: "mcpotel help add" explains how to save one`)
	}
	return nil
}
