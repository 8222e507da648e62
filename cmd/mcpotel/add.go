package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
)

// addition is one run of the command "add".
type addition struct {
	url, dir     string
	headers, env []string // as given; they may hold secrets, so no message quotes them
	replace      bool
}

func newAdd(s streams) *cobra.Command {
	var a addition
	cmd := &cobra.Command{
		Use: "add [flags] NAME [-- COMMAND [ARG...]]", Short: "save a server under a name, for --server NAME",
		Long: "The server is saved in the user's configuration directory, in the mcpServers format, in a file that only\n" +
			"the user can read. ${VAR} is replaced by the environment variable VAR each time the server is used.",
		Example: "mcpotel add everything -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel add github --url https://api.githubcopilot.com/mcp/ --header 'Authorization=Bearer ${GITHUB_TOKEN}'\n" +
			"mcpotel tools --server everything",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var command []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, command = args[:dash], args[dash:]
			}
			switch len(args) {
			case 0:
				return misuse("the name of the server is missing")
			case 1:
				return a.run(s, args[0], command)
			}
			if len(a.headers)+len(a.env) > 0 {
				return misuse("unexpected argument; quote a header or a variable if its value has spaces")
			}
			return misuse("unexpected argument %q; write the command of the server after --", args[1])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.SortFlags = false
	a.flags(f)
	f.BoolVar(&a.replace, "replace", false, "replace the server that is saved under this name")
	return cmd
}

// flags adds the flags that describe a server.
func (a *addition) flags(f *pflag.FlagSet) {
	several := func(to *[]string, name, usage string) {
		f.Func(name, usage, func(value string) error {
			*to = append(*to, value)
			return nil
		})
	}
	f.StringVar(&a.url, "url", "", "the `URL` of the server")
	several(&a.headers, "header", "add this header, `NAME=VALUE`, to every HTTP request; may be repeated")
	several(&a.env, "env", "set this environment variable, `NAME=VALUE`, for the command; may be repeated")
	f.StringVar(&a.dir, "cwd", "", "start the command in this `DIRECTORY`")
}

// allowedName matches the names of saved servers. The pattern excludes colons, because HOST:NAME selects a server of a
// host, and leading dashes, because a dash begins a flag.
var allowedName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func checkName(name string) error {
	if !allowedName.MatchString(name) {
		return misuse("%q is not a valid name: want at most 64 letters, digits, dots, dashes and underscores, the first "+
			"a letter or a digit", name)
	}
	return nil
}

func (a *addition) run(s streams, name string, command []string) error {
	if err := checkName(name); err != nil {
		return err
	}
	server, err := a.server(command)
	if err != nil {
		return err
	}
	c, err := hostfile.Check(name, server)
	if err != nil {
		return misuse("%w", err)
	}
	path, err := hostfile.Save(name, server, a.replace)
	switch {
	case errors.Is(err, hostfile.ErrSaved):
		return misuse("server %q already exists; --replace replaces it", name)
	case err != nil:
		return misuse("%w", err)
	}
	if err := printLine(s.out, fmt.Sprintf("saved %s (%s) in %s", name, hostfile.Way(c), path)); err != nil {
		return err
	}
	all, _ := hostfile.All()
	for _, other := range all {
		if other.Name == name && other.Host.ID != hostfile.Own {
			newConsole(s).say("%s has a server with the same name; use %s for that server from now on", other.Host.Title,
				other.Full())
		}
	}
	return nil
}

// server returns the JSON of the server, in the mcpServers format.
func (a *addition) server(command []string) (json.RawMessage, error) {
	server := struct {
		Command string            `json:"command,omitzero"`
		Args    []string          `json:"args,omitzero"`
		Env     map[string]string `json:"env,omitzero"`
		Dir     string            `json:"cwd,omitzero"`
		URL     string            `json:"url,omitzero"`
		Headers map[string]string `json:"headers,omitzero"`
	}{URL: a.url}
	switch {
	case (a.url == "") == (len(command) == 0):
		return nil, misuse("no server: give either --url URL or -- COMMAND [ARG...]")
	case a.url == "" && len(a.headers) > 0:
		return nil, misuse("--header is for a server with --url")
	case a.url != "" && (len(a.env) > 0 || a.dir != ""):
		return nil, misuse("--env and --cwd are for a server with a command")
	}
	var err error
	if server.Headers, err = pairs("header", a.headers); err != nil {
		return nil, err
	}
	if server.Env, err = pairs("variable", a.env); err != nil {
		return nil, err
	}
	if len(command) > 0 {
		server.Command, server.Args = command[0], command[1:]
		if strings.ContainsRune(server.Command, filepath.Separator) {
			if server.Command, err = filepath.Abs(server.Command); err != nil {
				return nil, misuse("%w", err)
			}
		}
	}
	if a.dir != "" {
		if server.Dir, err = filepath.Abs(a.dir); err != nil {
			return nil, misuse("%w", err)
		}
	}
	return json.Marshal(server)
}

// pairs parses NAME=VALUE arguments. An error names only the position of the argument, because the argument may hold a
// secret.
func pairs(what string, given []string) (map[string]string, error) {
	var all map[string]string
	for i, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if _, twice := all[name]; twice || !ok || name == "" {
			return nil, misuse("%s %d is not of the form NAME=VALUE, each name once", what, i+1)
		}
		if all == nil {
			all = map[string]string{}
		}
		all[name] = value
	}
	return all, nil
}

func newRemove(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "remove a saved server",
		Example: "mcpotel remove everything",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("remove: want the name of one server")
			}
			return remove(s, strings.TrimPrefix(args[0], hostfile.Own+":"))
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) (found []string, _ cobra.ShellCompDirective) {
			all, _ := hostfile.All()
			for _, one := range all {
				if one.Host.ID == hostfile.Own {
					found = append(found, completable(one.Name, "")...)
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// remove removes a server from the file of this program.
func remove(s streams, name string) error {
	path, err := hostfile.Remove(name)
	switch {
	case errors.Is(err, hostfile.ErrNotSaved):
		return notSaved(name)
	case err != nil:
		return misuse("%w", err)
	}
	return printLine(s.out, fmt.Sprintf("removed %s from %s", name, path))
}

// notSaved returns the error for the name of a server that is not in the file of this program.
func notSaved(name string) error {
	all, _ := hostfile.All()
	for _, other := range all {
		if other.Name == name || other.Full() == name {
			return misuse("%q is a server of %s: remove it there, in %s", name, other.Host.Title, other.Path)
		}
	}
	return misuse(`no saved server %q; "mcpotel list" lists the saved servers`, name)
}
