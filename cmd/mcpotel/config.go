package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/config"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// configured are the servers of a file, as the flags have it.
type configured struct {
	path, only string
}

func (c *configured) flags(f *pflag.FlagSet) {
	f.StringVar(&c.path, "config", "", "use the servers of this `FILE`, in its mcpServers")
	f.StringVar(&c.only, "server", "", "use only the server of this `NAME`, of those of --config")
}

// members reads the file and returns the servers to use. free is for when they have been stopped.
func (c *connection) members(o *observation) (_ []mcpclient.Member, free func(), _ error) {
	file, err := config.Load(c.file.path, nil)
	if err != nil {
		return nil, nil, misuse("%w", err)
	}
	for _, w := range file.Warnings {
		c.console.say("%s: %v", c.file.path, w)
	}
	enabled := file.Members(nil)
	members := slices.DeleteFunc(slices.Clone(enabled), func(m mcpclient.Member) bool {
		return c.file.only != "" && m.Name != c.file.only
	})
	if len(members) == 0 {
		return nil, nil, misuse("%s: no such server; there is: %s", c.file.path, memberNames(enabled))
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

// equip gives a member the options of this command, and what authorizes.
func (c *connection) equip(o *observation, m *mcpclient.Member) (free func(), _ error) {
	options, err := c.options(o, m.Name)
	if err != nil {
		return nil, err
	}
	if said := m.Options; said != nil {
		options.Name = said.Name
		if said.RequestTimeout != 0 && !c.timed {
			options.RequestTimeout = said.RequestTimeout
			c.longest = max(c.longest, said.RequestTimeout)
		}
	}
	m.Options = options
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
