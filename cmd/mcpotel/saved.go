package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/internal/command/userfile"
	"github.com/mcpotel/mcpotel/mcpclient/config"
)

// saved is a server that this program or a host has saved.
type saved struct {
	host *host
	path string // path of the file
	name string
	raw  json.RawMessage
}

// full returns the unique name of the server: host:name.
func (s *saved) full() string { return s.host.id + ":" + s.name }

// read reads the server. lookup resolves ${VAR}; nil uses the environment of this process.
func (s *saved) read(lookup func(string) (string, bool)) (*config.Config, error) {
	file := object([]member{{name: "mcpServers", value: object([]member{{name: s.name, value: s.raw}})}})
	c, err := config.Parse(file, &config.Options{LookupEnv: lookup})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return c, nil
}

// whatever is a lookup for reading a server without its variables.
func whatever(string) (string, bool) { return "x", true }

// readAnyway reads the server with placeholders for its variables.
func (s *saved) readAnyway() (*config.Server, error) {
	c, err := s.read(whatever)
	if err != nil { // "x" is not a valid URL, so try again with a URL
		var again error
		if c, again = s.read(func(string) (string, bool) { return "http://x", true }); again != nil {
			return nil, err
		}
	}
	return c.Servers[0], nil
}

// object encodes a JSON object with these members.
func object(members []member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(m.name) // encoding a string cannot fail
		b = append(append(append(b, name...), ':'), m.value...)
	}
	return append(b, '}')
}

// find returns the index of a member, or -1.
func find(members []member, name string) int {
	return slices.IndexFunc(members, func(m member) bool { return m.name == name })
}

// allSaved returns the servers of all existing files, this program's first, and the problems with files.
func allSaved() (all []*saved, problems []error) {
	for i := range hosts {
		h := &hosts[i]
		path, err := h.file()
		if err != nil {
			continue // the user has no such directory
		}
		servers, err := savedIn(h, path)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", path, err))
		}
		all = append(all, servers...)
	}
	return all, problems
}

// savedIn returns the servers of one file; none if the file does not exist.
func savedIn(h *host, path string) (all []*saved, _ error) {
	raw, _, err := userfile.Read(path, userfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	top, err := membersOf(plain(raw))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"mcpServers", "servers"} {
		if i := find(top, name); i >= 0 {
			servers, err := membersOf(top[i].value)
			for _, m := range servers {
				all = append(all, &saved{h, path, m.name, usual(m.value)})
			}
			return all, err
		}
	}
	return nil, nil
}

// usual converts the members that only some hosts use to the usual ones: serverUrl, and httpUrl for streamable HTTP.
func usual(raw json.RawMessage) json.RawMessage {
	members, err := membersOf(raw)
	if err != nil || find(members, "url") >= 0 {
		return raw
	}
	if i := find(members, "serverUrl"); i >= 0 {
		members[i].name = "url"
	} else if i := find(members, "httpUrl"); i >= 0 {
		members[i].name = "url"
		members = append(members, member{name: "type", value: json.RawMessage(`"http"`)})
	}
	return object(members)
}

// named returns the saved server with this name: this program's own server, or else the only server of a host.
// HOST:NAME selects the server of a host.
func named(name string) (*saved, error) {
	all, problems := allSaved()
	var found []*saved
	var names []string
	for _, s := range all {
		switch {
		case s.full() == name, s.name == name && s.host.id == ours:
			return s, nil
		case s.name == name:
			found = append(found, s)
		}
		names = append(names, s.name)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		slices.Sort(names)
		return nil, misuse(`no saved server %q%s; "mcpotel list" has them, "mcpotel add" saves one%s`, name,
			typing.Hint(name, slices.Compact(names)), problemText(problems))
	}
	var full []string
	for _, s := range found {
		full = append(full, s.full())
	}
	return nil, misuse("%q is the name of several servers; want one of %s", name, strings.Join(full, ", "))
}

func problemText(problems []error) string {
	if len(problems) == 0 {
		return ""
	}
	return "\n" + errors.Join(problems...).Error()
}

// editOwn changes the servers in this program's own file. Only its user can read the file, because it may hold secrets.
func editOwn(edit func(servers []member) ([]member, error)) (path string, _ error) {
	path, err := hosts[0].file()
	if err != nil {
		return "", misuse("no directory to save servers in: %w", err)
	}
	err = userfile.Change(path, 0o600, func(now []byte) ([]byte, error) { return edited(now, edit) })
	if _, own := errors.AsType[*exitError](err); err != nil && !own {
		err = misuse("%s: %w", path, err)
	}
	return path, err
}

// edited returns the text of a file with changed servers. Empty text means that there is no file.
func edited(text []byte, edit func(servers []member) ([]member, error)) ([]byte, error) {
	top := []member{}
	if text != nil {
		var err error
		if top, err = membersOf(text); err != nil {
			return nil, err
		}
	}
	i := find(top, "mcpServers")
	if i < 0 {
		i = len(top)
		top = append(top, member{name: "mcpServers", value: json.RawMessage("{}")})
	}
	servers, err := membersOf(top[i].value)
	if err != nil {
		return nil, fmt.Errorf("mcpServers: %w", err)
	}
	if servers, err = edit(servers); err != nil {
		return nil, err
	}
	top[i].value = object(servers)
	var b bytes.Buffer
	if err := json.Indent(&b, object(top), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// way returns how a server is reached, without possible secrets: arguments, headers, variables and queries.
func way(s *config.Server) string {
	if s.Disabled {
		return "disabled"
	}
	if s.Type == config.TypeStdio {
		return s.Command
	}
	u, err := bare(s.URL)
	if err != nil {
		return string(s.Type)
	}
	return u
}

// bare removes possible secrets from a URL.
func bare(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String(), nil
}
