package hostfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/mcpotel/mcpotel/internal/command/userfile"
	"github.com/mcpotel/mcpotel/mcpclient/config"
)

// Saved is a server that this program or a host has saved.
type Saved struct {
	Host *Host
	Path string // path of the file
	Name string
	raw  json.RawMessage
}

// Full returns the unique name of the server: host:name.
func (s *Saved) Full() string { return s.Host.ID + ":" + s.Name }

// JSON returns the server as it is saved.
func (s *Saved) JSON() json.RawMessage { return s.raw }

// Read reads the server. lookup resolves ${VAR}; nil uses the environment of this process.
func (s *Saved) Read(lookup func(string) (string, bool)) (*config.Config, error) {
	file := object([]member{{name: "mcpServers", value: object([]member{{name: s.Name, value: s.raw}})}})
	c, err := config.Parse(file, &config.Options{LookupEnv: lookup})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	return c, nil
}

// Placeholder is a lookup function for [Saved.Read] that resolves every variable to the text x.
func Placeholder(string) (string, bool) { return "x", true }

// ReadAnyway reads the server with placeholders for its variables.
func (s *Saved) ReadAnyway() (*config.Server, error) {
	c, err := s.Read(Placeholder)
	if err != nil { // "x" may be invalid as a URL: retry with a URL
		var again error
		if c, again = s.Read(func(string) (string, bool) { return "http://x", true }); again != nil {
			return nil, err
		}
	}
	return c.Servers[0], nil
}

// All returns the servers of all existing files, this program's first, and the problems with files.
func All() (all []*Saved, problems []error) {
	for i := range Hosts {
		h := &Hosts[i]
		path, err := h.File()
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
func savedIn(h *Host, path string) (all []*Saved, _ error) {
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
				all = append(all, &Saved{h, path, m.name, usual(m.value)})
			}
			return all, err
		}
	}
	return nil, nil
}

// usual renames a member that only some hosts use to url: serverUrl, or httpUrl, which stands for Streamable HTTP.
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

// Errors of Save and Remove.
var (
	ErrSaved    = errors.New("a server is saved under this name")
	ErrNotSaved = errors.New("no server is saved under this name")
)

// Check parses and validates the JSON of a server before it is saved.
func Check(name string, server json.RawMessage) (*config.Server, error) {
	return (&Saved{&Hosts[0], "the server", name, server}).ReadAnyway()
}

// Save saves a server, as JSON, in this program's own file. If the name is in use, Save replaces the server or, without
// replace, returns [ErrSaved].
func Save(name string, server json.RawMessage, replace bool) (path string, _ error) {
	return editOwn(func(servers []member) ([]member, error) {
		if i := find(servers, name); i >= 0 {
			if !replace {
				return nil, ErrSaved
			}
			servers[i].value = server
			return servers, nil
		}
		return append(servers, member{name: name, value: server}), nil
	})
}

// Remove removes a server from this program's own file. It fails with [ErrNotSaved] if there is no such server.
func Remove(name string) (path string, _ error) {
	return editOwn(func(servers []member) ([]member, error) {
		i := find(servers, name)
		if i < 0 {
			return nil, ErrNotSaved
		}
		return append(servers[:i:i], servers[i+1:]...), nil
	})
}

// editOwn changes the servers in this program's own file. Only the user can read the file, because it may hold secrets.
func editOwn(edit func(servers []member) ([]member, error)) (path string, _ error) {
	path, err := Hosts[0].File()
	if err != nil {
		return "", fmt.Errorf("no directory for saved servers: %w", err)
	}
	err = userfile.Change(path, 0o600, func(now []byte) ([]byte, error) { return edited(now, edit) })
	if err != nil {
		return path, fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

// edited returns the text of a file with changed servers. Nil text means that there is no file.
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

// Way returns the command or URL of a server, or "disabled". It omits possible secrets: arguments, headers, variables
// and queries.
func Way(s *config.Server) string {
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
