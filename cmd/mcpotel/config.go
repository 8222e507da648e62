package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/config"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// configured holds the flags that select servers from a file.
type configured struct {
	path, only string
}

func (c *configured) flags(f *pflag.FlagSet) {
	f.StringVar(&c.path, "config", "", "use the servers in the mcpServers of this `FILE`")
	f.StringVar(&c.only, "server", "", "use the server of this `NAME`: a server of --config or, without --config, one "+
		"of \"mcpotel list\"")
}

// saved reports whether the flags name a saved server.
func (c *configured) saved() bool { return c.path == "" && c.only != "" }

// read returns the selected servers of the file, or the saved server.
func (c *connection) read() (found []mcpclient.Member, _ error) {
	if c.file.saved() {
		s, err := named(c.file.only)
		if err != nil {
			return nil, err
		}
		file, err := s.Read(nil)
		if err != nil {
			return nil, misuse("%w", err)
		}
		if found = file.Members(nil); len(found) == 0 {
			return nil, misuse("%s is disabled, in %s", s.Full(), s.Path)
		}
		return found, nil
	}
	file, err := config.Load(c.file.path, nil)
	if err != nil {
		return nil, misuse("%w", err)
	}
	for _, w := range file.Warnings {
		c.console.say("%s: %v", c.file.path, w)
	}
	enabled := file.Members(nil)
	found = slices.DeleteFunc(slices.Clone(enabled), func(m mcpclient.Member) bool {
		return c.file.only != "" && m.Name != c.file.only
	})
	if len(found) == 0 {
		return nil, misuse("%s: no such server; the servers are: %s", c.file.path, memberNames(enabled))
	}
	return found, nil
}

// members returns the servers to use. free releases their resources after they have stopped.
func (c *connection) members(o *observation) (members []mcpclient.Member, free func(), _ error) {
	members, err := c.read()
	if err != nil {
		return nil, nil, err
	}
	var frees []func()
	free = func() {
		for _, f := range frees {
			f()
		}
	}
	for i := range members {
		f, err := c.equip(o, &members[i])
		if err != nil {
			free()
			return nil, nil, err
		}
		frees = append(frees, f)
	}
	return members, free, nil
}

// equip sets the options of this command and the authorizer on a member.
func (c *connection) equip(o *observation, m *mcpclient.Member) (free func(), _ error) {
	options, err := c.options(o, m.Name)
	if err != nil {
		return nil, err
	}
	if said := m.Options; said != nil {
		options.Name, options.NoListening = said.Name, said.NoListening
		if said.RequestTimeout != 0 && !c.timed {
			options.RequestTimeout = said.RequestTimeout
			c.longest = max(c.longest, said.RequestTimeout)
		}
	}
	m.Options, m.Transport = options, o.exporting(m.Transport)
	t, ok := m.Transport.(*transport.HTTP)
	if !ok || !c.remote.auth {
		return func() {}, nil
	}
	a, err := newAuthorizer(o, c.console, &c.remote, t.URL)
	if err != nil {
		return nil, err
	}
	t.Authorizer = a
	return func() { a.Close() }, nil
}

func memberNames(members []mcpclient.Member) string {
	var all []string
	for _, m := range members {
		all = append(all, m.Name)
	}
	return strings.Join(all, ", ")
}

// named returns the saved server with this name: the server that this program has saved, or else the only server with
// this name in the files of all hosts. HOST:NAME selects the server in the file of one host.
func named(name string) (*hostfile.Saved, error) {
	all, problems := hostfile.All()
	var found []*hostfile.Saved
	var names []string
	for _, s := range all {
		switch {
		case s.Full() == name, s.Name == name && s.Host.ID == hostfile.Own:
			return s, nil
		case s.Name == name:
			found = append(found, s)
		}
		names = append(names, s.Name)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		slices.Sort(names)
		return nil, misuse(`no saved server %q%s; "mcpotel list" lists the saved servers, "mcpotel add" saves one%s`, name,
			typing.Hint(name, slices.Compact(names)), problemText(problems))
	}
	var full []string
	for _, s := range found {
		full = append(full, s.Full())
	}
	return nil, misuse("%q is the name of several servers; want one of %s", name, strings.Join(full, ", "))
}

func problemText(problems []error) string {
	if len(problems) == 0 {
		return ""
	}
	return "\n" + errors.Join(problems...).Error()
}
