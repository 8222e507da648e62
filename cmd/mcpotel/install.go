package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
)

// installation is one run of the command "install".
type installation struct {
	addition
	config    string // path of the file; empty for the file of a host
	uninstall bool
	streams   streams
}

func newInstall(s streams) *cobra.Command {
	i := installation{streams: s}
	cmd := &cobra.Command{
		Use:   "install [flags] NAME (HOST | --config FILE) [-- COMMAND [ARG...]]",
		Short: "add a server to the configuration file of a host",
		Long: "The server is the command after --, or --url, or else the server that \"mcpotel add\" has saved under NAME. The\n" +
			"rest of the file stays the same, byte for byte, and a backup is kept beside the file. --uninstall removes the\n" +
			"server again.",
		Example: "mcpotel install everything cursor -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel install github vscode --url https://api.githubcopilot.com/mcp/\n" +
			"mcpotel install --uninstall everything cursor",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var command []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, command = args[:dash], args[dash:]
			}
			return i.run(args, command)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (found []string, _ cobra.ShellCompDirective) {
			for _, h := range hostfile.Hosts[1:] {
				if len(args) == 1 {
					found = append(found, cobra.CompletionWithDesc(h.ID, h.Title))
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	i.flags(f)
	f.StringVar(&i.config, "config", "", "change this `FILE`, with servers in its mcpServers")
	f.BoolVar(&i.uninstall, "uninstall", false, "remove the server from the file")
	return cmd
}

func (i *installation) run(args, command []string) error {
	want := 2
	if i.config != "" {
		want = 1
	}
	switch {
	case len(args) == 0:
		return misuse("the name of the server is missing")
	case len(args) < want:
		return misuse("no file: give a host, such as cursor, or --config FILE")
	case len(args) > want && len(i.headers)+len(i.env) > 0:
		return misuse("unexpected argument; quote a header or a variable if its value has spaces")
	case len(args) > want:
		return misuse("unexpected argument %q; write the command of the server after --", args[want])
	}
	name, h, path := args[0], &hostfile.Hosts[0], i.config
	var err error
	if path == "" {
		if h, err = hostOf(args[1]); err != nil {
			return err
		}
		if path, err = h.File(); err != nil {
			return misuse("%w", err)
		}
	}
	if i.uninstall {
		if len(command) > 0 || i.url != "" {
			return misuse("--uninstall needs only the name of the server")
		}
		return i.remove(h, path, name)
	}
	server, err := i.chosen(name, command)
	if err != nil {
		return err
	}
	if server, err = h.Form(server); err != nil {
		return misuse("%w", err)
	}
	backup, err := h.Install(path, name, server)
	switch {
	case errors.Is(err, hostfile.ErrInstalled):
		return misuse("%s has a server %q; --uninstall removes it", path, name)
	case err != nil:
		return misuse("%s: %w", path, err)
	}
	return i.report("added "+name+" to "+path, backup, h)
}

// chosen returns the JSON of the server to install.
func (i *installation) chosen(name string, command []string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if len(command) > 0 || i.url != "" {
		server, err := i.server(command)
		if err != nil {
			return nil, err
		}
		if _, err := hostfile.Check(name, server); err != nil {
			return nil, misuse("%w", err)
		}
		return server, nil
	}
	all, _ := hostfile.All()
	for _, s := range all {
		if s.Host.ID == hostfile.Own && s.Name == name {
			return s.JSON(), nil
		}
	}
	return nil, misuse("no server: give -- COMMAND [ARG...] or --url URL, or save %s with \"mcpotel add\" first", name)
}

func (i *installation) remove(h *hostfile.Host, path, name string) error {
	backup, err := h.Uninstall(path, name)
	switch {
	case errors.Is(err, hostfile.ErrNotSaved), errors.Is(err, os.ErrNotExist):
		return misuse("%s has no server %q", path, name)
	case err != nil:
		return misuse("%s: %w", path, err)
	}
	return i.report("removed "+name+" from "+path, backup, h)
}

func (i *installation) report(done, backup string, h *hostfile.Host) error {
	if backup != "" {
		done += "; the backup is " + backup
	}
	if i.config == "" {
		newConsole(i.streams).say("restart %s: it reads its file when it starts", h.Title)
	}
	return printLine(i.streams.out, done)
}
