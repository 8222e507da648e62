package main

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// servers are the servers that one run of a command uses.
type servers struct {
	group *mcpclient.Group // nil for one server; its name is not shown
	all   []*server
	wait  *waiting // shows the servers that are not connected yet
	close func()   // closes the connections and releases their resources
}

// server is one of the servers. It may not be connected yet.
type server struct {
	name   string // name for people; with several servers, the name in the file
	label  string // prefix of its output lines; empty for one server
	client *mcpclient.Client
	silent bool // the file disables listening for changes of this server
}

// open connects to the only server.
func (c *connection) open(ctx context.Context, o *observation) (_ *server, close func(), _ error) {
	if shell := sessionOf(ctx); shell != nil {
		if shell.servers.group != nil {
			return nil, nil, misuse("the shell has more than one server, and this command needs one: start a shell with --server")
		}
		return shell.servers.all[0], c.hearing(shell), nil
	}
	member, free, err := c.member(o)
	if err != nil {
		return nil, nil, err
	}
	w := c.console.waitFor(&member)
	if err := c.wrap(&member); err != nil {
		w.end()
		free()
		return nil, nil, err
	}
	var client *mcpclient.Client
	err = c.connecting(ctx, func(ctx context.Context) error {
		client, err = mcpclient.Connect(ctx, member.Transport, member.Options)
		return err
	})
	w.end()
	if err != nil {
		_ = c.record.close()
		free()
		return nil, nil, c.remote.hint(err)
	}
	return &server{name: member.Name, client: client, silent: member.Options.NoListening}, func() {
		client.Close()
		if err := c.record.close(); err != nil {
			c.console.say("%v", err)
		}
		free()
	}, nil
}

// wrap adds the faults of --chaos and the recording of --record to the only server.
func (c *connection) wrap(m *mcpclient.Member) error {
	if err := c.chaos.wrapAll(m); err != nil {
		return err
	}
	record, err := c.record.open(func(text string) { c.console.say("%s", text) })
	if record == nil || err != nil {
		return err
	}
	m.Transport, err = record.Transport(m.Transport)
	return err
}

// member returns the only server.
func (c *connection) member(o *observation) (_ mcpclient.Member, free func(), _ error) {
	if c.file.path == "" && c.file.only == "" {
		return c.given(o)
	}
	members, free, err := c.members(o)
	if err != nil {
		return mcpclient.Member{}, nil, err
	}
	if len(members) > 1 {
		free()
		return mcpclient.Member{}, nil, misuse("more than one server; select one with --server: %s", memberNames(members))
	}
	return members[0], free, nil
}

// given returns the server of --url or of the command after --.
func (c *connection) given(o *observation) (m mcpclient.Member, free func(), err error) {
	if c.remote.url != "" {
		m.Name = c.remote.url
		if u, err := url.Parse(c.remote.url); err == nil && u.Host != "" {
			m.Name = u.Host
		}
	} else {
		m.Name = shortened(strings.Join(append([]string{filepath.Base(c.server[0])}, c.server[1:]...), " "))
	}
	if m.Options, err = c.options(o, m.Name); err != nil {
		return m, nil, err
	}
	if c.remote.url != "" {
		m.Transport, free, err = c.remote.transport(o, c.console)
		return m, free, err
	}
	m.Transport = o.exporting(transport.Stdio{Command: c.server[0], Args: c.server[1:]})
	return m, func() {}, nil
}

// shortened limits the length of a name.
func shortened(name string) string {
	const enough = 60
	if r := []rune(name); len(r) > enough {
		return "…" + string(r[len(r)-enough:]) // the end of a path identifies it better
	}
	return name
}

// openAll starts connecting to all servers of the file, or connects to the only server.
func (c *connection) openAll(ctx context.Context, o *observation) (*servers, error) {
	if shell := sessionOf(ctx); shell != nil {
		return &servers{shell.servers.group, shell.servers.all, c.console.waitFor(), c.hearing(shell)}, nil
	}
	if c.file.path == "" || c.file.only != "" {
		one, close, err := c.open(ctx, o)
		if err != nil {
			return nil, err
		}
		return &servers{all: []*server{one}, wait: c.console.waitFor(), close: close}, nil
	}
	if c.record.path != "" {
		return nil, misuse("--record needs one server; select one with --server")
	}
	members, free, err := c.members(o)
	if err != nil {
		return nil, err
	}
	wait := c.console.waitFor(pointers(members)...)
	if err := c.chaos.wrapAll(pointers(members)...); err != nil {
		wait.end()
		free()
		return nil, err
	}
	for i := range members { // the command uses all servers at once, and ends soon
		members[i].Lazy, members[i].Idle = false, 0
	}
	g, err := mcpclient.NewGroup(members, nil)
	if err != nil {
		wait.end()
		free()
		return nil, misuse("%s: %w", c.file.path, err)
	}
	s := &servers{group: g, wait: wait, close: func() {
		wait.end()
		g.Close()
		free()
	}}
	for name, client := range g.Members() {
		silent := members[len(s.all)].Options.NoListening
		s.all = append(s.all, &server{name: name, label: name + ": ", client: client, silent: silent})
	}
	return s, nil
}

// each calls f for each server, one at a time, as soon as the server is connected. If a server fails, each continues
// with the next server.
func (c *connection) each(ctx context.Context, s *servers, f func(*server) error) error {
	var failed []error
	for _, one := range s.all {
		err := c.connecting(ctx, one.client.WaitForReady)
		s.wait.started(one.name)
		if err == nil {
			err = f(one)
		}
		switch {
		case err == nil, s.group != nil && errors.Is(err, mcpclient.ErrUnsupported):
		case s.group == nil:
			failed = append(failed, c.failed(err))
		default:
			failed = append(failed, c.failed(&mcpclient.MemberError{Member: one.name, Err: err}))
		}
	}
	return together(failed)
}

// pointers returns pointers to the members, so that the caller can change them.
func pointers(members []mcpclient.Member) (all []*mcpclient.Member) {
	for i := range members {
		all = append(all, &members[i])
	}
	return all
}

// together joins errors, and keeps the worst exit code.
func together(failed []error) error {
	switch len(failed) {
	case 0:
		return nil
	case 1:
		return failed[0]
	}
	code := exitOK
	for _, err := range failed {
		code = max(code, codeOf(err))
	}
	return &exitError{code, errors.Join(failed...)}
}
